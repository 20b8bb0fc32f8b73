"""Decided cases of this installation: read from JSON Lines, looked up by their number, searched by words."""
