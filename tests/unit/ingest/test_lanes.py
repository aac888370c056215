from pathlib import Path

import pytest

from services.common.settings import SettingsError
from services.ingest.lanes import LanesError, lanes_of
from services.ingest.main import lanes_in
from services.ingest.model import Lane

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "lanes" / "lanes.toml"


def refusal(text: str, model_tokens: int = 254) -> str:
    with pytest.raises(LanesError) as caught:
        lanes_of(text, model_tokens)
    return str(caught.value)


def test_what_a_lane_leaves_out_is_as_in_the_default_lane() -> None:
    assert lanes_of("[lanes.hr]", 254) == [Lane("hr", "", 200, 30, True)]


def test_lanes_are_read_in_their_order() -> None:
    text = """
    [lanes.b]
    description = "Second letter"
    chunk_tokens = 100
    overlap_tokens = 0
    title_prefix = false
    [lanes.a]
    """

    assert lanes_of(text, 254) == [Lane("b", "Second letter", 100, 0, False), Lane("a", "", 200, 30, True)]


def test_the_example_fits_the_packaged_model() -> None:
    assert [lane.name for lane in lanes_of(EXAMPLE.read_text(encoding="utf-8"), 254)] == ["handbook", "faq", "manuals"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[lanes.hr", "is no TOML"),
        ("", "holds no table"),
        ("[lanes]", "holds no table"),
        ("lanes = 3", "holds no table"),
        ("[lane.hr]", "`lane` is not known"),
        ("[lanes.HR]", "lane 'HR': a name is"),
        ('[lanes."a b"]', "lane 'a b': a name is"),
        ("[lanes]\nhr = 3", "lane 'hr': it is no table"),
        ("[lanes.hr]\nchunks = 3", "`chunks` is not known; description, chunk_tokens"),
        ("[lanes.hr]\nchunk_tokens = 15\noverlap_tokens = 0", "`chunk_tokens` must be 16 to 254"),
        ("[lanes.hr]\nchunk_tokens = 255", "`chunk_tokens` must be 16 to 254"),
        ('[lanes.hr]\nchunk_tokens = "200"', "`chunk_tokens` must be a whole number"),
        ("[lanes.hr]\nchunk_tokens = true", "`chunk_tokens` must be a whole number"),
        ("[lanes.hr]\ntitle_prefix = 1", "`title_prefix` must be true or false"),
        ("[lanes.hr]\noverlap_tokens = 100", "`overlap_tokens` must be"),
        ("[lanes.hr]\noverlap_tokens = -1", "`overlap_tokens` must be"),
        ('[lanes.hr]\ndescription = "a\\u0000b"', "`description` is not one line"),
        (f'[lanes.hr]\ndescription = "{"a" * 1001}"', "`description` is not one line"),
    ],
)
def test_what_is_wrong_is_said(text: str, told: str) -> None:
    assert told in refusal(text)


def test_everything_that_is_wrong_is_said_at_once() -> None:
    told = refusal("[other]\n[lanes.A]\n[lanes.b]\nchunk_tokens = 1\noverlap_tokens = 9\n")

    assert all(part in told for part in ("`other`", "lane 'A'", "`chunk_tokens`", "`overlap_tokens`"))


def test_a_file_that_cannot_be_read_is_named_by_its_variable(tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes(b'[lanes.a]\ndescription = "\xe4"')
    for file in (tmp_path / "none", tmp_path, tmp_path / "latin"):
        with pytest.raises(SettingsError, match=r"^ATTEST_LANES_FILE cannot be read \(\w+\)$"):
            lanes_in(str(file), 254)
    assert lanes_in(None, 254) == []
