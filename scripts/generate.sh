#!/usr/bin/env bash
# Writes the Python stubs and the gateway's descriptor set into the folder given.
set -eu
cd "$(dirname "$0")/.."
out=$1
rm -rf "$out" && mkdir -p "$out/attest"
scripts/protoc.sh "--python_out=$out" "--pyi_out=$out" "--grpc_python_out=$out" --descriptor_set_out=/dev/null
# The transcoder turns error details into JSON only when it knows their types.
EXTRA_PROTOS="google/rpc/error_details.proto google/rpc/status.proto" \
  scripts/protoc.sh "--descriptor_set_out=$out/descriptor.binpb"
touch "$out/attest/py.typed"
