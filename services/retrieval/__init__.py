"""Finds passages; it can read and never write."""
