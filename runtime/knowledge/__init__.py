"""Folders of documents as a passage index, and the search over it."""

from runtime.knowledge.indexing import IndexFailed, IndexProgress, IndexReport, index
from runtime.knowledge.search import KnowledgeFailed, KnowledgeIndex

__all__ = ["IndexFailed", "IndexProgress", "IndexReport", "KnowledgeFailed", "KnowledgeIndex", "index"]
