"""Drafts of answers and the checking of what they claim, for every family that argues from passages."""
