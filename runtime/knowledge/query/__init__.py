"""From a question to findings: pure over an open index; runs in worker processes."""
