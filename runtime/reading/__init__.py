"""Finding in pages that were read the passages that bear on a question; runs in worker processes."""
