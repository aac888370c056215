"""What is measured, one module a line: ways by name, the floor first."""
