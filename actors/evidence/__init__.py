"""Evidence: what was read, what is claimed of it, and whether the claim stands."""
