"""A report on a terminal is rendered, elsewhere it is as it is; nothing in it commands a terminal."""

import io

import pytest

from runtime.cli.view.terminal_markdown import show
from tests.runtime.cli.view.runs import HOSTILE
from tests.runtime.cli.view.terminal import plain

REPORT = """\
# Trams

- They run on **rails**. [1]

```mermaid
pie title "Pages"
    "read" : 3
```

1. [Trams](https://example.org/trams)
"""


class Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def tty(monkeypatch: pytest.MonkeyPatch) -> Tty:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "100")
    return Tty()


def test_a_pipe_gets_the_report_as_it_is() -> None:
    stream = io.StringIO()
    show(REPORT, stream)

    assert stream.getvalue() == REPORT


def test_a_terminal_gets_it_rendered_with_links_that_say_where_they_lead(tty: Tty) -> None:
    show(REPORT, tty)

    shown = plain(tty.getvalue())
    assert "They run on rails. [1]" in shown
    assert "https://example.org/trams" in shown
    assert "**" not in shown
    assert "\x1b]8;" not in tty.getvalue(), "no link whose text may say another place"


def test_a_terminal_is_told_where_a_chart_stands_instead_of_shown_its_source(tty: Tty) -> None:
    show(REPORT, tty)

    shown = plain(tty.getvalue())
    assert "A chart stands here; " in shown
    assert "pie title" not in shown


def test_text_from_outside_cannot_command_a_terminal(tty: Tty) -> None:
    pipe = io.StringIO()
    for stream in (pipe, tty):
        show(f"# {HOSTILE}\n\n{HOSTILE}\n\n    {HOSTILE}\n", stream)

    for shown in (pipe.getvalue(), plain(tty.getvalue())):
        for harmful in "\x1b\x07\x9b\u202e\x08":
            assert harmful not in shown


def test_an_endless_fence_costs_no_time(tty: Tty) -> None:
    show("```mermaid\n" * 20_000, tty)

    assert plain(tty.getvalue()).count("A chart stands here") == 1
