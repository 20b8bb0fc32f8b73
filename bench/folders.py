"""
Questions to small folders of a few short documents, as a newcomer's first ones, with and without meaning.

    python -m bench.folders [--show] [--words]

Folders and questions are ours: `bench/small/NAME/*.md` and `bench/small/NAME.jsonl`. A question without pages has no
answer there; `near` in its id: it is about something next to what the documents speak of, `off`: about anything else.
"""

import argparse
import asyncio
import tempfile
from collections.abc import Iterable
from pathlib import Path

from bench.manual import Answer, Set, measure_sets, show_answers

FOLDERS = Path(__file__).parent / "small"


def count_outcomes(sets: list[Set]) -> dict[str, str]:
    """What came of the questions of all folders: `count of all`, by what was expected."""
    answers = [each for one in sets for each in one.answers]
    asked = [each for each in answers if each.question.pages]
    idle = [each for each in answers if not each.question.pages]
    near, off = ([each for each in idle if f"-{kind}-" in each.question.id] for kind in ("near", "off"))
    return {
        "answerable, not found": _count((each.closeness == "far" for each in asked), asked),
        "answerable, right place first": _count((_is_first(each) for each in asked), asked),
        "answerable, sure": _count((each.closeness == "sure" for each in asked), asked),
        "answerable, sure of a wrong place": _count(
            (each.closeness == "sure" and not _is_first(each) for each in asked), asked
        ),
        "no answer, but sure": _count((each.closeness == "sure" for each in idle), idle),
        "no answer, near: places": _count((each.closeness != "far" for each in near), near),
        "no answer, off topic: places": _count((each.closeness != "far" for each in off), off),
    }


def _is_first(answer: Answer) -> bool:
    return any(page in answer.question.pages for page in answer.pages[0][:1])


def _count(outcomes: Iterable[bool], of: list[Answer]) -> str:
    return f"{sum(outcomes)} of {len(of)}"


async def _ask_all(*, meaning: bool) -> list[Set]:
    """Each folder has an index of its own."""
    sets = list[Set]()
    for file in sorted(FOLDERS.glob("*.jsonl")):
        with tempfile.TemporaryDirectory() as storage:
            sets += (await measure_sets(file.with_suffix(""), [file], Path(storage), meaning=meaning))[1]
    return sets


def main() -> None:
    parser = argparse.ArgumentParser(description="Questions to small folders, with and without meaning.")
    parser.add_argument("--words", action="store_true", help="without meaning only")
    parser.add_argument("--show", action="store_true", help="print each question with its answer")
    options = parser.parse_args()
    columns = dict[str, dict[str, str]]()
    for name, meaning in (("words", False), ("meaning", True))[: 1 if options.words else 2]:
        sets = asyncio.run(_ask_all(meaning=meaning))
        columns[name] = count_outcomes(sets)
        if options.show:
            print(f"\n##### {name}")
            show_answers(sets)
    print(f"{'':36}" + "".join(f"{name:>12}" for name in columns))
    for row in columns["words"]:
        print(f"{row:36}" + "".join(f"{column[row]:>12}" for column in columns.values()))


if __name__ == "__main__":
    main()
