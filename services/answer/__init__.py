"""Answers questions from passages, each sentence cited and checked."""
