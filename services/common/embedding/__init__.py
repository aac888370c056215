"""Texts to vectors, by an ONNX sentence model that runs in this process."""
