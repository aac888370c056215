"""The page of the database's schema, read from the catalogs of a freshly migrated database."""

from collections.abc import Iterable

import asyncpg

from services.common.postgres.connect import connection
from services.common.postgres.settings import DatabaseSettings, Role
from tests.database.servers import new_server

_HEAD = """\
# Schema

Read from a freshly migrated database by `make docs`; a test compares it with `migrations/`. `N` stands for the number
of an embedding space: its table is made by a function when the space is made, and is shown here for 3 dimensions.
What is said of tables, columns and functions are the comments that the database holds (`\\d+` of psql shows them).

Roles: `attest_owner` owns everything and runs migrations; `attest_writer` is ingest, `attest_reader` retrieval,
`attest_auth` auth. What is not granted below is not allowed.
"""

_EXAMPLE_SPACE = "SELECT attest.create_embedding_space(model => 'example', dimensions => 3)"

_RELATIONS = """
SELECT relation.oid, relation.relname, relation.relrowsecurity, relation.relforcerowsecurity,
       obj_description(relation.oid, 'pg_class') AS comment
  FROM pg_class relation
 WHERE relation.relnamespace = 'attest'::regnamespace AND relation.relkind IN ('r', 'p', 'v', 'm')
 ORDER BY relation.relname COLLATE "C"
"""

_COLUMNS = """
SELECT attname, format_type(atttypid, atttypmod) AS type, attnotnull,
       pg_get_expr(adbin, adrelid) AS default, attidentity::text, attgenerated::text,
       col_description(attrelid, attnum) AS comment
  FROM pg_attribute
  LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
 WHERE attrelid = $1 AND attnum > 0 AND NOT attisdropped
 ORDER BY attnum
"""

_CONSTRAINTS = """
SELECT conname, pg_get_constraintdef(oid) AS definition
  FROM pg_constraint WHERE conrelid = $1 AND contype <> 'n'
 ORDER BY conname COLLATE "C"
"""

_INDEXES = """
SELECT pg_get_indexdef(indexrelid) AS definition
  FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
 WHERE indrelid = $1 AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid AND conrelid = $1)
 ORDER BY relname COLLATE "C"
"""

_POLICIES = """
SELECT policyname, permissive, roles::text[] AS roles, cmd, qual, with_check
  FROM pg_policies WHERE schemaname = 'attest' AND tablename = $1
 ORDER BY policyname COLLATE "C"
"""

_TRIGGERS = """
SELECT pg_get_triggerdef(oid) AS definition
  FROM pg_trigger WHERE tgrelid = $1 AND NOT tgisinternal
 ORDER BY tgname COLLATE "C"
"""

_TABLE_GRANTS = """
SELECT COALESCE(grantee.rolname, 'PUBLIC') AS role,
       string_agg(held.privilege_type, ', ' ORDER BY held.privilege_type COLLATE "C") AS privileges
  FROM pg_class relation, aclexplode(relation.relacl) held LEFT JOIN pg_roles grantee ON grantee.oid = held.grantee
 WHERE relation.oid = $1 AND held.grantee <> relation.relowner
 GROUP BY 1 ORDER BY 1
"""

_COLUMN_GRANTS = """
SELECT COALESCE(grantee.rolname, 'PUBLIC') AS role,
       held.privilege_type || ' (' || string_agg(attname, ', ' ORDER BY attnum) || ')' AS privileges
  FROM pg_attribute, aclexplode(attacl) held LEFT JOIN pg_roles grantee ON grantee.oid = held.grantee
 WHERE attrelid = $1
 GROUP BY 1, held.privilege_type ORDER BY 1, held.privilege_type
"""

_FUNCTIONS = """
SELECT routine.proname, obj_description(routine.oid, 'pg_proc') AS comment,
       pg_get_function_arguments(routine.oid) AS arguments, pg_get_function_result(routine.oid) AS result,
       routine.prosecdef, routine.provolatile::text, language.lanname, routine.proconfig,
       COALESCE((SELECT array_agg(COALESCE(grantee.rolname, 'PUBLIC') ORDER BY grantee.rolname COLLATE "C")
                   FROM aclexplode(COALESCE(routine.proacl, acldefault('f', routine.proowner))) held
                   LEFT JOIN pg_roles grantee ON grantee.oid = held.grantee
                  WHERE held.grantee <> routine.proowner), '{}')::text[] AS callers
  FROM pg_proc routine JOIN pg_language language ON language.oid = routine.prolang
 WHERE routine.pronamespace IN ('attest'::regnamespace, 'public'::regnamespace)
 ORDER BY routine.proname COLLATE "C", pg_get_function_identity_arguments(routine.oid) COLLATE "C"
"""

