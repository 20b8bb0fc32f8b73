"""What this program is called by whoever started it, which version it is, and what comes with it."""

import sys
from pathlib import Path

CHECKOUT = Path(__file__).parent.parent
INSTALLED = Path(__file__).parent / "shipped"
"""A wheel has here what stands beside the packages in a checkout."""


def name() -> str:
    """What the reader of a hint can type before a command's name."""
    started = sys.argv[0] if sys.argv else ""
    script = started.replace("\\", "/").rpartition("/")[2].removesuffix(".exe")
    return "terminus" if script == "terminus" else "python -m runtime"


def command(words: str) -> str:
    """A command as a hint shows it, such as `terminus status`."""
    return f"`{name()} {words}`"


def shipped_file(path: str) -> Path:
    """A file or folder that comes with the product, by its path in a checkout, such as `examples/knowledge`."""
    return (INSTALLED if INSTALLED.is_dir() else CHECKOUT) / path


def version() -> str:
    """Of the checkout that this is run from, or else of the installed package."""
    if INSTALLED.is_dir():
        import importlib.metadata

        return importlib.metadata.version("terminus")
    import tomllib

    return str(tomllib.loads(shipped_file("pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])
