"""Reads the Markdown file of one agent, and refuses what is wrong in it with file and line."""

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

from actors.roster import HELPDESK, OUTWEIGHS, AgentSpec, Intent
from actors.text.safe_patterns import find_problem
from runtime.front_matter import FIRST_LINE, InvalidFrontMatter, compose, line_of, plain, split
from runtime.settings import ConfigError
from runtime.tools.tool_registry import list_names
from runtime.user_text import display, nearest

T = TypeVar("T", bound=msgspec.Struct)

FILE_BYTES = 65_536
BODY_CHARACTERS = 20_000
"""A system prompt is sent with every question; 20,000 characters are some 5,000 tokens."""
SEPARATOR = ";"
"""Between key words: a comma is part of some regular expressions."""
MOST_DEPTH = 5
"""The keys need four: intents, one of them, its words."""

Name = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
Line = Annotated[str, Meta(min_length=1, max_length=500)]
Language = Annotated[str, Meta(pattern=r"^[a-z]{2}$")]

MUST_BE = {
    "name": "a name of small letters, digits and _, such as printing",
    "hands_over_to": "a list of agents, such as [worker]",
    "family": "the name of a workflow, such as helpdesk",
    "tools": "a list of tools, such as [search_knowledge]",
    "intents": "names of small letters, each with `means` and `words` below it",
    "weight": "a whole number from 1 to 10",
    "words": "key words by language, such as `en: printer; toner`",
    "limits": "`seconds` and `retries` below it",
    "seconds": "a number from 0.1 to 600",
    "retries": "a whole number from 0 to 10",
}
"""What a key must be, where it is more than a text of 1 to 500 characters."""


class AgentFileError(ConfigError):
    """The file of an agent cannot be used. One sentence: where, what, and what is allowed."""

    def __init__(self, file: Path | str, line: int, sentence: str) -> None:
        super().__init__(f"{file}, line {line}: {sentence}")


class IntentTable(msgspec.Struct, frozen=True, kw_only=True):
    means: Line
    words: Annotated[dict[Language, str], Meta(min_length=1)] | msgspec.UnsetType = msgspec.UNSET
    weight: Annotated[int, Meta(ge=1, le=10)] = OUTWEIGHS


class LimitsTable(msgspec.Struct, frozen=True, kw_only=True):
    seconds: Annotated[float, Meta(ge=0.1, le=600.0)] = 0.0
    retries: Annotated[int, Meta(ge=0, le=10)] = -1


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """The frontmatter of an agent's file."""

    name: Name
    description: Line
    family: Name = HELPDESK
    handles: Annotated[str, Meta(max_length=500)] = ""
    intents: dict[Name, IntentTable] = {}
    tools: tuple[Line, ...] = ()
    model: Annotated[str, Meta(max_length=200)] = ""
    limits: LimitsTable = LimitsTable()
    hands_over_to: tuple[Line, ...] | None = None


