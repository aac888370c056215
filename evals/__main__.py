"""The command of the evaluation: `python -m evals`, by way of `make eval`."""

from evals.command import main

main(prog_name="python -m evals")
