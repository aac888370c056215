"""Counts tokens as the chosen model does, here or in another process that is told which model it is."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from services.common.embedding.files import ModelFiles
from services.common.embedding.tokens import Tokens, loaded

CL100K = "cl100k_base"
"""Tokenizer of OpenAI's embedding models."""


@dataclass(frozen=True, slots=True)
class HostedTokenizer:
    """How the tokens of a hosted model are counted."""

    source: str
    """`cl100k_base`, or the path of a `tokenizer.json`."""
    max_tokens: int
    """Longest text that the model takes, in tokens."""

    @property
    def files(self) -> ModelFiles:
        """The tokenizer as that of a model whose weights are elsewhere."""
        path = Path(self.source)
        return ModelFiles("of the endpoint", path.with_name("model.onnx"), path, self.max_tokens)


TokenizerSource: TypeAlias = ModelFiles | HostedTokenizer
"""What a counter is made of."""


class Counter(Protocol):
    """Counts tokens as a model does."""

    @property
    def max_tokens(self) -> int:
        """Most tokens that the model takes beside its special ones."""
        ...

    def count(self, text: str) -> int:
        """Return the tokens of `text` without the model's special ones."""
        ...

    def unknown_share(self, text: str) -> float:
        """Return the share of the text's signs, white space aside, that the model reads as an unknown word; 0 to 1."""
        ...


def chunk_counter(source: TokenizerSource) -> Counter:
    """Return what counts search text for the chunker, word by word where the tokenizer allows it."""
    if isinstance(source, ModelFiles):
        return Tokens(source)
    if source.source == CL100K:
        from services.common.embedding.cl100k import Cl100kWords  # tiktoken is loaded where it is used

        return Cl100kWords(source.max_tokens)
    return Tokens(source.files)


class WholeTokens:
    """Counts the tokens of a whole text exactly; safe to call from many threads."""

    def __init__(self, source: HostedTokenizer) -> None:
        """Load the tokenizer; raise FailedPreconditionError when its file is absent, wrong or no tokenizer."""
        self.special = 0
        """Tokens that the model adds to each text."""
        if source.source == CL100K:
            from services.common.embedding.cl100k import encoding  # as above

            self._encode: Any = encoding().encode_ordinary
            return
        tokenizer = loaded(source.files.read_tokenizer(), source.files.name)
        self._encode = lambda text: tokenizer.encode(text, add_special_tokens=False).ids
        self.special = tokenizer.num_special_tokens_to_add(is_pair=False)

    def count(self, text: str) -> int:
        """Return the tokens of `text` without the model's special ones."""
        return len(self._encode(text))


def as_json(source: TokenizerSource) -> dict[str, Any]:
    """Return what another process needs to count alike, in types that JSON knows."""
    return {name: str(value) if isinstance(value, Path) else value for name, value in asdict(source).items()}


def from_json(fields: dict[str, Any]) -> TokenizerSource:
    """Return what `as_json` was given."""
    if "source" in fields:
        return HostedTokenizer(**fields)
    digests = tuple(fields["sha256"]) if fields["sha256"] else None
    return ModelFiles(
        **{**fields, "onnx": Path(fields["onnx"]), "tokenizer": Path(fields["tokenizer"]), "sha256": digests}
    )
