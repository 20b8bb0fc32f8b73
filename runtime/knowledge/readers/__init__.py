"""From a file to a document: one reader for each format."""
