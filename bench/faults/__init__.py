"""Attacks on the promise that every accepted ticket ends once, as its caller heard: `python -m bench.faults`."""
