"""What a run got from outside is recorded, and its workflow can be run again on that."""
