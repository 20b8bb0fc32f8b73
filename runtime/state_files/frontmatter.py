"""The frontmatter of the state file: what is ordered and how far it is, and the checksum over the whole file."""

import functools
import hashlib
import re
from typing import Any

import msgspec

from actors.research.models import ResearchOptions
from runtime.state_files.markdown_escape import LIVE, clean
from runtime.state_files.parser import Unreadable
from runtime.state_files.project import Project, Status

FENCE = "---"
HEAD_CHARACTERS = 2_000_000
"""The question is the largest thing in it."""
DEEPEST = 2
"""A mapping with lists in it."""
_CHECKSUM = re.compile(r"^checksum: ([0-9a-f]{64})\n", re.MULTILINE)


class Head(msgspec.Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """The keys of the frontmatter, in their order."""

    project_id: str
    title: str
    status: Status
    progress: int = 0
    progress_message: str = ""
    created_at: str
    updated_at: str
    workflow: str = "research"
    run: str = ""
    question: str
    breadth: int = ResearchOptions().breadth
    depth: int = ResearchOptions().depth
    round: int = 1
    rounds: int = 1
    """The deepest that was begun."""
    direction: str = ""
    """What this round explores."""
    sources: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    is_complete: bool = False


def head_of(project: Project) -> Head:
    case, brief = project.case, project.case.brief
    return Head(
        project_id=project.id, title=project.title, status=project.status, progress=project.progress,
        progress_message=project.message, created_at=project.created, updated_at=project.updated, run=project.run,
        question=case.text, rounds=case.rounds, is_complete=case.is_complete, **msgspec.structs.asdict(brief),
    )  # fmt: skip


def brief_of(head: Head) -> ResearchOptions:
    return ResearchOptions(**{name: getattr(head, name) for name in ResearchOptions.__struct_fields__})


def join(head: Head, body: str) -> str:
    """A whole file, with the checksum of all the rest as the last key of its frontmatter."""
    import yaml  # type: ignore[import-untyped]  # only who writes or reads such a file needs it

    plain = {name: _plain(value) for name, value in msgspec.to_builtins(head).items()}
    text = yaml.dump(plain, Dumper=_dumper(), sort_keys=False, allow_unicode=True, width=10**9)
    text = LIVE.sub(lambda found: f"\\x{ord(found[0]):02X}", text)  # all of it stands in quotes
    begun = f"{FENCE}\n{text}"
    rest = f"{FENCE}\n\n{body}"
    return f"{begun}checksum: {_digest(begun + rest)}\n{rest}"


class _Quoted(str):
    """A text that a viewer which knows no frontmatter would take for more than text."""

    __slots__ = ()


@functools.cache
def _dumper() -> Any:
    import yaml

    class Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc] # the quick one, where there is one
        """Writes such texts in quotes, in which what is live can be written as an escape."""

    def quote(dumper: Any, text: str) -> Any:
        return dumper.represent_scalar("tag:yaml.org,2002:str", str(text), style='"')

    Dumper.add_representer(_Quoted, quote)
    return Dumper


def split(text: str) -> tuple[Head, list[str], bool]:
    """
    The frontmatter, all lines of the file, those of the frontmatter blank, and whether the checksum fits.

    :raises Unreadable: the frontmatter is not what Terminus writes.
    """
    sound = is_sound(text)
    lines = text.removeprefix("\ufeff").split("\n")
    if lines[0] == f"{FENCE}\r":  # an editor turned the line ends
        lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    if lines[0] != FENCE:
        raise Unreadable(1, f"the file must begin with {FENCE} and its frontmatter.")
    try:
        end = lines.index(FENCE, 1)
    except ValueError:
        raise Unreadable(1, f"the frontmatter that begins here has no end. Put {FENCE} below it.") from None
    head = _parsed("\n".join(lines[1:end]))
    return head, [""] * (end + 1) + lines[end + 1 :], sound


def is_sound(text: str) -> bool:
    """Whether this is, to the letter, a file that Terminus wrote."""
    found = _CHECKSUM.search(text, 0, HEAD_CHARACTERS)
    return found is not None and _digest(text[: found.start()] + text[found.end() :]) == found[1]


def _parsed(text: str) -> Head:
    import yaml

    if len(text) > HEAD_CHARACTERS:
        raise Unreadable(2, f"the frontmatter has over {HEAD_CHARACTERS} characters.")
    # Nothing but text, lists and a mapping is made of it; what each text means says `Head`.
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        _check(yaml.parse(text, Loader=loader))
        values = yaml.load(text, Loader=loader)  # noqa: S506 - the base loader makes no objects
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        what = getattr(error, "problem", None) or "this is not YAML"
        raise Unreadable(2 + (mark.line if mark else 0), f"the frontmatter is not valid YAML: {what}.") from None
    if not isinstance(values, dict):
        raise Unreadable(2, "the frontmatter must be lines such as `title: ...`.")
    values.pop("checksum", None)
    try:
        return msgspec.convert(values, Head, strict=False)
    except msgspec.ValidationError as error:
        raise Unreadable(2, f"the frontmatter says something else than it should: {error}.") from None


def _check(events: Any) -> None:
    import yaml

    depth = 0
    for event in events:
        line = 2 + event.start_mark.line
        if isinstance(event, yaml.AliasEvent):
            raise Unreadable(line, "the frontmatter refers to another part of itself. Write it out.")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise Unreadable(line, "the frontmatter is nested too deeply.")


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if not isinstance(value, str):
        return value
    text = clean(value)
    return _Quoted(text) if LIVE.search(text) else text


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
