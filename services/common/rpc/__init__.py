"""Everything about gRPC that is the same for every service."""
