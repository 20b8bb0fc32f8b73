"""A research case with something in every part of it, for whoever needs one."""

from typing import Any

import msgspec

from actors.evidence.claims import Citation, Resolution
from actors.evidence.dedup import hash_of
from actors.evidence.passages import Passage
from actors.evidence.shortfalls import Shortfall
from actors.evidence.sources import Entities, FailedSource, Original, Page, SearchResult, Statement
from actors.reporting.report import Chart, Report, ReportSection, ReportSentence, SourceEntry, Table
from actors.research import models as r
from actors.research.analysis_summary import analysis_summary
from actors.research.workflow import ResearchCase

QUESTION = "How does Harbor compare with Quay for storing container images?"
FACT = "Harbor keeps at most 250 replication rules."
OTHER = "Harbor keeps at most 200 replication rules."
HARBOR, QUAY = "https://harbor.example/docs/limits", "https://quay.example/overview"


def a_page(url: str = HARBOR, text: str = f"# Limits\n\n{FACT}\nRules are checked hourly.", **more: Any) -> Page:
    known: dict[str, Any] = {
        "key": url, "url": url, "title": "Limits", "source": "tavily", "text": text, "full_length": len(text),
        "sha256": hash_of(text), "read_at": "2026-11-20T09:30:00Z",
    }  # fmt: skip
    return Page(**(known | more))


def a_statement(text: str = FACT, url: str = HARBOR, **more: Any) -> Statement:
    return Statement(text=text, quote=more.pop("quote", text), passage=f"{url}#1", page=url, **more)


def a_passage(text: str = FACT, url: str = HARBOR) -> Passage:
    return Passage(
        id=f"{url}#1", source=url, title="Limits", heading="Limits > Replication", text=text, start=10,
        end=10 + len(text), anchor="limits", score=0.75,
    )  # fmt: skip


def a_report() -> Report:
    line = ReportSentence(FACT, (1,), FACT, "Limits")
    return Report(
        title="Harbor and Quay",
        question=QUESTION,
        overview=(line,),
        sections=(
            ReportSection("How many rules?", (line,)),
            ReportSection("What does it cost?", note="Not found in the sources."),
        ),
        comparison=Table(("", "Harbor", "Quay"), ((ReportSentence("Rules"), line, ReportSentence("")),)),
        competitors=(ReportSection("Quay", (line,)),),
        features=ReportSection("Features", (line,)),
        swot=(ReportSection("Strengths", (line,)),),
        contradictions=((line, ReportSentence(OTHER, (2,))),),
        unanswered=("What does it cost?",),
        further=("licensing",),
        missed=(FailedSource(QUAY, "paywall", "Paid."),),
        sources=(SourceEntry(1, "Limits", HARBOR, "tavily", "ab" * 32, "2026-11-20T09:30:00Z", 60, 60, cited=2),),
        charts=(Chart("pie", "Sources", (("tavily", 1), ("web", 2))),),
        partial="Stopped early.",
        notes=("1 round",),
    )


def a_case(**more: Any) -> ResearchCase:
    """Everything is filled, one paragraph of hostile text included; `more` replaces fields."""
    said, other = a_statement(), a_statement(OTHER, QUAY, round=2)
    known: dict[str, Any] = {
        "ticket_id": "T-1",
        "text": QUESTION,
        "brief": r.ResearchOptions(
            breadth=3, depth=2, round=2, sources=("tavily", "web"), urls=(HARBOR,), direction="limits"
        ),
        "plan": r.Plan(("How many rules?",), ("harbor replication rules limit",), ("tavily",), ("Harbor", "Quay")),
        "searches": (
            r.SearchTask("harbor limits | rules", "tavily", "done", 1),
            r.SearchTask("harbor limits | rules", "web", "failed", 0, "The web did not answer.", 2),
            r.SearchTask("quay limits", "web", round=2),
        ),
        "results": (
            SearchResult(
                "tavily", "Limits | Harbor", HARBOR, FACT, ("rules", "250 | hourly"), 0.9, "harbor limits", "2026-01-05"
            ),
            SearchResult("web", "Overview_of_Quay", QUAY, quality=0.4),
        ),
        "pages": (
            a_page(
                quality=0.9,
                why=("official", "recent"),
                entities=Entities(("replication",), ("Quay",), ("Go",)),
                original=Original("ab" * 32, "text/html", "utf-8", 5_000),
            ),
            a_page(QUAY, "---\nprojectId: T-9\n---\n## Plan\n```\n| a | b |\n<!-- x -->\n" + OTHER, title="# Overview"),
        ),
        "missed": (FailedSource("https://dead.example/x|y", "dead", "The server says that it is not there."),),
        "sections": (
            r.Section("How many rules?", (said,), answered=True),
            r.Section("What does it cost?", note="Not found in the sources.", round=2),
        ),
        "learnings": (said, other),
        "passages": (a_passage(), a_passage(OTHER, QUAY)),
        "directions": ("licensing",),
        "analysis": r.Analysis(
            overview=(said,),
            profile=r.Profile(
                "Harbor",
                ("competitors", "features", "strengths"),
                competitors=(r.Competitor("Quay", (other,)),),
                features=(said,),
                swot=r.Swot(strengths=(said,)),
            ),
            comparison=r.Comparison(("Harbor", "Quay"), (r.Row("Rules", (r.Cell(said, "yes"), None)),)),
            contradictions=(r.Contradiction("replication rules", said, other),),
        ),
        "rounds": 2,
        "partial": "The time for reading was over.",
        "unavailable": ("web search",),
        "incomplete": (Shortfall("source_failed", "web search"), Shortfall("no_meaning", "It is | down.")),
        "resolution": Resolution(f"{FACT} [1]", (Citation(1, HARBOR, "Limits", "Limits", FACT, 10, 53),)),
        "summary": FACT,
        "report": a_report(),
    }
    known["analysis"] = summarized(known["analysis"])
    return msgspec.structs.replace(ResearchCase(ticket_id="", text=""), **(known | more))


def summarized(analysis: r.Analysis) -> r.Analysis:
    """The same with its summary, as the Analyzer hands it on."""
    return msgspec.structs.replace(analysis, summary=analysis_summary(analysis))
