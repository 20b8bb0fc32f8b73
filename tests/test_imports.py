"""Imports only go runtime -> actors -> bus and down the rooms; no family is a tool; the heavy waits until needed."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests import ROOT

LAYERS = ("bus", "actors", "runtime")
HEAVY = frozenset({"openai", "numpy", "lxml", "trafilatura", "rich", "aiohttp", "httpx", "tavily"})
NOT_FOR_HELP = HEAVY | {"asyncio", "structlog", "msgspec", "yaml", "frontmatter", "sqlite3"}


class Import(NamedTuple):
    module: str
    name: str
    at_start: bool
    """It is carried out when the module is imported, not later and not only for types."""


def imports(tree: ast.AST, *, at_start: bool = True) -> Iterator[Import]:
    """Every import below a node of the syntax tree, those inside functions too."""
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.Import(names=names):
                yield from (Import(alias.name, "", at_start) for alias in names)
            case ast.ImportFrom(module=module, names=names, level=0):
                yield from (Import(module or "", alias.name, at_start) for alias in names)
            case ast.ImportFrom():
                yield Import(".", "", at_start)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                yield from imports(node, at_start=False)
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                yield from imports(node, at_start=False)
            case _:
                yield from imports(node, at_start=at_start)


def modules(root: Path) -> dict[str, list[Import]]:
    """The imports of every module of the product."""
    found = {}
    for layer in LAYERS:
        for file in sorted((root / layer).rglob("*.py")):
            name = ".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
            found[name] = list(imports(ast.parse(file.read_text(encoding="utf-8"))))
    return found


ROOMS = {
    "text": 0,
    "evidence": 1,
    "statutes": 2,
    "workflow": 3,
    "ports": 3,
    "documents": 4,
    "drafting": 4,
    "extractive": 4,
    "reporting": 4,
}
"""The rooms of `actors` from the ground up: each imports those below it, never one beside it. Families stand on top."""
BESIDE = frozenset({"workflow", "ports"})
"""Ports speak of runs and their outcomes, and the Orchestrator of its journal: one layer in two rooms."""
FAMILY = 5
KNOW_FAMILIES = ("runtime.families",)
"""Whoever wires families: nobody else needs to know one."""
KNOW_SQLITE = ("runtime.storage.sqlite", "runtime.knowledge.index", "runtime.knowledge.side_index")
"""SQL stands behind the port of storage; what is indexed of documents and cases is derived from their files."""
TOOLS = (
    "crawl", "documents", "embeddings", "knowledge", "llm", "memory", "processes", "reports", "resilience",
    "search", "state_files", "storage", "tools",
)  # fmt: skip
"""Rooms of `runtime` that any family may use: none of them knows one."""
FRONT_ENDS = ("runtime.cli", "runtime.http")
STARTS_THE_DAEMON = "runtime.cli.commands.serve"


def violations(root: Path) -> list[str]:
    """What breaks the rules, as sentences."""
    families = frozenset(file.parent.name for file in (root / "actors").glob("*/workflow.py"))
    return [
        sentence
        for module, its in modules(root).items()
        for each in its
        if (sentence := _violation(module, each, families))
    ]


def _violation(module: str, each: Import, families: frozenset[str]) -> str:
    target = f"{each.module}.{each.name}".split(".")
    layer = module.partition(".")[0]
    if each.module == ".":
        return f"{module} imports relatively"
    if target[0] in {"tests", "bench"}:
        return f"{module} imports {target[0]}, which does not ship"
    if target[0] not in LAYERS:
        direct = target[0] == "sqlite3" and not module.startswith(KNOW_SQLITE)
        return f"{module} imports sqlite3: storage is a port" if direct else ""
    if LAYERS.index(target[0]) > LAYERS.index(layer):
        return f"{module} imports {each.module}: the wrong direction"
    for one, other in (FRONT_ENDS, FRONT_ENDS[::-1]):
        if f"{module}.".startswith(f"{one}.") and each.module.startswith(other) and module != STARTS_THE_DAEMON:
            return f"{module} imports {each.module}: a front end imports the other"
    if each.module.startswith("runtime.families") and f"{module}.".startswith(tuple(f"runtime.{t}." for t in TOOLS)):
        return f"{module} imports {each.module}: a tool needs no family"
    if target[0] != "actors" or len(target) < 2:
        return ""
    if layer == "runtime":
        known = target[1] not in families or module.startswith(KNOW_FAMILIES)
        return "" if known else f"{module} imports the family {target[1]}"
    room = module.split(".")[1] if "." in module else ""
    if target[1] in families and target[1] != room:
        return f"{module} imports the family {target[1]}"
    here, there = ROOMS.get(room, FAMILY), ROOMS.get(target[1], 0 if target[1] not in families else FAMILY)
    if room == target[1] or {room, target[1]} <= BESIDE or here > there:
        return ""
    return f"{module} imports {each.module}: the wrong room"


def at_start(start: list[str], known: dict[str, list[Import]]) -> set[str]:
    """Top-level names of everything that importing some modules imports, parents and followers included."""
    waiting, seen, outside = list(start), set[str](), set[str]()
    while waiting:
        module = waiting.pop()
        if module in seen:
            continue
        seen.add(module)
        outside.add(module.partition(".")[0])
        if "." in module:
            waiting.append(module.rpartition(".")[0])
        for each in known.get(module, []):
            if each.at_start:
                waiting.append(each.module)
                if f"{each.module}.{each.name}" in known:
                    waiting.append(f"{each.module}.{each.name}")
    return outside


def test_imports_only_go_runtime_to_actors_to_bus_and_no_family_knows_another() -> None:
    assert violations(ROOT) == []


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    known = modules(ROOT)

    for start in ("runtime", "runtime.__main__", "runtime.config", "runtime.observe.logs", "runtime.engine.node"):
        assert at_start([start], known) & HEAVY == set(), start
    assert at_start(["runtime.__main__", "runtime.cli.commands.submit"], known) & NOT_FOR_HELP == set()


def test_help_loads_nothing_heavy_in_fact() -> None:
    program = (
        "import sys\nfrom runtime.__main__ import main\n"
        "try: main(['submit', '--help'])\nexcept SystemExit: pass\n"
        "sys.stderr.write(' '.join(sys.modules))"
    )
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )

    assert "exit status:" in done.stdout
    assert {name.partition(".")[0] for name in done.stderr.split()} & NOT_FOR_HELP == set()


def test_what_runs_a_ticket_loads_of_the_research_only_what_its_table_needs() -> None:
    program = "import sys, runtime.engine.node\nprint(' '.join(sys.modules))"
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )

    loaded = {each for each in done.stdout.split() if each.startswith("actors.research.")}
    table = {f"actors.research.{each}" for each in ("workflow", "messages", "models", "output_schemas")}
    assert loaded <= table
    assert "actors.research.extractive_answers" not in done.stdout.split()


@pytest.mark.parametrize(
    "module",
    [
        "runtime.knowledge.index_search",
        "runtime.crawl.own_document",
        "runtime.memory.learning",
        "runtime.embeddings.weights",
    ],
)
def test_a_worker_process_loads_for_a_search_neither_the_bus_nor_the_log(module: str) -> None:
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", f"import sys, {module}\nprint(' '.join(sys.modules))"],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip

    assert {name.partition(".")[0] for name in done.stdout.split()} & {"asyncio", "bus", "structlog", "rich"} == set()


def test_the_log_does_not_load_rich() -> None:
    program = (
        "import sys\nimport runtime.observe.logs\nprint('rich' in sys.modules)\n"
        "import rich.text\nprint('rich' in sys.modules)"
    )
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )

    assert done.stdout.split() == ["False", "True"]


@pytest.mark.parametrize(
    ("file", "text", "sentence"),
    [
        ("bus/local.py", "from actors.ports import Task", "bus.local imports actors.ports: the wrong direction"),
        (
            "bus/local.py",
            "def late():\n    import runtime.engine.node",
            "bus.local imports runtime.engine.node: the wrong direction",
        ),
        (
            "actors/workflow/loops.py",
            "if True:\n    import runtime",
            "actors.workflow.loops imports runtime: the wrong direction",
        ),
        (
            "actors/workflow/orchestrator.py",
            "from actors import legal",
            "actors.workflow.orchestrator imports the family legal",
        ),
        (
            "actors/legal/intent.py",
            "import actors.helpdesk.workflow",
            "actors.legal.intent imports the family helpdesk",
        ),
        ("actors/legal/intent.py", "from . import workflow", "actors.legal.intent imports relatively"),
        (
            "actors/text/urls.py",
            "from actors.evidence.claims import Claim",
            "actors.text.urls imports actors.evidence.claims: the wrong room",
        ),
        (
            "actors/reporting/charts.py",
            "from actors.extractive import decompose",
            "actors.reporting.charts imports actors.extractive: the wrong room",
        ),
        (
            "runtime/search/feeds.py",
            "from runtime.families import find",
            "runtime.search.feeds imports runtime.families: a tool needs no family",
        ),
        ("runtime/search/feeds.py", "import actors.legal.intent", "runtime.search.feeds imports the family legal"),
        (
            "runtime/http/server.py",
            "from runtime.cli import view",
            "runtime.http.server imports runtime.cli: a front end imports the other",
        ),
        (
            "runtime/engine/run.py",
            "from tests.fakes import Notebook",
            "runtime.engine.run imports tests, which does not ship",
        ),
    ],
    ids=str,
)
def test_the_rule_finds_what_breaks_it(tmp_path: Path, file: str, text: str, sentence: str) -> None:
    for workflow in ("actors/helpdesk/workflow.py", "actors/legal/workflow.py"):
        (tmp_path / workflow).parent.mkdir(parents=True)
        (tmp_path / workflow).write_text("from actors.workflow.tables import Step", encoding="utf-8")
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text(text, encoding="utf-8")

    assert violations(tmp_path) == [sentence]


def test_what_is_imported_by_way_of_another_module_is_found() -> None:
    known = {
        "runtime": [Import("runtime.a", "", at_start=True)],
        "runtime.a": [Import("runtime", "b", at_start=True), Import("numpy", "", at_start=False)],
        "runtime.b": [Import("lxml.html", "parse", at_start=True)],
    }

    assert at_start(["runtime"], known) == {"runtime", "lxml"}
