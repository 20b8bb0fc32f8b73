"""Tools that a model may call: one file each in `shipped/`, and those of the user's own module."""
