"""Documents from templates: letters, contracts, complaints, filled with what a person gave and nothing else. Pure."""
