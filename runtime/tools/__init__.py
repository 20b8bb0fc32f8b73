"""Tools that a model may call: one file each in `shipped/`."""
