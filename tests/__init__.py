"""Tests of Terminus; they mirror the tree of the product."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""The project's folder."""
