"""The state file of a research, for people and for the day on which the database is gone."""
