#!/usr/bin/env bash
# Runs protoc over every proto of ours; the arguments say what to write.
set -eu
cd "$(dirname "$0")/.."
python=.venv/bin/python
packages=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
mapfile -t protos < <(cd protos && find attest -name '*.proto' | sort)
exec "$python" -m grpc_tools.protoc -Iprotos "-I$packages" --include_imports "$@" "${protos[@]}" ${EXTRA_PROTOS:-}
