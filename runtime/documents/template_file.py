"""Reads the Markdown file of one template, and refuses what is wrong in it with file and line."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta

from actors.documents.template import Field, Template
from actors.documents.template_body import InvalidBody, check_body
from actors.text.safe_patterns import find_problem
from runtime.front_matter import FIRST_LINE, InvalidFrontMatter, compose, line_of, plain, split
from runtime.settings import ConfigError
from runtime.user_text import display, nearest

T = TypeVar("T", bound=msgspec.Struct)

FILE_BYTES = 65_536
MOST_FIELDS = 40
MOST_DEPTH = 5
"""The keys need four: fields, one of them, its labels."""

Name = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]{0,47}$")]
Line = Annotated[str, Meta(min_length=1, max_length=300)]
Lines = Annotated[tuple[Line, ...], Meta(max_length=20)]

MUST_BE = {
    "name": "a name of small letters, digits and _, such as loan_agreement",
    "language": "a code of two letters, such as zh",
    "kind": "text, date, money, party or choice of a field, and a word such as contract of the template",
    "required": "true or false",
    "story": "true or false",
    "names": "a list of up to 20 names, such as [Lease]",
    "labels": "a list of up to 20 words, such as [Plaintiff]",
    "phrases": "a list of up to 20 texts, such as [My name is {}]",
    "choices": "a list of up to 20 texts, such as [male, female]",
}
"""What a key must be, where it is more than a text of 1 to 300 characters."""


class TemplateFileError(ConfigError):
    """The file of a template cannot be used. One sentence: where, what, and what is allowed."""

    def __init__(self, file: Path | str, line: int, sentence: str) -> None:
        super().__init__(f"{file}, line {line}: {sentence}")


class _Head(msgspec.Struct, frozen=True, kw_only=True):
    name: Name
    title: Line
    names: Lines = ()
    heading: str = ""
    kind: Line
    language: Annotated[str, Meta(pattern=r"^[a-z]{2}$")]
    jurisdiction: Annotated[str, Meta(max_length=60)] = ""


class _FieldTable(msgspec.Struct, frozen=True, kw_only=True):
    name: Name
    ask: Line
    kind: Literal["text", "date", "money", "party", "choice"] = "text"
    required: bool = True
    labels: Lines = ()
    phrases: Lines = ()
    story: bool = False
    choices: Lines = ()
    pattern: Annotated[str, Meta(max_length=300)] = ""
    example: Annotated[str, Meta(max_length=200)] = ""


def read_template(file: Path) -> Template:
    """
    The template in a file.

    :raises TemplateFileError: it declares none.
    :raises ConfigError: it cannot be read.
    """
    try:
        head, lines = split(_read_text(file))
        root = compose(head, "name: loan_agreement", deepest=MOST_DEPTH)
    except InvalidFrontMatter as error:
        raise TemplateFileError(file, error.line, error.sentence) from None
    reader = _Reader(file)
    keys = reader.read_keys(root)
    given = keys.pop("fields", None)
    table = reader.read_table(root, keys, _Head)
    fields = _read_fields(reader, root, given)
    names = [each.name for each in fields]
    if table.heading not in {"", *names}:
        raise reader.refuse(
            keys["heading"], f"there is no field {display(table.heading)}. {nearest(table.heading, names)}"
        )
    above = next((n for n, line in enumerate(lines) if line.strip()), len(lines))
    try:
        body = "\n".join(lines[above:]).strip() + "\n"
        used = check_body(body, names) | {table.heading}
    except InvalidBody as error:
        raise TemplateFileError(file, above + error.line, error.sentence) from None
    for place, each in enumerate(fields):
        if each.name not in used:
            node = given.value[place]
            raise reader.refuse(node, f"the field {display(each.name)} stands nowhere in the text. Use it or drop it.")
    values = {name: getattr(table, name) for name in table.__struct_fields__}
    return Template(**values, fields=tuple(fields), body=body)


class _Reader:
    """Reads keys of one file, and says in which line one is wrong."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def refuse(self, node: Any, sentence: str) -> TemplateFileError:
        return TemplateFileError(self._file, line_of(node) if node is not None else FIRST_LINE, sentence)

    def read_keys(self, node: Any) -> dict[str, Any]:
        """The nodes of the values, by their keys."""
        if node.id != "mapping":
            raise self.refuse(node, "keys must stand here, each on a line of its own.")
        keys: dict[str, Any] = {}
        for key, below in node.value:
            if key.id != "scalar":
                raise self.refuse(key, "a key must be a name.")
            if key.value in keys:
                raise self.refuse(key, f"{display(key.value)} is given twice.")
            keys[str(key.value)] = below
        return keys

    def read_table(self, node: Any, keys: Mapping[str, Any], shape: type[T]) -> T:
        known = {each.name: each for each in msgspec.structs.fields(shape)}
        values = {}
        for name, below in keys.items():
            if name not in known:
                raise self.refuse(below, f"there is no key {display(name)}. {nearest(name, known)}")
            try:
                values[name] = msgspec.convert(plain(below), known[name].type, strict=False)
            except msgspec.ValidationError:
                what = MUST_BE.get(name, "a text of 1 to 300 characters")
                raise self.refuse(below, f"`{name}` must be {what}.") from None
        for name, field in known.items():
            if field.required and name not in values:
                raise self.refuse(node, f"the key `{name}` is missing.")
        return shape(**values)


def _read_fields(reader: _Reader, root: Any, node: Any) -> list[Field]:
    if node is None or node.id != "sequence" or not node.value:
        raise reader.refuse(node or root, "`fields` must be a list, each with `name` and `ask`.")
    if len(node.value) > MOST_FIELDS:
        raise reader.refuse(node, f"there are {len(node.value)} fields, and may be {MOST_FIELDS}. Take some out.")
    fields: list[Field] = []
    for each in node.value:
        table = reader.read_table(each, reader.read_keys(each), _FieldTable)
        if any(table.name == other.name for other in fields):
            raise reader.refuse(each, f"the field {display(table.name)} is there twice.")
        if (table.kind == "choice") != bool(table.choices):
            raise reader.refuse(each, "`choices` belong to a field of the kind `choice`, and to no other.")
        if any(not re.fullmatch(r"[^{}]+\{[^{}]*\}[^{}]*", phrase) for phrase in table.phrases):
            raise reader.refuse(each, "`phrases` are words before a value and its place, such as `My name is {}`.")
        if table.pattern and (problem := find_problem(table.pattern)):
            raise reader.refuse(each, f"the pattern {display(table.pattern)} {problem}.")
        fields.append(Field(**{name: getattr(table, name) for name in table.__struct_fields__}))
    return fields


def _read_text(file: Path) -> str:
    try:
        if not file.is_file() and file.exists():  # who opens a pipe waits for ever
            raise ConfigError(f"The template {file} cannot be read (it is not a file).")
        with file.open("rb") as stream:
            content = stream.read(FILE_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"The template {file} cannot be read ({error.strerror}).") from None
    if len(content) > FILE_BYTES:
        raise ConfigError(f"The template {file} is over {FILE_BYTES // 1024} KB. Shorten it.")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise TemplateFileError(file, line, "this is not UTF-8 text. Save it as UTF-8.") from None
