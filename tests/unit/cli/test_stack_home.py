"""A home says which Attest it belongs to, who is at work in it, and what it cannot do without."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from services.cli.stack import home as homes
from services.cli.stack.leftovers import LeftoversError, end_leftovers, holders, left, parts_lock
from services.cli.stack.secrets import SecretsError, adopt_keys, load, load_or_create
from services.cli.stack.state import Phase, StackState, read_state, write_state

SLEEPER = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"


def test_a_home_without_a_stamp_is_usable_and_gets_one(tmp_path: Path) -> None:
    homes.check_usable(tmp_path)
    homes.raise_stamp(tmp_path)
    stamp = homes.read_stamp(tmp_path)

    assert stamp is not None
    assert (stamp.format, stamp.attest) == (homes.FORMAT, homes.attest_version())


@pytest.mark.parametrize("newer", [{"format": homes.FORMAT + 1}, {"schema": "9999"}])
def test_a_home_of_a_newer_attest_is_refused(tmp_path: Path, newer: dict[str, object]) -> None:
    stamp = {"format": homes.FORMAT, "attest": "7.0.0", "schema": "0001", **newer}
    (tmp_path / "version.json").write_text(json.dumps(stamp))

    with pytest.raises(homes.HomeError, match=r"last used by Attest 7\.0\.0, which is newer"):
        homes.check_usable(tmp_path)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": "x"}', "\x00\xff"])
def test_a_damaged_stamp_is_written_anew(tmp_path: Path, text: str) -> None:
    (tmp_path / "version.json").write_text(text, encoding="latin-1")
    homes.check_usable(tmp_path)
    homes.raise_stamp(tmp_path)

    assert homes.read_stamp(tmp_path) is not None


def test_a_home_that_a_restore_left_half_full_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), homes.being_restored(tmp_path):
        _ = 1 // 0

    with pytest.raises(homes.HomeError, match="run `attest restore` again"):
        homes.check_usable(tmp_path)


def test_a_second_command_waits_its_turn_and_then_says_so(tmp_path: Path) -> None:
    with (
        homes.launch_lock(tmp_path, 0),
        pytest.raises(homes.HomeError, match="Another attest command"),
        homes.launch_lock(tmp_path, 0.2),
    ):
        pass


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"phase": "odd", "parts": {}}', '{"parts": 3}', "\x00\xff"])
def test_a_state_that_cannot_be_read_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "state.json").write_text(text, encoding="latin-1")

    assert read_state(tmp_path) is None


def test_a_state_comes_back_as_it_was_written(tmp_path: Path) -> None:
    state = StackState(Phase.READY, 7, 1.5, {}, warning="The disk is nearly full.", gateway="http://[::1]:1")
    write_state(tmp_path, state)

    assert read_state(tmp_path) == state


def test_a_process_that_inherited_the_lock_is_known_and_ended(tmp_path: Path) -> None:
    with parts_lock(tmp_path) as held:
        orphan = subprocess.Popen([sys.executable, "-c", SLEEPER], stdout=subprocess.PIPE, pass_fds=(held,))
        assert orphan.stdout is not None
        orphan.stdout.readline()
    with orphan:
        assert left(tmp_path)
        assert holders(tmp_path / "parts.lock") == [orphan.pid]
        with pytest.raises(LeftoversError, match=str(orphan.pid)), parts_lock(tmp_path):
            pass
        assert end_leftovers(tmp_path, 0.1)

    assert orphan.returncode == -9
    assert not end_leftovers(tmp_path, 0)


@pytest.mark.parametrize("text", ["", "{", '{"content_key": ', "[]", '{"content_key": 5}'])
def test_damaged_secrets_are_named_and_left_as_they_are(tmp_path: Path, text: str) -> None:
    (tmp_path / "secrets.json").write_text(text)

    with pytest.raises(SecretsError, match="damaged; restore it from a backup"):
        load_or_create(tmp_path)
    assert (tmp_path / "secrets.json").read_text() == text


def test_secrets_are_not_made_anew_for_data_that_is_bound_to_the_old_ones(tmp_path: Path) -> None:
    with pytest.raises(SecretsError, match="lacks superuser_password, question_salt, content_key"):
        load_or_create(tmp_path, has_data=True)


def test_adopted_keys_replace_the_homes_own_and_nothing_else(tmp_path: Path) -> None:
    before = load_or_create(tmp_path)
    after = adopt_keys(tmp_path, "aa" * 32, "bb" * 32)

    assert load(tmp_path) == after
    assert (after.question_salt, after.content_key) == ("aa" * 32, "bb" * 32)
    assert after.owner_password == before.owner_password
    assert (tmp_path / "secrets.json").stat().st_mode & 0o777 == 0o600
