"""Mermaid's own parser reads every diagram of a report, whatever stands in its labels."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from actors.reporting.markdown import render_markdown
from actors.reporting.mermaid import mermaid
from actors.reporting.report import Chart
from tests import ROOT
from tests.actors.research import cases
from tests.actors.research.cases import compose
from tests.runtime.reports.samples import EVIL, SCRIPTS

KINDS = {"pie": "pie", "bar": "xychart", "timeline": "timeline", "mindmap": "mindmap"}
"""What Mermaid calls each."""
LABELS = (
    "Plain words", EVIL, SCRIPTS, "end", "mindmap", "title", "x-axis [1, 2]", "a : b : c", "root((x))", "%% comment",
    "",
    '"quoted" `ticks` and ]) brackets', "```", "section", "1999", "a; b", "#quot; &amp;", "- item", "subgraph x",
)  # fmt: skip
SECONDS = 300.0

pytestmark = [
    pytest.mark.whole,
    pytest.mark.skipif(
        shutil.which("node") is None, reason="Mermaid's parser is a program for Node.js: no `node` here"
    ),
]


@pytest.fixture(scope="module")
def parser() -> Path:
    folder = ROOT / "tests" / "mermaid"
    if not (folder / "node_modules" / "mermaid").is_dir():
        install = ["npm", "install", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts"]
        subprocess.run(install, cwd=folder, check=True, timeout=SECONDS)  # noqa: S603
    return folder / "parse.mjs"


def read(parser: Path, diagrams: list[str]) -> list[tuple[str, str]]:
    """The kind of each diagram, and why it is none."""
    command, text = ["node", str(parser)], json.dumps(diagrams)
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True, timeout=SECONDS)  # noqa: S603
    return [(each["kind"], each["error"]) for each in json.loads(done.stdout)]


@pytest.mark.req("PR-7")
def test_the_diagrams_of_a_report_are_fenced_and_the_official_parser_takes_them(parser: Path) -> None:
    fenced = re.findall(r"```mermaid\n(.*?)\n```", render_markdown(compose(cases.case())), re.DOTALL)

    verdicts = read(parser, fenced)

    assert [error for _, error in verdicts] == [""] * len(fenced)
    assert {kind for kind, _ in verdicts} == {"mindmap", "timeline"}


@pytest.mark.req("PR-7")
def test_no_label_makes_a_diagram_that_the_official_parser_refuses(parser: Path) -> None:
    charts = [
        Chart(kind, said, ((said, 0), (said, 1)), said, branches=(said, said))  # type: ignore[arg-type]
        for kind in KINDS
        for said in LABELS
    ]

    verdicts = read(parser, [mermaid(each) for each in charts])

    refused = [(chart.kind, chart.title, why) for chart, (_, why) in zip(charts, verdicts, strict=True) if why]
    assert refused == []
    assert [kind for kind, _ in verdicts] == [KINDS[chart.kind] for chart in charts]


def test_the_parser_does_refuse_what_is_no_diagram(parser: Path) -> None:
    ((kind, why),) = read(parser, ["timeline of nothing\n  :::"])

    assert (kind, bool(why)) == ("", True)
