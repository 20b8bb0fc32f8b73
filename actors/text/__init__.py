"""Text as it comes from outside: normalised, split, compared. Pure, and each concept once."""
