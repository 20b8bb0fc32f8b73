"""Folders of documents as a passage index (`indexing.py`), and the search over it (`port.py`)."""

NO_INDEX = "No documents are indexed yet: run `python -m runtime index FOLDER` on a folder of Markdown, text or HTML."
