"""Embedding models side by side on the question sets, without a stack: the ground of docs/decisions/0001."""
