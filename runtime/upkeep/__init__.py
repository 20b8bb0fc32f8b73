"""What a storage folder needs over months: retention, purges, space, backups."""
