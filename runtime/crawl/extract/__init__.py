"""Main text out of what a server sent; runs in worker processes, which can be killed."""
