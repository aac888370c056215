"""Lanes of a file: the examples run as they are written, and a wrong file ends the start."""

from pathlib import Path

import httpx2
import pytest

from tests.stack.local_stack import LocalStack

pytestmark = pytest.mark.stack

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = "examples/lanes/lanes.toml"
TEXTS = {
    "handbook": "# Keys\n\nA lost key is reported to the front desk on the same day.\n",
    "faq": "# Printer\n\nThe printer on the second floor takes A3 paper.\n",
    "manuals": "# Kettle\n\nThe kettle is descaled with citric acid once a month.\n",
}


def lanes_of(stack: LocalStack) -> dict[str, dict[str, object]]:
    reply = httpx2.get(f"{stack.url}/api/lanes", timeout=10, trust_env=False).json()
    return {lane["name"]: lane for lane in reply["lanes"]}


def test_the_example_lanes_run_as_they_are_written_and_another_size_reads_documents_anew(
    own_stack: LocalStack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    stack = LocalStack(own_stack.home, own_stack.ports, {**own_stack.settings, "LANES_FILE": EXAMPLE})
    stack.up()

    lanes = lanes_of(stack)
    assert set(lanes) == {"default", *TEXTS}
    assert [lanes[name]["chunk_tokens"] for name in TEXTS] == [200, 96, 240]
    assert [lanes[name]["title_prefix"] for name in TEXTS] == [True, True, False]
    for lane, content in TEXTS.items():
        done = stack.post("/api/documents", {"lane": lane, "source_url": f"{lane}.md", "content": content})
        assert done.status == 200, done.body
    answer = stack.post("/api/answer", {"question": "How is the kettle descaled?", "lanes": ["manuals"]}).body
    assert answer["outcome"] == "ANSWERED"
    assert {source["source_url"] for source in answer["sources"]} == {"manuals.md"}
    stack.attest("down")

    file = tmp_path / "lanes.toml"
    file.write_text("[lanes.faq]\nchunk_tokens = 64\noverlap_tokens = 0\n")
    again = LocalStack(own_stack.home, own_stack.ports, {**own_stack.settings, "LANES_FILE": str(file)})
    again.up()
    requests = [{"lane": lane, "source_url": f"{lane}.md", "content": TEXTS[lane]} for lane in ("handbook", "faq")]
    outcomes = [again.post("/api/documents", request).body["outcome"] for request in requests]
    assert outcomes == ["UNCHANGED", "REPLACED"]


def test_a_file_that_is_wrong_ends_the_start(own_stack: LocalStack, tmp_path: Path) -> None:
    file = tmp_path / "lanes.toml"
    file.write_text("[lanes.faq]\nchunk_tokens = 900\n")
    stack = LocalStack(own_stack.home, own_stack.ports, {**own_stack.settings, "LANES_FILE": str(file)})

    done = stack.attest("up")

    assert done.returncode == 1
    assert "ATTEST_LANES_FILE: lane 'faq': `chunk_tokens` must be 16 to 254" in done.stderr
