"""SCRAM verifiers, so that a role gets its password without the password ever being part of a statement."""

import base64
import hashlib
import hmac
import secrets

_ITERATIONS = 4096
"""What Postgres itself uses; the passwords are random, so more would only slow every connection."""


def verifier(password: str, salt: bytes | None = None) -> str:
    """Return what Postgres stores in `pg_authid.rolpassword` for an ASCII `password`."""
    salt = secrets.token_bytes(16) if salt is None else salt
    salted = hashlib.pbkdf2_hmac("sha256", password.encode("ascii"), salt, _ITERATIONS)
    client_key = hmac.digest(salted, b"Client Key", "sha256")
    server_key = hmac.digest(salted, b"Server Key", "sha256")
    stored_key = hashlib.sha256(client_key).digest()
    return f"SCRAM-SHA-256${_ITERATIONS}:{_text(salt)}${_text(stored_key)}:{_text(server_key)}"


def matches(password: str, stored: str | None) -> bool:
    """Tell whether `stored` is a verifier of `password` as `verifier` makes it."""
    try:
        salt = base64.b64decode((stored or "").split("$")[1].split(":")[1])
    except (IndexError, ValueError):
        return False
    return hmac.compare_digest(verifier(password, salt), stored or "")


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
