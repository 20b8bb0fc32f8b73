"""Files of state as Markdown that people read and edit: their parts, names and backups, whatever family they are of."""
