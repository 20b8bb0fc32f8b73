"""Turns what was typed, piped or named into answers, or asks each question on the terminal."""

import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from actors.workflow.user_input import Question
from runtime.cli.ticket_input import Wanted, read_answer, read_file
from runtime.cli.view.printing import Line, write
from runtime.cli.view.question_lines import describe_form
from runtime.service_error import ServiceError
from runtime.user_text import display, safe

ANSWERS = Wanted("answers", "the answer", "answer ID --text -", "Write what you know of what was asked.")
FILE_SUFFIXES = (".toml", ".json")


def read_answers(
    pairs: Sequence[str], file: str | None, text: str | None, kilobytes: int
) -> tuple[dict[str, str], str]:
    """
    Answers by name, and what was said in free words.

    :param pairs: each `name=value`; they win over those of the file.
    :raises ServiceError: with a sentence that names the place.
    """
    given = {} if file is None else _read_table(file, kilobytes)
    seen: set[str] = set()
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise ServiceError(f"--set takes name=value, not {display(pair)}.")
        if name.strip() in seen:
            raise ServiceError(f"--set answers {display(name.strip())} twice. Give it once.")
        seen.add(name.strip())
        given[name.strip()] = value
    return given, "" if text is None else read_answer(text, kilobytes, wanted=ANSWERS)


def _read_table(name: str, kilobytes: int) -> dict[str, str]:
    """The answers in a TOML or JSON file."""
    place, suffix = safe(name), Path(name).suffix.lower()
    if suffix not in FILE_SUFFIXES:
        raise ServiceError(f"--file takes {' or '.join(FILE_SUFFIXES)}, not {place}.")
    text = read_file(Path(name), kilobytes, ANSWERS)
    try:
        table = tomllib.loads(text) if suffix == ".toml" else msgspec.json.decode(text)
    except (tomllib.TOMLDecodeError, msgspec.DecodeError) as error:
        raise ServiceError(f"{place} is not valid {suffix[1:].upper()}: {safe(str(error))}. Mend it.") from None
    except RecursionError:
        raise ServiceError(f"{place} is nested too deeply. Give each answer as one value.") from None
    if not isinstance(table, dict):
        raise ServiceError(f'{place} must be an object such as {{"name": "value"}}.')
    return {str(key): _write_out(str(key), value, place) for key, value in table.items()}


def _write_out(name: str, value: object, place: str) -> str:
    if isinstance(value, dict | list):
        raise ServiceError(f"{place}: {display(name)} must be one value, not several.")
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def ask_each(questions: Sequence[Question], given: Mapping[str, str], language: str) -> dict[str, str]:
    """
    Ask on the terminal what was not given, one question after the other.

    :raises ServiceError: the terminal was closed before the last answer.
    """
    answers, left = dict(given), [each for each in questions if not given.get(each.name, "").strip()]
    for number, each in enumerate(left, 1):
        lines = [Line(f"{number}/{len(left)}  {each.ask}", "strong")]
        if hint := describe_form(each, language):
            lines.append(Line(hint, "faint", 2))
        lines += [Line(f"{n}  {choice}", "", 2) for n, choice in enumerate(each.choices, 1)]
        write(lines, sys.stderr)
        answers[each.name] = _ask(each)
    return answers


def _ask(question: Question) -> str:
    """One answer; what must be answered is asked until it is, and a choice until it is one."""
    while True:
        print("> ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        if not line:
            raise ServiceError("Nothing was answered; the ticket waits as before.", "cancelled")
        answer = line.strip()
        if answer.isdigit() and 1 <= int(answer) <= len(question.choices):
            return question.choices[int(answer) - 1]
        if answer and (not question.choices or answer.casefold() in map(str.casefold, question.choices)):
            return answer
        if not answer and question.optional:
            return ""
