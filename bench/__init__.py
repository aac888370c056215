"""Measurements of speed: each line beside its floor, in interleaved rounds."""
