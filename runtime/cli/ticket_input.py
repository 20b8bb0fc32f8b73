"""
Turns what was typed, piped or named into one ticket, or into the answers to its questions, or into
a sentence that says why not.
"""

import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import msgspec

from actors.workflow.outcome import Question
from runtime.cli.view.printing import Line, write
from runtime.cli.view.result import describe_form
from runtime.program import command
from runtime.service_error import ServiceError
from runtime.tickets import Ticket, too_large, validate
from runtime.user_text import display, safe

FILE_SUFFIXES = (".md", ".markdown", ".txt", ".json")
TEXT_KEYS = ("text", "body", "description")
SUBJECT_KEYS = ("subject", "title")
BINARY_SHARE = 0.05
"""A file with more control characters than this is no text."""


class Wanted(NamedTuple):
    """What is read, for sentences that say why not."""

    name: str
    text: str
    """The text that may be given in quotes instead."""
    pipe: str
    """The words of the command that takes it from stdin."""
    remedy: str = ""
    """What to do when there is nothing in it."""


TICKET = Wanted("a ticket", "the ticket's text", "submit -")
ANSWER = Wanted("an answer", "the answer", "feedback ID --answer -", "Write what solved the ticket.")


class Read(NamedTuple):
    """A ticket, and where it was read."""

    place: str
    """A file, `stdin`, or nothing when the text itself was typed."""
    ticket: Ticket


def read_all(words: list[str], kilobytes: int) -> list[Read]:
    """
    The tickets that the words on the command line mean: one for each file, or one in all.

    :param kilobytes: how large a ticket may be.
    :raises ServiceError: with a sentence that names the place.
    """
    if len(words) > 1 and _are_files(words):
        tickets = [Read(word, read([word], kilobytes)) for word in words]
        _refuse_twice(tickets)
        return tickets
    place = words[0] if len(words) == 1 and _path(words[0]) is not None else ""
    return [Read(place, read(words, kilobytes))]


def _are_files(words: list[str]) -> bool:
    """Whether several words name files. Words that are none are a text, as long as none of them is one."""
    there = [word for word in words if _is_file(word)]
    missing = next((word for word in words if word not in there), None)
    if missing is None or all(_looks_like_file(word) for word in words):
        if missing is not None:
            _file(Path(missing), 0)
        return True
    if there:
        what = "is a folder" if Path(missing).is_dir() else "does not exist"
        raise ServiceError(
            f"{safe(there[0])} is a file, but {safe(missing)} {what}: "
            "name only files, or put the ticket's text in quotes."
        )
    return False


def _is_file(word: str) -> bool:
    try:
        return Path(word).is_file()
    except (OSError, ValueError):  # such as a name longer than the file system takes
        return False


def _refuse_twice(tickets: list[Read]) -> None:
    """Two tickets of the same id would be one run."""
    seen: dict[str, str] = {}
    for place, ticket in tickets:
        if ticket.id and ticket.id in seen:
            raise ServiceError(
                f"{safe(seen[ticket.id])} and {safe(place)} have the same id {display(ticket.id)}. Give each its own."
            )
        seen[ticket.id] = place


def read(words: list[str], kilobytes: int, stdin: BinaryIO | None = None) -> Ticket:
    """
    The ticket that the words on the command line mean: `-`, a file, or the text itself.

    :param kilobytes: how large a ticket may be.
    :raises ServiceError: with a sentence that names the place.
    """
    most = kilobytes * 1024
    if not words:
        raise ServiceError(
            'What is the ticket? Give its text in quotes, a Markdown, text or JSON file, or "-" for stdin.'
        )
    if words == ["-"]:
        return parse(_decode(_stdin(most, stdin), "stdin", kilobytes), "stdin")
    if len(words) == 1 and (path := _path(words[0])) is not None:
        return parse(_decode(_file(path, most), safe(str(path)), kilobytes), safe(str(path)), path.suffix.lower())
    typed = " ".join(words).encode("utf-8", "surrogateescape")  # what is no UTF-8 is refused like a file's
    return validate(Ticket(text=_decode(typed, "The ticket", kilobytes)), "The ticket")


def read_answer(word: str, kilobytes: int, stdin: BinaryIO | None = None, wanted: Wanted = ANSWER) -> str:
    """
    The answer that an argument means: `-`, a file, or the text itself.

    :param kilobytes: how large an answer may be.
    :raises ServiceError: with a sentence that names the place.
    """
    most = kilobytes * 1024
    if word == "-":
        text, place = _decode(_stdin(most, stdin, wanted), "stdin", kilobytes), "stdin"
    elif (path := _path(word)) is not None:
        place = safe(str(path))
        text = read_file(path, kilobytes, wanted)
    else:
        text, place = _decode(word.encode("utf-8", "surrogateescape"), "The answer", kilobytes), "The answer"
    if not text.strip():
        raise ServiceError(f"{place} is empty. {wanted.remedy}")
    return text.strip()


def read_file(path: Path, kilobytes: int, wanted: Wanted) -> str:
    """
    The text of a file that is not too large.

    :raises ServiceError: with a sentence that names the file.
    """
    return _decode(_file(path, kilobytes * 1024, wanted), safe(str(path)), kilobytes)


