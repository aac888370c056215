"""Waiting for the parts of a starting stack, and saying why one did not come."""

import asyncio
import contextlib
from collections.abc import Awaitable, Sequence

import httpx2

from services.cli.stack.keeper import how_it_ended
from services.cli.stack.part import Part

_POLL_SECONDS = 0.05


class StartError(Exception):
    """The stack cannot start; the message says which part, why, and what its log said last."""


async def all_alive(watched: Sequence[Part], waiting: Awaitable[None]) -> None:
    """Wait, unless one of the parts ends meanwhile: then raise StartError."""
    goal = asyncio.ensure_future(waiting)
    ends = {asyncio.ensure_future(part.wait()): part for part in watched}
    try:
        await asyncio.wait((goal, *ends), return_when=asyncio.FIRST_COMPLETED)
        for end, part in ends.items():
            if end.done():
                raise StartError(_death(part))
        await goal
    finally:
        for task in (goal, *ends):
            task.cancel()
        await asyncio.wait((goal, *ends))


async def gateway_ready(url: str) -> None:
    """Wait until Envoy finds every service healthy."""
    async with httpx2.AsyncClient(trust_env=False, timeout=2) as client:
        while True:
            with contextlib.suppress(httpx2.HTTPError):
                response = await client.get(f"{url}/readyz")
                if response.status_code == 200:
                    return
            await asyncio.sleep(_POLL_SECONDS)


def unready(watched: Sequence[Part], seconds: float) -> str:
    """Say that the stack was not ready in time, with what each part said last."""
    said = "\n".join(f"--- {part.spec.name}\n{part.last_lines(5)}" for part in watched)
    return f"The stack was not ready within {seconds:.0f} s. The last log lines:\n{said}"


def _death(part: Part) -> str:
    end = how_it_ended(part.exit_code)
    return f"{part.spec.name} {end} while starting. Its last log lines ({part.log}):\n{part.last_lines()}"