_VOLATILITY = {"i": "immutable", "s": "stable", "v": "volatile"}


async def page_of_new_database() -> str:
    """Start a Postgres in a temporary folder, migrate it, and return its page in Markdown; takes some seconds."""
    async with new_server() as server, server.running():
        await server.migrate()
        return await page(server.role(Role.OWNER))


async def page(owner: DatabaseSettings) -> str:
    """Return the page of a database that was migrated and has no space yet; makes one."""
    async with connection(owner) as database:
        await database.execute(_EXAMPLE_SPACE)
        tables = [await _table(database, relation) for relation in await database.fetch(_RELATIONS)]
        functions = [_function(row) for row in await database.fetch(_FUNCTIONS)]
    text = "\n".join([_HEAD, "## Tables\n", *tables, "## Functions\n", *functions])
    return text.replace("embeddings_1", "embeddings_N")


async def _table(database: asyncpg.Connection, relation: asyncpg.Record) -> str:
    oid, name = relation["oid"], relation["relname"]
    parts = [
        f"{relation['comment'] or ''}\n",
        "| Column | Type | Null | Default | Meaning |\n|---|---|---|---|---|",
        *[_column(row) for row in await database.fetch(_COLUMNS, oid)],
        "",
        *_list("Constraint", [f"`{row[0]}`: `{row[1]}`" for row in await database.fetch(_CONSTRAINTS, oid)]),
        *_list("Index", [f"`{row[0]}`" for row in await database.fetch(_INDEXES, oid)]),
        *_list("Trigger", [f"`{row[0]}`" for row in await database.fetch(_TRIGGERS, oid)]),
        f"- Row-level security: {_row_security(relation)}",
        *_list("Policy", [_policy(row) for row in await database.fetch(_POLICIES, name)]),
        *_list("Granted", [f"`{row[0]}`: {row[1]}" for row in await database.fetch(_TABLE_GRANTS, oid)]),
        *_list("Granted", [f"`{row[0]}`: {row[1]}" for row in await database.fetch(_COLUMN_GRANTS, oid)]),
    ]
    return "\n".join([f"### `{name}`\n", *parts, ""])


def _list(label: str, items: Iterable[str]) -> list[str]:
    return [f"- {label} {item}" for item in items]


def _column(row: asyncpg.Record) -> str:
    default = row["default"] or ""
    if row["attidentity"]:
        default = "identity"
    elif row["attgenerated"]:
        default = f"generated: {default}"
    shown = f"`{default}`" if default else ""
    null = "no" if row["attnotnull"] else "yes"
    return f"| `{row['attname']}` | {row['type']} | {null} | {shown} | {row['comment'] or ''} |"


def _row_security(relation: asyncpg.Record) -> str:
    if not relation["relrowsecurity"]:
        return "off"
    return "on, for the owner too" if relation["relforcerowsecurity"] else "on, except for the owner"


def _policy(row: asyncpg.Record) -> str:
    conditions = [f"{name} `{row[key]}`" for name, key in (("using", "qual"), ("check", "with_check")) if row[key]]
    return f"`{row['policyname']}` for {row['cmd']} to {', '.join(row['roles'])}: {'; '.join(conditions)}"


def _function(row: asyncpg.Record) -> str:
    runs_as = "its owner" if row["prosecdef"] else "the caller"
    callers = ", ".join(f"`{caller}`" for caller in row["callers"]) or "the owner alone"
    settings = "; ".join(row["proconfig"] or [])
    return "\n".join(
        [
            f"### `{row['proname']}`\n",
            f"{row['comment'] or ''}\n",
            f"- Arguments: `{row['arguments']}`" if row["arguments"] else "- Arguments: none",
            f"- Returns: `{row['result']}`",
            f"- {row['lanname']}, {_VOLATILITY[row['provolatile']]}, runs as {runs_as}",
            *([f"- Settings: `{settings}`"] if settings else []),
            f"- Called by: {callers}",
            "",
        ]
    )
