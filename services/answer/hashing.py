"""The only form in which a question is remembered."""

import hashlib
import hmac
import unicodedata

MIN_SALT_BYTES = 16


class QuestionHasher:
    """Hashes questions with a secret salt, so that equal questions of a tenant can be counted and not read.

    Whoever holds the salt can test guesses.
    """

    def __init__(self, salt: bytes, version: str = "v1") -> None:
        """Take the salt, at least 16 bytes, and the version that the hash starts with; raise ValueError on less."""
        if len(salt) < MIN_SALT_BYTES:
            raise ValueError(f"expected a salt of at least {MIN_SALT_BYTES} bytes")
        self._salt = salt
        self._version = version

    def hash(self, tenant: str, question: str) -> str:
        """Return version, colon and 64 hex digits of HMAC-SHA256 over tenant and question, each length-prefixed."""
        mac = hmac.new(self._salt, digestmod=hashlib.sha256)
        for part in (tenant, unicodedata.normalize("NFC", question).strip()):
            data = part.encode()
            mac.update(len(data).to_bytes(8, "big") + data)
        return f"{self._version}:{mac.hexdigest()}"
