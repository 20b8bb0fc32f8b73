"""A research case as it stands before its report is written: invented pages, passages and statements."""

from collections.abc import Sequence
from typing import Any

from actors.evidence.passages import Passage
from actors.evidence.sources import FailedSource, Page, Statement
from actors.reporting.report import Report
from actors.research.compose import render_report
from actors.research.messages import CloseResearch
from actors.research.models import (
    Analysis,
    Cell,
    Comparison,
    Competitor,
    Contradiction,
    Plan,
    Profile,
    ResearchOptions,
    Row,
    Section,
    Swot,
)

LAMP = "https://lamps.example/lumo"
SHOP = "https://shop.example.org/compare?a=lumo&b=glim"
NOTE = "https://www.notes.example.net/2024/glim"
IDLE = "https://idle.example/about"
MANUAL = "manuals/lumo.md"

TEXTS = {
    LAMP: (
        "The Lumo lamp burns for 40 hours on one charge. It was first sold in 2015. "
        "The lamp is charged through a plug at its foot. The Lumo lamp weighs 310 grams."
    ),
    SHOP: (
        "The Lumo lamp burns for 25 hours on one charge. The Glim lamp burns for 18 hours on one charge. "
        "Glim followed in 2019, and since 2022 both are sold with a stand. The Glim lamp weighs 250 grams."
    ),
    NOTE: "Glim is the closest rival of Lumo. A version for bicycles is planned. The hinge breaks easily.",
    MANUAL: (
        "To reset the lamp:\n\n- hold the button for 10 seconds\n- wait until it blinks\n\n"
        "Then run this:\n\n```\nlumo reset --all\nlumo status\n```"
    ),
}
TITLES = {LAMP: "Lumo, the lamp", SHOP: "Two lamps compared", NOTE: "Notes on Glim", MANUAL: "Lumo manual"}


def page(key: str, text: str = "", **more: Any) -> Page:
    text = text or TEXTS.get(key, "Nothing of interest.")
    url = key if key.startswith("http") else f"knowledge:{key}"
    known: dict[str, Any] = {
        "key": key, "url": url, "title": TITLES.get(key, "About us"), "source": "web", "text": text,
        "full_length": len(text), "sha256": "ab" * 32, "read_at": "2026-03-01T10:20:30Z",
    }  # fmt: skip
    return Page(**(known | more))


def passage(key: str, text: str = "", heading: str = "") -> Passage:
    text = text or TEXTS[key]
    return Passage(f"{key}#1", key, TITLES.get(key, "About us"), heading, text, 0, len(text))


def said(text: str, key: str, quote: str = "", number: int = 1) -> Statement:
    return Statement(text, quote or text, f"{key}#1", key, number)


HOURS = said("The Lumo lamp burns for 40 hours on one charge.", LAMP)
FEWER = said("The Lumo lamp burns for 25 hours on one charge.", SHOP)
GLIM = said("The Glim lamp burns for 18 hours on one charge.", SHOP)
PLUG = said("The lamp is charged through a plug at its foot.", LAMP)
SOLD = said("It was first sold in 2015.", LAMP)
STAND = said("Glim followed in 2019, and since 2022 both are sold with a stand.", SHOP)
RIVAL = said("Glim is the closest rival of Lumo.", NOTE)
HINGE = said("The hinge breaks easily.", NOTE)
PLANNED = said("A version for bicycles is planned.", NOTE)
RESET = said(TEXTS[MANUAL], MANUAL)
REWORDED = said("One charge of the Lumo lamp lasts 40 hours.", LAMP, HOURS.text)
WEIGHS = said("The Lumo lamp weighs 310 grams.", LAMP)
GLIM_WEIGHS = said("The Glim lamp weighs 250 grams.", SHOP)

SECTIONS = (
    Section("How long does the Lumo lamp burn?", (HOURS, PLUG, SOLD), answered=True),
    Section("Which other lamps are there?", (GLIM, STAND), answered=True),
    Section("How is the lamp reset?", (RESET,), answered=True, round=2),
    Section("What does it cost?", (), note="The sources do not speak of prices.", round=2),
)
ANALYSIS = Analysis(
    overview=(REWORDED,),
    profile=Profile(
        "Lumo",
        ("competitors", "strengths", "weaknesses", "opportunities", "threats"),
        competitors=(Competitor("Glim", (RIVAL,)),),
        swot=Swot(weaknesses=(HINGE,), opportunities=(PLANNED,)),
    ),
    comparison=Comparison(("Lumo", "Glim"), (Row("Weight", (Cell(WEIGHS), Cell(GLIM_WEIGHS))),)),
    contradictions=(Contradiction("Lumo lamp", HOURS, FEWER),),
)
MISSED = (
    FailedSource("https://gone.example/", "dead", "The server says that the page is not there (404)."),
    FailedSource("https://wall.example/a", "paywall", "Only subscribers may read it."),
)


def case(**more: Any) -> CloseResearch:
    """What the Reporter is told after two rounds that went well."""
    known: dict[str, Any] = {
        "ticket_id": "T-1",
        "text": "Which lamp lasts longer, and what does it cost?",
        "brief": ResearchOptions(),
        "rounds": 2,
        "plan": Plan(("How long does the Lumo lamp burn?",), ("lumo lamp",), ("web",)),
        "results": (),
        "pages": (page(IDLE), page(NOTE), page(SHOP), page(LAMP, full_length=45_120), page(MANUAL)),
        "missed": MISSED,
        "sections": SECTIONS,
        "learnings": (HOURS, GLIM),
        "passages": tuple(map(passage, TEXTS)),
        "directions": ("Prices of lamps",),
        "analysis": ANALYSIS,
        "is_complete": False,
        "partial": "",
        "unavailable": (),
        "degraded": "",
        "reason": "completed",
        "detail": "",
    }
    return CloseResearch(**(known | more))


def compose(case: CloseResearch, overview: Sequence[Statement] = ()) -> Report:
    """The report of all that a case holds."""
    return render_report(case, overview)[0]
