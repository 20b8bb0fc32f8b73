"""Blocking work in processes that can be killed, and what processes share: locks and a clock."""
