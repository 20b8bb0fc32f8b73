"""The frontmatter of a state file, and the checksum over the whole file."""

import functools
import hashlib
import re
from typing import Any

import msgspec

from runtime import front_matter
from runtime.front_matter import FENCE
from runtime.state_files.parser import LIVE, Unreadable, clean

HEAD_CHARACTERS = 2_000_000
"""The question is the largest thing in it."""
ID = "projectId"
"""The key that says whose file it is."""
DEEPEST = 2
"""A mapping with lists in it."""
_CHECKSUM = re.compile(r"^checksum: ([0-9a-f]{64})\n", re.MULTILINE)


def join(head: msgspec.Struct, body: str) -> str:
    """A whole file, with the checksum of all the rest as the last key of its frontmatter."""
    import yaml  # type: ignore[import-untyped]  # only who writes or reads such a file needs it

    plain = {name: _plain(value) for name, value in msgspec.to_builtins(head).items()}
    text = yaml.dump(plain, Dumper=_dumper(), sort_keys=False, allow_unicode=True, width=10**9)
    text = LIVE.sub(lambda found: f"\\x{ord(found[0]):02X}", text)  # all of it stands in quotes
    begun = f"{FENCE}\n{text}"
    rest = f"{FENCE}\n\n{body}"
    return f"{begun}checksum: {digest(begun + rest)}\n{rest}"


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


def split(text: str) -> tuple[dict[str, Any], list[str], bool]:
    """
    The values of the frontmatter, all lines of the file, those of the frontmatter blank, and whether the checksum fits.

    :raises Unreadable: there is no frontmatter of texts and lists.
    """
    sound = is_sound(text)
    try:
        head, lines = front_matter.split(text)
        if len(head) > HEAD_CHARACTERS:
            raise Unreadable(2, f"the frontmatter has over {HEAD_CHARACTERS} characters.")
        values = front_matter.plain(front_matter.compose(head, "title: ...", deepest=DEEPEST))
    except front_matter.InvalidFrontMatter as error:
        raise Unreadable(error.line, error.sentence) from None
    values.pop("checksum", None)
    return values, lines, sound


def is_sound(text: str) -> bool:
    """Whether this is, to the letter, a file that Terminus wrote."""
    found = _CHECKSUM.search(text, 0, HEAD_CHARACTERS)
    return found is not None and digest(text[: found.start()] + text[found.end() :]) == found[1]


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if not isinstance(value, str):
        return value
    text = clean(value)
    return _Quoted(text) if LIVE.search(text) else text


def digest(text: str) -> str:
    """SHA-256, in hexadecimal, of any text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
