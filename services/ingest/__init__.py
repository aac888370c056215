"""Takes documents in: text, chunks, vectors, one transaction per document."""
