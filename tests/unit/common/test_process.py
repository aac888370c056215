"""How a service's process begins."""

import subprocess
import sys

SAYS_ITS_LIMIT = """
import resource
from services.common.process import run

async def main() -> None:
    print(resource.getrlimit(resource.RLIMIT_CORE))

run(main)
"""


def test_a_service_leaves_no_core_wherever_it_runs() -> None:
    """A core holds whatever was being asked; where no supervisor of ours starts the service, it sees to that itself."""
    done = subprocess.run(
        [sys.executable, "-c", SAYS_ITS_LIMIT], capture_output=True, text=True, timeout=30, check=True
    )

    assert done.stdout.strip() == "(0, 0)"
