"""Logs stay within their bounds, and a part goes on writing into its own file."""

import errno
import os
import shutil
from pathlib import Path

import pytest

from services.cli.stack.part import tail_with_older
from services.cli.stack.rotation import LogLimits, rotate_all

LIMITS = LogLimits(most_bytes=100, generations=3)


def test_a_full_log_is_set_aside_and_its_writer_goes_on_at_the_beginning(tmp_path: Path) -> None:
    log = tmp_path / "answer.log"
    with log.open("ab", buffering=0) as writer:
        writer.write(b"a" * 100)
        rotate_all(tmp_path, LIMITS)
        writer.write(b"b\n")

    assert log.read_bytes() == b"b\n"
    assert (tmp_path / "answer.log.1").read_bytes() == b"a" * 100


def test_a_log_below_its_size_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "answer.log").write_bytes(b"a" * 99)
    rotate_all(tmp_path, LIMITS)

    assert [file.name for file in tmp_path.iterdir()] == ["answer.log"]


def test_only_the_newest_generations_are_kept(tmp_path: Path) -> None:
    for letter in b"abcd":
        (tmp_path / "answer.log").write_bytes(bytes([letter]) * 100)
        rotate_all(tmp_path, LIMITS)

    kept = {file.name: file.read_bytes()[:1] for file in tmp_path.iterdir()}
    assert kept == {"answer.log": b"", "answer.log.1": b"d", "answer.log.2": b"c"}


def test_one_generation_means_that_nothing_is_set_aside(tmp_path: Path) -> None:
    (tmp_path / "answer.log").write_bytes(b"a" * 100)
    rotate_all(tmp_path, LogLimits(100, 1))

    assert [(file.name, file.stat().st_size) for file in tmp_path.iterdir()] == [("answer.log", 0)]


def test_a_full_disk_does_not_keep_a_log_from_being_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(_source: Path, kept: Path) -> None:
        kept.write_bytes(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(shutil, "copyfile", no_room)
    (tmp_path / "answer.log").write_bytes(b"a" * 100)
    rotate_all(tmp_path, LIMITS)

    assert [(file.name, file.stat().st_size) for file in tmp_path.iterdir()] == [("answer.log", 0)]


def test_the_last_lines_reach_into_the_file_that_was_set_aside(tmp_path: Path) -> None:
    (tmp_path / "answer.log.1").write_text("one\ntwo\n")
    (tmp_path / "answer.log").write_text("three\n")

    assert tail_with_older(tmp_path / "answer.log", 2) == "two\nthree"
