"""From a case to a report: what stands where, and how it is written down. Pure."""
