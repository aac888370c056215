"""The yardstick: measures the running product, through its gRPC interface, on questions whose answers are known."""
