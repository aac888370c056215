"""Shares texts out to requests that keep the limits of an endpoint."""

from collections.abc import Iterator, Sequence

from services.common.embedding.openai_model import RequestLimits


def batches(tokens: Sequence[int], limits: RequestLimits) -> Iterator[list[int]]:
    """Yield the positions of `tokens` request by request, longest text first, so that each request holds its like.

    No request has more inputs or tokens than the limits; a text that is alone over `limits.tokens` goes alone.
    """
    batch: list[int] = []
    used = 0
    for position in sorted(range(len(tokens)), key=lambda position: -tokens[position]):
        if batch and (len(batch) == limits.inputs or used + tokens[position] > limits.tokens):
            yield batch
            batch, used = [], 0
        batch.append(position)
        used += tokens[position]
    if batch:
        yield batch