class AgentFile:
    """The file of one agent: what it declares, and in which line each of its keys stands."""

    def __init__(self, file: Path, tools: Collection[str] | None = None) -> None:
        """
        :param tools: those that there are; None: those that ship.
        :raises AgentFileError: it declares no agent.
        """
        tools = list_names() if tools is None else tools
        self.file = file
        try:
            head, lines = split(_read(file))
            self._root = compose(head, "name: printing", deepest=MOST_DEPTH)
        except InvalidFrontMatter as error:
            raise AgentFileError(file, error.line, error.sentence) from None
        body = "\n".join(lines).strip()
        table = self._read_table(self._root, Head, ())
        if len(body) > BODY_CHARACTERS:
            long = f"the text has {len(body):,} characters, and may have {BODY_CHARACTERS:,}. Shorten it."
            raise AgentFileError(file, head.count("\n") + 4, long)
        for tool in table.tools:
            if tool not in tools:
                raise self.refuse(f"there is no tool {display(tool)}. {nearest(tool, tools)}", "tools")
        self.spec = AgentSpec(
            name=table.name, description=table.description, family=table.family, handles=table.handles,
            tools=table.tools, model=table.model,
            intents=tuple(_make_intent(table.name, *each) for each in table.intents.items()),
            seconds=table.limits.seconds, retries=table.limits.retries, hands_over_to=table.hands_over_to,
            instructions=body, file=str(file),
        )  # fmt: skip

    def refuse(self, sentence: str, *keys: str) -> AgentFileError:
        """The error for what stands under these keys, one below the other."""
        node, line = self._root, FIRST_LINE
        for key in keys:
            for name, below in node.value if node.id == "mapping" else ():
                if name.value == key:
                    node, line = below, line_of(name)
        return AgentFileError(self.file, line, sentence)

    def _read_table(self, node: Any, shape: type[T], path: tuple[str, ...]) -> T:
        """The keys below one key as a struct."""
        fields = {each.name: each for each in msgspec.structs.fields(shape)}
        values = {}
        for key, below in self._read_keys(node, path).items():
            if key not in fields:
                raise self.refuse(f"there is no key {display(key)}. {nearest(key, fields)}", *path, key)
            values[key] = self._read_value(below, fields[key].type, (*path, key))
        for name, field in fields.items():
            if field.required and name not in values:
                raise self.refuse(f"the key `{name}` is missing.", *path)
        return shape(**values)

    def _read_value(self, node: Any, kind: Any, path: tuple[str, ...]) -> Any:
        match path:
            case ("limits",):
                return self._read_table(node, LimitsTable, path)
            case ("intents",):
                names = self._read_keys(node, path)
                self._convert(dict.fromkeys(names, ""), dict[Name, str], path)
                return {name: self._read_table(each, IntentTable, (*path, name)) for name, each in names.items()}
            case _:
                return self._convert(plain(node), kind, path)

    def _convert(self, value: Any, kind: Any, path: tuple[str, ...]) -> Any:
        try:
            return msgspec.convert(value, kind, strict=False)
        except msgspec.ValidationError:
            what = MUST_BE.get(path[-1], "a text of 1 to 500 characters")
            raise self.refuse(f"`{path[-1]}` must be {what}.", *path) from None

    def _read_keys(self, node: Any, path: tuple[str, ...]) -> Mapping[str, Any]:
        if node.id != "mapping":
            what = f"`{path[-1]}` must be {MUST_BE.get(path[-1], 'keys')}" if path else "keys must stand here"
            raise self.refuse(f"{what}, each on a line of its own.", *path)
        keys: dict[str, Any] = {}
        for key, below in node.value:
            if key.id != "scalar":
                raise AgentFileError(self.file, line_of(key), "a key must be a name.")
            if key.value in keys:
                raise AgentFileError(self.file, line_of(key), f"{display(key.value)} is given twice.")
            keys[str(key.value)] = below
        return keys

    def check_words(self) -> None:
        """:raises AgentFileError: a key word is none. Compiling them takes a while, and those that ship are sound."""
        for intent in self.spec.intents:
            for language, its in intent.words.items():
                for word in its:
                    if problem := find_problem(word):
                        sentence = f"the key word {display(word)} {problem}."
                        raise self.refuse(sentence, "intents", intent.name, "words", language)
            try:
                _ = intent.pattern
            except re.error as error:
                sentence = f"its key words do not fit together ({error.msg})."
                raise self.refuse(sentence, "intents", intent.name, "words") from None


def _make_intent(agent: str, name: str, table: IntentTable) -> Intent:
    given = {} if table.words is msgspec.UNSET else table.words
    words = {language: tuple(each.strip() for each in its.split(SEPARATOR)) for language, its in given.items()}
    return Intent(name, table.means, words, table.weight, agent)


def _read(file: Path) -> str:
    try:
        if not file.is_file() and file.exists():  # who opens a pipe waits for ever
            raise ConfigError(f"The agent's file {file} cannot be read (it is not a file).")
        with file.open("rb") as stream:
            content = stream.read(FILE_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"The agent's file {file} cannot be read ({error.strerror}).") from None
    if len(content) > FILE_BYTES:
        raise ConfigError(f"The agent's file {file} is over {FILE_BYTES // 1024} KB. Shorten it.")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise AgentFileError(file, line, "this is not UTF-8 text. Save the file as UTF-8.") from None
