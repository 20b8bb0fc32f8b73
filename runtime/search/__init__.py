"""Sources of search results, one file each; `sources.py` puts those together that are configured."""
