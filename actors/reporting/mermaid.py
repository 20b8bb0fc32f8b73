"""Charts as Mermaid diagrams. No label can end the diagram, or be one of its words. Pure."""

import re

from actors.reporting.report import Chart
from actors.text.truncate import shorten

LABEL_CHARACTERS = 90

_UNSAFE = re.compile(r"[^\w .,()/+…€£¥-]")


def label(text: str) -> str:
    """Letters, figures and a few marks: nothing that has a meaning in any diagram."""
    return " ".join(_UNSAFE.sub(" ", shorten(text, LABEL_CHARACTERS)).split()) or "unnamed"


def figures(amount: float) -> str:
    """A count or an amount, without a fraction where it has none."""
    return f"{amount:.12g}"


def mermaid(chart: Chart) -> str:
    """The diagram's text, without a fence."""
    match chart.kind:
        case "pie":
            rows = [f'    "{label(name)}" : {figures(count)}' for name, count in chart.items]
            return "\n".join(("pie showData", f"    title {label(chart.title)}", *rows))
        case "bar":
            names = ", ".join(f'"{label(name)}"' for name, _ in chart.items)
            counts = ", ".join(figures(count) for _, count in chart.items)
            most = max((count for _, count in chart.items), default=0) or 1
            return "\n".join(
                (
                    "xychart-beta", f'    title "{label(chart.title)}"', f"    x-axis [{names}]",
                    f'    y-axis "{label(chart.unit)}" 0 --> {figures(most)}', f"    bar [{counts}]",
                )
            )  # fmt: skip
        case "timeline":
            rows = [f"    {figures(year)} : {label(event)}" for event, year in chart.items]
            return "\n".join(("timeline", f"    title {label(chart.title)}", *rows))
        case "mindmap":
            rows = ["mindmap", f'  root(("{label(chart.title)}"))']
            for place, branch in enumerate(chart.branches):
                rows.append(f'    b{place}["{label(branch)}"]')
                its = [entry for entry, at in chart.items if at == place]
                rows += (f'      b{place}e{number}["{label(entry)}"]' for number, entry in enumerate(its))
            return "\n".join(rows)
