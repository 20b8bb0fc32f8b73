"""The end of a ticket on the screen is in the ticket's language, and so is its report in every format."""

import re
from typing import Any

import msgspec
import pytest

from actors.reporting import document as o
from actors.reporting.markdown import render_markdown
from actors.research.compose import render_report
from actors.text.catalogue import CATALOGUES, say
from actors.workflow.outcome import EndReason
from runtime.cli.view.result import lines
from runtime.reports import formats, render
from tests.actors.research import cases as c
from tests.runtime.cli.view.runs import outcome

OTHERS = [each for each in CATALOGUES if each != "en"]
STATUSES = ("resolved", "suggested", "not_found", "error", "cancelled")


def shown(**more: Any) -> list[str]:
    judgement, verbose = more.pop("judgement", ""), more.pop("verbose", False)
    return [line.text for line in lines(outcome(**more), judgement=judgement, verbose=verbose)]


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("status", STATUSES)
def test_no_line_of_ours_is_left_in_english(language: str, status: str) -> None:
    more: dict[str, Any] = {
        "status": status, "why": EndReason.LOOP_DETECTED if status == "error" else EndReason.COMPLETED,
        "unavailable": ("X",), "summary": "",
    }  # fmt: skip

    english, other = shown(language="en", **more), shown(language=language, **more)

    of_sources = {"", "Set keepalive to 25. [1]", "[1] manual/vpn.md#drops  VPN > Drops"}
    assert len(english) == len(other)
    assert set(english) & set(other) <= of_sources


@pytest.mark.parametrize(
    ("language", "head", "end"),
    [
        ("de", "Gelöst, und jemand hat bestätigt, dass es geholfen hat",
         "Abgeschlossen von ticketing nach 1,25 s und 5 Übergaben."),
        ("zh", "已解决，并且有人确认它有帮助", "由 ticketing 结束，用时 1.25 秒，转交 5 次。"),
        ("ko", "해결됨, 도움이 되었다고 확인되었습니다", "종료: ticketing, 1.25초, 인계 5회."),
    ],
)  # fmt: skip
def test_the_screen_reads_as_one_who_speaks_the_language_would_say_it(language: str, head: str, end: str) -> None:
    told = shown(language=language, judgement="confirmed")

    assert told[0] == head
    assert end in told


def test_a_cancelled_run_does_not_say_it_twice_in_any_language() -> None:
    for language in CATALOGUES:
        detail = say("end_cancelled", language)
        assert detail not in shown(status="cancelled", why=EndReason.CANCELLED, language=language, detail=detail)


@pytest.mark.parametrize("language", OTHERS)
def test_no_heading_and_no_sentence_of_a_report_is_left_in_english(language: str) -> None:
    more: dict[str, Any] = {
        "degraded": "model_failed",
        "unavailable": ("Y",),
        "partial": "Z.",
        "text": c.case().text + " SWOT",
    }
    english, other = (render_report(c.case(language=each, **more))[0] for each in ("en", language))

    def ours(report: Any) -> list[str]:
        asked = {each.title for each in report.sections} | {each.title for each in report.competitors}
        parts = list(o.outline(report))
        headings = [each.text for each in parts if isinstance(each, o.Heading) and each.text not in asked]
        remarks = [each.text for each in parts if isinstance(each, o.Remark)]
        return [*headings, *remarks, *report.notes, *(o.reading(each, report.language) for each in report.sources)]

    same = set(ours(english)) & set(ours(other))
    assert len(ours(english)) > 20
    assert len(ours(english)) == len(ours(other))
    assert same <= {"SWOT"}
    assert other.contradictions == english.contradictions, "what sources say stays as it is"


@pytest.mark.parametrize("language", CATALOGUES)
@pytest.mark.parametrize("suffix", formats())
def test_every_format_is_written_in_every_language(language: str, suffix: str) -> None:
    report, _ = render_report(c.case(language=language))

    made = render(report, suffix)

    if suffix == ".html":
        tags = {"en": "en", "de": "de", "zh": "zh-Hans", "ko": "ko"}
        assert re.search(r'<html lang="([\w-]+)">', made.decode()).group(1) == tags[language]  # type: ignore[union-attr]
        assert f">{say('sources', language)}</h2>" in made.decode()
    elif suffix == ".md":
        assert f"## {say('sources', language)}\n" in made.decode()
        assert f"_{say('against', language)}_" in made.decode()
    else:
        assert len(made) > 1000


def test_a_report_of_before_there_were_languages_is_shown_in_english() -> None:
    report, _ = render_report(c.case())
    old = msgspec.to_builtins(report)
    assert "language" not in old

    assert "## Sources\n" in render_markdown(msgspec.convert(old, type(report)))
