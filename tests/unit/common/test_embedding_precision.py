"""Which arithmetic a processor gets."""

from pathlib import Path

import pytest

from services.common.embedding.precision import Choice, Precision, precision_for, processor_flags, sums_saturate
from services.common.embedding.settings import EmbeddingSettings, packaged_embedder
from services.common.settings import SettingsError, from_environment


@pytest.mark.parametrize("flag", ["avx2", "avx_vnni", "avx512_vnni"])
def test_auto_takes_integers_where_they_were_measured(flag: str) -> None:
    assert precision_for(Choice.AUTO, frozenset({"sse4_2", flag})) is Precision.INT8


def test_auto_stays_exact_on_a_processor_that_nobody_measured() -> None:
    assert precision_for(Choice.AUTO, frozenset({"asimd", "sse4_2"})) is Precision.EXACT


@pytest.mark.parametrize("precision", Precision)
def test_what_is_asked_for_by_name_is_taken_on_any_processor(precision: Precision) -> None:
    assert precision_for(Choice(precision.value), frozenset()) is precision


def test_the_services_take_the_precision_that_they_are_told() -> None:
    settings = from_environment(EmbeddingSettings, {"ATTEST_EMBEDDING_PRECISION": "exact"})

    assert packaged_embedder(settings, threads=1).precision is Precision.EXACT


def test_an_unknown_precision_ends_the_start() -> None:
    with pytest.raises(SettingsError, match="ATTEST_EMBEDDING_PRECISION is not one of auto, exact, int8"):
        from_environment(EmbeddingSettings, {"ATTEST_EMBEDDING_PRECISION": "float16"})


@pytest.mark.parametrize("flag", ["avx_vnni", "avx512_vnni"])
def test_a_processor_with_vnni_keeps_its_fastest_product(flag: str) -> None:
    assert not sums_saturate(frozenset({"avx2", flag}))


def test_a_processor_with_avx2_alone_needs_the_product_that_cannot_saturate() -> None:
    assert sums_saturate(frozenset({"avx2", "avx512f"}))


def test_flags_are_those_of_the_first_processor(tmp_path: Path) -> None:
    file = tmp_path / "cpuinfo"
    file.write_text("processor\t: 0\nflags\t\t: fpu avx2\nprocessor\t: 1\nflags\t\t: other\n")

    assert processor_flags(file) == {"fpu", "avx2"}


def test_a_system_that_does_not_tell_has_no_flags(tmp_path: Path) -> None:
    assert processor_flags(tmp_path / "absent") == frozenset()
