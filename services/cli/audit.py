"""`attest audit`: proves that the library is whole."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import click
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from services.cli.calls import EPILOG
from services.cli.console import Exit, console, fail, print_json
from services.cli.hints import command
from services.cli.printable import one_line
from services.cli.stack.cluster import Cluster
from services.cli.stack.secrets import SecretsError, load
from services.cli.stack.settings import DataSettings
from services.cli.stack.state import is_running
from services.common.errors import DomainError
from services.common.postgres.audit import Audit, AuditError, Heard
from services.common.postgres.audit import audit as audit_database
from services.common.postgres.settings import DATABASE, DatabaseSettings
from services.common.settings import from_environment


@click.command(epilog=EPILOG.format(done="the library is whole"))
@click.option(
    "--dsn", envvar="ATTEST_AUDIT_DSN", help="DSN of a role that sees every tenant.  [default: the local stack's]"
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a machine.")
def audit(dsn: str | None, as_json: bool) -> None:
    """Look for anything in the library that is not whole.

    That is documents half there, left-overs of deleted ones, and passages that are not what their document says.
    It reads all of one moment and changes nothing; ingests may go on. Exits with 1 when something is found.
    """
    try:
        way = DatabaseSettings.from_dsn(dsn) if dsn else _local()
    except ValueError as error:
        fail(f"ATTEST_AUDIT_DSN: {error}", Exit.WRONG_CALL)
    try:
        with _bar() as heard:
            done = asyncio.run(audit_database(way, heard))
    except (AuditError, DomainError) as error:
        fail(str(error))
    if as_json:
        print_json(_described(done))
    else:
        _print(done)
    raise SystemExit(Exit.FAILED if done.findings else Exit.OK)


def _local() -> DatabaseSettings:
    settings = from_environment(DataSettings)
    if not is_running(settings.home):
        fail(f"no stack runs in {settings.home}; run `{command('up')}`, or name a database by --dsn.", Exit.NOT_RUNNING)
    try:
        secrets = load(settings.home)
    except (SecretsError, OSError):
        secrets = None
    if secrets is None:
        fail(f"the secrets in {settings.home} cannot be read; run as the account that started the stack.")
    return Cluster(settings.home, settings.pg_port, secrets).superuser.in_database(DATABASE)


@contextmanager
def _bar() -> Iterator[Heard]:
    out = console(stderr=True)
    columns = (TextColumn("Comparing passages"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as progress:
        task = progress.add_task("passages", total=None)
        yield lambda done, of: progress.update(task, completed=done, total=of)


def _described(done: Audit) -> dict[str, object]:
    findings = [
        {
            "what": finding.what,
            "count": finding.count,
            "examples": [{"tenant": tenant, "place": place} for tenant, place in finding.examples],
        }
        for finding in done.findings
    ]
    return {"whole": not done.findings, "documents": done.documents, "chunks": done.chunks, "findings": findings}


def _print(done: Audit) -> None:
    click.echo(f"{done.documents} documents, {done.chunks} chunks: {_verdict(done)}")
    for finding in done.findings:
        click.echo(f"{finding.count:>7}  {finding.what}")
        for tenant, place in finding.examples:
            click.echo(f"         {one_line(tenant)}  {one_line(place)}")


def _verdict(done: Audit) -> str:
    return "not whole." if done.findings else "whole, nothing left over, every passage quotes its document."
