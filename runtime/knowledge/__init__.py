"""Folders of documents as a passage index (`indexing.py`), and the search over it (`port.py`)."""
