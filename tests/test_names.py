"""How the house reads, counted: verbs for functions, one room for the name of a file."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests import ROOT
from tests.test_imports import LAYERS

PARTICIPLES = 0.03
"""The share of functions that may be named by one; a few words only look like it."""
PARTICIPLE = re.compile(
    r"(?:ed|told|made|said|found|shown|known|written|kept|left|met|heard|given|taken|held|begun|sent|built|read_by)$"
)
NO_PARTICIPLE = frozenset({"need", "seed", "feed", "embed", "speed", "exceed", "succeed", "proceed", "indeed"})
PREDICATES = ("is_", "are_", "has_", "was_", "on_", "when_")
PATTERNS = frozenset(
    {
        "__init__.py",
        "errors.py",
        "workflow.py",
        "messages.py",
        "models.py",
        "output_schemas.py",
        "extractive_answers.py",
    }
)
"""The same part of the same pattern: in each family, and the errors of a room."""
COMMANDS = "runtime/cli/commands"
"""A command's file is named as the command is, and so is often what does it."""


def files() -> Iterator[tuple[Path, ast.Module]]:
    for layer in LAYERS:
        for file in sorted((ROOT / layer).rglob("*.py")):
            yield file, ast.parse(file.read_text(encoding="utf-8"))


def functions() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for file, tree in files():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("__"):
                yield f"{file.relative_to(ROOT)}:{node.lineno} {node.name}", node


def is_participle(name: str) -> bool:
    """Whether a function is named by a participle: by its last word, so that `is_closed` is none."""
    bare = name.strip("_")
    last = bare.rpartition("_")[2]
    return bool(PARTICIPLE.search(last)) and last not in NO_PARTICIPLE and not bare.startswith(PREDICATES)


def test_functions_are_named_by_verbs() -> None:
    every = [(place, node.name) for place, node in functions()]
    participles = [place for place, name in every if is_participle(name)]

    assert len(participles) <= PARTICIPLES * len(every), participles


def test_a_files_name_stands_in_one_room_unless_it_is_a_part_of_a_pattern() -> None:
    rooms = defaultdict(list)
    for file, _ in files():
        room = str(file.parent.relative_to(ROOT))
        if room != COMMANDS:
            rooms[file.name].append(room)

    assert {name: where for name, where in rooms.items() if len(where) > 1 and name not in PATTERNS} == {}
