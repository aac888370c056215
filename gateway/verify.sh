#!/usr/bin/env bash
# Proves each line of the gateway that checks.toml names, on a real Envoy in front of scripted services: one line of output
# for each check, exit code 1 if one fails. --broken breaks each line in a copy and sees its check fail; --only NAME.
set -eu
cd "$(dirname "$0")/.."
exec .venv/bin/python -m tests.gateway.verify "$@"
