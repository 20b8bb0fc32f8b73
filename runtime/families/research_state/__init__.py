"""The state file of each research: written while it runs, read again when the database is gone."""
