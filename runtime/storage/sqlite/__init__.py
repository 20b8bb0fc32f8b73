"""Storage in one SQLite file. All SQL, and all errors of SQLite, stay in here; outside they are `StorageError`."""
