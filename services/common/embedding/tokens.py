"""The tokenizer of an embedding model, also without the model: to count is cheap, to load the model is not."""

from tokenizers import Tokenizer

from services.common.embedding.files import ModelFiles
from services.common.errors import FailedPreconditionError, Reason


class Tokens:
    """Counts tokens as the model does."""

    def __init__(self, files: ModelFiles) -> None:
        """Load the tokenizer; raise FailedPreconditionError when its file is absent, wrong or no tokenizer."""
        self._tokenizer = loaded(files.read_tokenizer(), files.name)

    def count(self, text: str) -> int:
        """Return the tokens of well-formed `text` without the model's special ones."""
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)


def loaded(content: bytes, name: str) -> Tokenizer:
    """Return the tokenizer of the model `name`: it cuts nothing, fills nothing, and takes marks in a text as text."""
    try:
        tokenizer = Tokenizer.from_buffer(content)
    except ValueError as error:
        raise not_a_model(name, "tokenizer.json") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True  # "[SEP]" in a document is text, not a separator
    return tokenizer


def not_a_model(name: str, file: str) -> FailedPreconditionError:
    """Make the error for a file that is there and not what it must be."""
    return FailedPreconditionError(
        Reason.MODEL_UNAVAILABLE,
        f"The embedding model {name} cannot be loaded: its {file} is not that of a sentence model.",
    )
