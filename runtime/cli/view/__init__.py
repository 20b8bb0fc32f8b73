"""What people see: a run on its way, and what came of it."""
