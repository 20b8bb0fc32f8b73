"""What we write is a reference to no other ticket and to nobody, in any of the systems that read such."""

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from actors.evidence.claims import Citation, Resolution
from runtime.intake import sender
from runtime.intake.adapter_file import list_systems, load_tables, read_adapter
from runtime.intake.sender import describe_approval, escape_references, write_note, write_reminder, write_reply
from runtime.intake.writes import has_marker, make_marker
from tests.runtime.intake.test_intake import connected, until
from tests.runtime.intake.test_writes import outcome

RUN = "R-0123456789abcdef"
ACTED_ON = {
    "django-helpdesk": r"(?:[^&]|\b|^)#(\d+)\b",
    "Redmine": r"(?:^|[\s(,\-\[>])#\d+\b|\b(?:document|version|message|news|forum|note)#\d+",
    "GitHub": r"(?:^|\W)(?:[\w-]+/[\w.-]+)?#\d+\b|\b(?:gh|GH)-\d+\b",
    "GitLab": r"(?:^|\W)[#!]\d+\b",
    "a person": r"(?:^|[^\w/])@{1,2}[A-Za-z_][\w-]*",
    "RT": r"\[[^\]\n]{1,40}\s+#\d+\s*\]|\bticket\s+#\d+",
    "Zammad": r"Ticket#\s{0,2}\d{1,10}",
    "Zendesk, Freshdesk, FreeScout": r"\[?#\d+\]?",
    "OTRS": r"\[Ticket#\d+\]",
}
"""Where they stand in a text, the system notes it elsewhere, tells somebody, or takes it for a number of its own."""
LINKED = {
    "Jira": r"\b[A-Z][A-Z0-9_]+-\d+\b",
    "Roundup": r"\b(?:issue|msg|user|file|keyword|priority|status|query)\s*\d+\b",
    "Redmine": r"\br\d+\b|\bcommit:\w+|\b(?:source|attachment|export):\S+",
    "any": r"(?:https?|ftp)://\S+|\bwww\.",
}
"""What is only made a link; of these there is none in our own words."""
QUOTED = (
    "Error #12 (see issue#13, acme/vpn#14, Ticket# 15, [lab #16], !17): ask @helen, @@helen or help@example.org, "
    "say https://example.org/@helen."
)
PLACE = Citation(1, "https://example.org/faq#18", "VPN #19", "VPN #19 > Drops @helen", QUOTED, 0, 13)


def find(patterns: dict[str, str], text: str) -> list[tuple[str, str]]:
    return [(name, found[0]) for name, each in patterns.items() for found in re.finditer(each, text, re.MULTILINE)]


@pytest.mark.parametrize("language", ["en", "de", "zh", "ko"])
@pytest.mark.parametrize("status", ["resolved", "suggested", "not_found", "error"])
def test_our_own_words_refer_to_nothing(language: str, status: str) -> None:
    told = msgspec.structs.replace(outcome(status), run=RUN, language=language)
    how = describe_approval(told, "ai-send")
    note, reminder = write_note(told, 1, how=how, due="2026-12-01"), write_reminder(told, 2, "2026-12-01", how)

    for text in (note, reminder, write_reply(told), make_marker(RUN, 1), make_marker("too-many", 0)):
        assert find(ACTED_ON | LINKED, text) == []


def test_what_is_quoted_refers_to_nothing_either_and_can_be_read() -> None:
    told = msgspec.structs.replace(outcome(), run=RUN, resolution=Resolution(f"{QUOTED} [1]", (PLACE,)))
    note, reply = write_note(told, 1), write_reply(told)

    assert find(ACTED_ON, note) == find(ACTED_ON, reply) == []
    assert len(find(ACTED_ON, QUOTED)) > len(ACTED_ON)
    assert "Error ＃12" in reply
    assert "help@example.org" in reply
    assert "https://example.org/@helen" in reply
    assert "https://example.org/faq\n" in f"{note}\n"


def test_what_no_tracker_acts_on_stays_as_it_is() -> None:
    text = "# Steps\n#!/bin/sh\nWarning! 3 of file1, UTF-8, HL-2130; C# 12? a != 1; $12; ann@example.org"

    assert escape_references(text).replace("C＃ 12", "C# 12") == text


@pytest.mark.parametrize(
    "kept",
    ["https://example.org/guide#3", "`#12 @types/node`", "    npm install @types/node  # 3", "ftp://a.example/!1"],
)
def test_addresses_and_code_stay_what_they_are(kept: str) -> None:
    told = msgspec.structs.replace(outcome(), run=RUN, resolution=Resolution(f"See #4:\n\n{kept}\n\nor ask @helen."))

    for text in (write_note(told, 1), write_reply(told)):
        assert kept in text
        assert "See ＃4" in text
        assert "ask ＠helen" in text


def test_only_the_signs_that_a_system_reads_are_escaped() -> None:
    text = "Dial *#06#, install @types/node, and see #4 and !5."
    told = msgspec.structs.replace(outcome(), run=RUN, resolution=Resolution(text))

    assert text in write_reply(told, ())
    assert text in write_note(told, 1, signs=())
    assert write_reply(told, ("@",)).startswith(text.replace("@", "＠"))


def test_each_system_says_which_it_reads() -> None:
    reads = {name: read_adapter(load_tables(name, Path()), name).references for name in list_systems()}

    hashes = {"django_helpdesk", "freescout", "freshdesk", "rt", "zammad", "zendesk"}
    assert reads == {name: ("#",) if name in hashes else () for name in list_systems()}


async def test_the_sender_asks_the_adapter_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[Any]()

    def write(*given: Any, signs: Any, **more: Any) -> str:
        asked.append(signs)
        return write_note(*given, signs=signs, **more)

    monkeypatch.setattr(sender, "write_note", write)
    more: dict[str, Any] = {"adapter.references": ["!"]}
    async with connected(tmp_path, **more) as (desk, web):
        await desk.deliver(web.client, desk.write("7", "ann", "My VPN drops every hour."))
        await until(lambda: bool(desk.said("7", public=False)))

    assert asked == [("!",)]


def test_a_note_is_known_by_its_marker_in_either_form() -> None:
    assert has_marker(f"Try this.\n\n{make_marker(RUN, 1)}", RUN, 1)
    assert has_marker(f"Try this.\n\n[terminus {RUN}#1]", RUN, 1)
    assert not has_marker(make_marker(RUN, 11), RUN, 1)