def parse(text: str, place: str, suffix: str = "") -> Ticket:
    """A ticket from the text of a file: JSON, Markdown with front matter, or plain text."""
    if suffix == ".json" or (not suffix and text.lstrip().startswith("{")):
        return validate(_from_json(text, place), place)
    if suffix != ".txt" and text.startswith("---"):
        return validate(_from_front_matter(text, place), place)
    return validate(Ticket(text=text), place)


def _path(word: str) -> Path | None:
    """The file that a single argument names, or would name if it were there."""
    if not word.strip() or "\n" in word or len(word) > 4096 or "\0" in word:
        return None
    path = Path(word)
    try:
        there = path.exists()
    except OSError:  # such as a name longer than the file system takes: then it is a text
        there = False
    return path if there or _looks_like_file(word) else None


def _looks_like_file(word: str) -> bool:
    """Whether it looks like the name of a file."""
    return word.lower().endswith(FILE_SUFFIXES) and " " not in word.strip()


def _file(path: Path, most: int, wanted: Wanted = TICKET) -> bytes:
    name = safe(str(path))
    if path.is_dir():
        raise ServiceError(f"{name} is a folder, not {wanted.name}. Name a file in it, or put {wanted.text} in quotes.")
    try:
        if not path.is_file():
            if path.exists():
                raise ServiceError(f"{name} is not a regular file. Pipe it instead: {command(wanted.pipe)} < {name}.")
            raise ServiceError(f"There is no file {name}. Check the name, or put {wanted.text} in quotes.")
        with path.open("rb") as stream:
            return stream.read(most + 1)
    except OSError as error:
        raise ServiceError(f"{name} cannot be read: {error.strerror}. Check its permissions.") from None


def _stdin(most: int, stdin: BinaryIO | None, wanted: Wanted = TICKET) -> bytes:
    if stdin is None and sys.stdin is None:  # so Python calls one that was closed before it began
        raise ServiceError(f"There is no stdin to read {wanted.name} from. Pipe it in, or put its text in quotes.")
    return (stdin or sys.stdin.buffer).read(most + 1)


def _decode(content: bytes, place: str, kilobytes: int) -> str:
    if len(content) > kilobytes * 1024:
        raise too_large(place, kilobytes)
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ServiceError(f"{place} is UTF-16 text. Save it as UTF-8.")
    controls = sum(content.count(bytes([code])) for code in (*range(9), *range(14, 27), *range(28, 32)))
    if b"\0" in content or controls > len(content) * BINARY_SHARE:
        raise ServiceError(f"{place} is not text but binary data. Give the ticket as text, Markdown or JSON.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ServiceError(
            f"{place} is not UTF-8 text: line {line} holds the byte 0x{content[error.start]:02x}. Save it as UTF-8."
        ) from None


def _from_json(text: str, place: str) -> Ticket:
    try:
        data = msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise ServiceError(f"{place} is not valid JSON: {error}. Mend it, or give plain text.") from None
    except RecursionError:
        raise ServiceError(f"{place} is JSON nested too deeply. Give an object with a text.") from None
    if isinstance(data, str):
        return Ticket(text=data)
    if not isinstance(data, dict):
        raise ServiceError(f'{place} must be a JSON object such as {{"subject": "VPN", "text": "My VPN ..."}}.')
    if not any(key in data for key in (*TEXT_KEYS, *SUBJECT_KEYS)):
        raise ServiceError(f'{place} has none of the keys {", ".join(TEXT_KEYS)}. Put what is wrong under "text".')
    return _make_ticket(data, "", place)


def _from_front_matter(text: str, place: str) -> Ticket:
    import yaml  # type: ignore[import-untyped]  # only such a file needs it
    from frontmatter.default_handlers import YAMLHandler

    handler = YAMLHandler()
    try:
        head, body = handler.split(text)
    except ValueError:
        return Ticket(text=text)  # a rule above the text, not front matter
    try:
        data = handler.load(head, Loader=yaml.BaseLoader)  # every value as it is written: an id 007 stays one
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = "" if mark is None else f", line {mark.line + 1}"
        raise ServiceError(f"{place}{line}: the front matter is not valid YAML. Mend it, or leave it out.") from None
    except RecursionError:
        raise ServiceError(f"{place}: the front matter is nested too deeply. Leave it out.") from None
    if data in (None, ""):
        return Ticket(text=body)
    if not isinstance(data, dict):
        raise ServiceError(f"{place}: the front matter must be keys with values, such as `subject: VPN`.")
    return _make_ticket(data, body, place)


def _make_ticket(data: dict[str, Any], body: str, place: str) -> Ticket:
    """A ticket from keys; others than ours are not our business."""
    return Ticket(
        text=body or _first(data, TEXT_KEYS, place),
        id=_first(data, ("id",), place),
        subject=_first(data, SUBJECT_KEYS, place),
        requester=_first(data, ("requester",), place),
    )


def _first(data: dict[str, Any], names: tuple[str, ...], place: str) -> str:
    for name in names:
        value = data.get(name)
        if value is None:
            continue
        if isinstance(value, dict | list):  # never printed: a few lines of YAML unfold to gigabytes
            kind = "a list" if isinstance(value, list) else "keys with values"
            raise ServiceError(f"{place}: {name} must be a text, not {kind}.")
        return str(value)
    return ""


ANSWERS = Wanted("answers", "the answer", "answer ID --text -", "Write what you know of what was asked.")
ANSWER_SUFFIXES = (".toml", ".json")


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
    if suffix not in ANSWER_SUFFIXES:
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
