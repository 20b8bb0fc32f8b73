"""The daemon under load, beside a bare handler, and under trials: `python -m bench.daemon`."""
