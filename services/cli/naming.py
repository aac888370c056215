"""Which document a person means: by its id, or by its address where that is of one document."""

import re

from services.cli.api import Api, ApiError
from services.cli.hints import command

_ID = re.compile(r"[0-9a-f]{32}")


def document_id(api: Api, name: str) -> str:
    """Return the id of the document with this id or address; raise ApiError when there is none, or one in each lane."""
    if _ID.fullmatch(name):
        return name
    found = [document for document in api.documents(source_url_prefix=name) if document["source_url"] == name]
    if len(found) == 1:
        return str(found[0]["document_id"])
    if found:
        lanes = ", ".join(sorted(document["lane"] for document in found))
        message = f"Documents of this address are in several lanes ({lanes}); name the one you mean by its id."
        raise ApiError(400, "INVALID_ARGUMENT", "ADDRESS_AMBIGUOUS", message)
    message = f"There is no document with this id or address; {command('documents')} lists them."
    raise ApiError(404, "NOT_FOUND", "NOT_FOUND", message)
