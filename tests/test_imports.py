"""Imports only go runtime -> actors -> bus, no family knows another, and what is heavy waits until it is needed."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
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


def violations(root: Path) -> list[str]:
    """What breaks the rule, as sentences."""
    wrong = []
    families = {file.parent.name for file in (root / "actors").glob("*/workflow.py")}
    for module, its in modules(root).items():
        layer, _, rest = module.partition(".")
        family = rest.partition(".")[0] if rest.partition(".")[0] in families else ""
        for each in its:
            target = f"{each.module}.{each.name}".split(".")
            if each.module == ".":
                wrong.append(f"{module} imports relatively")
            elif target[0] in {"tests", "bench"}:
                wrong.append(f"{module} imports {target[0]}, which does not ship")
            elif target[0] in LAYERS and LAYERS.index(target[0]) > LAYERS.index(layer):
                wrong.append(f"{module} imports {each.module}: the wrong direction")
            elif layer == "actors" and target[0] == "actors" and len(target) > 1 and target[1] in families - {family}:
                wrong.append(f"{module} imports the family {target[1]}")
    return wrong


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


@pytest.mark.req("SY-1")
def test_imports_only_go_runtime_to_actors_to_bus_and_no_family_knows_another() -> None:
    assert violations(ROOT) == []


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    known = modules(ROOT)

    for start in ("runtime", "runtime.__main__", "runtime.config", "runtime.logs", "runtime.node"):
        assert at_start([start], known) & HEAVY == set(), start
    assert at_start(["runtime.__main__", "runtime.commands.submit"], known) & NOT_FOR_HELP == set()


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
    program = "import sys, runtime.node, runtime.model.extractive\nprint(' '.join(sys.modules))"
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )

    loaded = {each for each in done.stdout.split() if each.startswith(("actors.research.", "runtime.research"))}
    table = {f"actors.research.{each}" for each in ("workflow", "messages", "records", "ports", "drafts")}
    assert loaded <= table
    assert "runtime.model.inquiry" not in done.stdout.split()


@pytest.mark.parametrize(
    "module", ["runtime.knowledge.search", "runtime.reading.shelf", "runtime.fetch.document", "runtime.memory.lookup"]
)
def test_a_worker_process_loads_for_a_search_neither_the_bus_nor_the_log(module: str) -> None:
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", f"import sys, {module}\nprint(' '.join(sys.modules))"],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip

    assert {name.partition(".")[0] for name in done.stdout.split()} & {"asyncio", "bus", "structlog", "rich"} == set()


def test_the_log_does_not_load_rich() -> None:
    program = (
        "import sys\nimport runtime.logs\nprint('rich' in sys.modules)\nimport rich.text\nprint('rich' in sys.modules)"
    )
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )

    assert done.stdout.split() == ["False", "True"]


@pytest.mark.parametrize(
    ("file", "text", "sentence"),
    [
        ("bus/local.py", "from actors.ports import Task", "bus.local imports actors.ports: the wrong direction"),
        ("bus/local.py", "def late():\n    import runtime.node", "bus.local imports runtime.node: the wrong direction"),
        ("actors/loops.py", "if True:\n    import runtime", "actors.loops imports runtime: the wrong direction"),
        ("actors/orchestrator.py", "from actors import legal", "actors.orchestrator imports the family legal"),
        (
            "actors/legal/intent.py",
            "import actors.helpdesk.workflow",
            "actors.legal.intent imports the family helpdesk",
        ),
        ("actors/legal/intent.py", "from . import workflow", "actors.legal.intent imports relatively"),
        ("runtime/run.py", "from tests.fakes import Notebook", "runtime.run imports tests, which does not ship"),
    ],
    ids=str,
)
def test_the_rule_finds_what_breaks_it(tmp_path: Path, file: str, text: str, sentence: str) -> None:
    for workflow in ("actors/helpdesk/workflow.py", "actors/legal/workflow.py"):
        (tmp_path / workflow).parent.mkdir(parents=True)
        (tmp_path / workflow).write_text("from actors.workflow import Step", encoding="utf-8")
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
