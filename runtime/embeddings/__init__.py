"""Meaning beside words: texts become vectors, by the built-in sentence model or by another provider."""

import os

# Before numpy is loaded anywhere: worker processes run side by side, and threads that spin for each other are slow.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
