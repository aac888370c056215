"""Configuration files of the embedded Postgres."""

from collections.abc import Mapping
from pathlib import Path

from services.common.postgres.settings import DATABASE, Role

# A user's words reach Postgres as parameters and as values in rows, so nothing below FATAL is logged, and no statement,
# parameter, detail or context ever.
QUIET: Mapping[str, str] = {
    "debug_print_parse": "off",
    "debug_print_plan": "off",
    "debug_print_rewritten": "off",
    "log_autovacuum_min_duration": "-1",
    "log_connections": "",
    "log_disconnections": "off",
    "log_duration": "off",
    "log_error_verbosity": "terse",
    "log_lock_waits": "off",
    "log_min_duration_sample": "-1",
    "log_min_duration_statement": "-1",
    "log_min_error_statement": "panic",
    "log_min_messages": "fatal",
    "log_parameter_max_length": "0",
    "log_parameter_max_length_on_error": "0",
    "log_replication_commands": "off",
    "log_statement": "none",
    "log_statement_sample_rate": "0",
    "log_statement_stats": "off",
    "log_temp_files": "-1",
    "log_transaction_sample_rate": "0",
}
"""Settings under which the server's log can hold nothing that a user typed."""

_LOCAL: Mapping[str, str] = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "password_encryption": "scram-sha-256",
    "max_connections": "100",
    "shared_buffers": "256MB",
    "maintenance_work_mem": "256MB",
    # Parallel index builds put maintenance_work_mem into /dev/shm, which is 64 MB in a container.
    "max_parallel_maintenance_workers": "0",
    "effective_io_concurrency": "16",
    "random_page_cost": "1.1",
    "jit": "off",
    "huge_pages": "off",
    "log_destination": "stderr",
    "logging_collector": "off",
    "log_line_prefix": "%m [%p] ",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "lc_messages": "C",
    "default_text_search_config": "pg_catalog.english",
}

_FAST_AND_LOSING: Mapping[str, str] = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


def server_settings(base: Path, port: int, durable: bool, *, read_only: bool = False) -> str:
    """Return the text of `postgresql.conf` for the cluster in `base`; `read_only` has it refuse every write."""
    files = {"hba_file": str(base / "pg_hba.conf"), "ident_file": str(base / "pg_ident.conf")}
    settings = {**files, "port": str(port), **_LOCAL, **QUIET, **({} if durable else _FAST_AND_LOSING)}
    if read_only:
        settings["default_transaction_read_only"] = "on"
    lines = [f"{name} = '{_quoted(value)}'" for name, value in settings.items()]
    return "\n".join(["# Written at each start; edits are lost.", *lines, ""])


def host_rules(superuser: str) -> str:
    """Return the text of `pg_hba.conf`: the roles of Attest reach the database of Attest and no other."""
    roles = ",".join(role.value for role in Role)
    return f"host {DATABASE} {roles} 127.0.0.1/32 scram-sha-256\nhost all {superuser} 127.0.0.1/32 scram-sha-256\n"


def _quoted(value: str) -> str:
    return value.replace("\\", "\\\\").replace("'", "''")
