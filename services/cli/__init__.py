"""The `attest` command and the local stack that it runs."""
