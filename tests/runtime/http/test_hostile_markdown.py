"""Whatever stands in a ticket and in the documents behind it: rendered as Markdown, the answer is words and no more."""

from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from actors.evidence.passages import SearchHits
from actors.ports import Model
from runtime import families
from tests.actors.reporting.test_three_renderers import ATTACKS, RENDERERS, find_dangers
from tests.fakes import PASSAGE, Thinks
from tests.runtime.http.kit import interface

AT_ONCE = 12
"""So many attacks stand in one ticket and its documents, one below the other."""


class Poisoned:
    """A knowledge of which all that is found is hostile in all its parts."""

    def __init__(self) -> None:
        self.said: list[str] = []

    async def search(self, question: str, *, within: float, limit: int | None = None, **_: object) -> SearchHits:
        found = []
        for n, said in enumerate(self.said):
            text = f"{said}\n\n{PASSAGE.text}"
            found.append(
                msgspec.structs.replace(
                    PASSAGE,
                    id=f"{n}",
                    source=said,
                    title=said,
                    heading=f"{said} > {said}",
                    text=text,
                    start=0,
                    end=len(text),
                )
            )
        return SearchHits(tuple(found))


def read_texts(said: Any) -> list[str]:
    """All that an outcome says in words, for whoever shows it as Markdown."""
    resolution = said["outcome"].get("resolution") or {}
    return [resolution.get("text", ""), said["outcome"].get("detail", ""), said["outcome"].get("summary", "")]


@pytest.mark.parametrize("model", [families.extractive(), Thinks()], ids=["rules", "a model"])
async def test_an_answer_renders_as_words(tmp_path: Path, model: Model) -> None:
    answered = 0
    async with interface(tmp_path, model=model) as web:
        knows = Poisoned()
        web.node.knowledge = cast("Any", knows)
        for at in range(0, len(ATTACKS), AT_ONCE):
            knows.said = list(ATTACKS[at : at + AT_ONCE])
            text = "\n\n".join(("My VPN drops every hour.", *knows.said, "Why does the VPN drop every hour?"))
            await web.submit(text, id=f"T-{at}", subject=knows.said[0], wait=20)
            _, said = await web.ask("GET", f"/tickets/T-{at}")
            answered += said["outcome"]["status"] in {"resolved", "suggested"}
            for each in read_texts(said):
                for program, render in RENDERERS.items():
                    assert not list(find_dangers(str(render(each)))), (program, each)
    assert answered > 3, "else there was nothing to see"
