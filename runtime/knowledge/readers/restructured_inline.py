"""What stands inside of a paragraph of reStructuredText: roles, links and substitutions as a reader sees them."""

import re

_LITERAL = re.compile(r"(``(?:[^`]|`(?!`)){1,2000}``)")
_ROLE = re.compile(r":[a-zA-Z][\w:+.-]{0,60}:`([^`]{1,500})`|`([^`]{1,500})`:[a-zA-Z][\w:+.-]{0,60}:")
_QUOTED = re.compile(r"(?<![\w`])_?`([^`]{1,500})`(?:__?(?!\w))?")
_SUBSTITUTION = re.compile(r"\|(\S(?:[^|\n]{0,80}\S)?)\|(?:__?(?!\w))?")
_FOOTNOTE = re.compile(r"\s?\[(?:#[\w-]*|\*|\d{1,3})\]_(?!\w)")
_CITED = re.compile(r"\[([\w.-]{1,60})\]_(?!\w)")
_REFERENCE = re.compile(r"(?<![\w`])([A-Za-z0-9](?:[\w.-]{0,80}[A-Za-z0-9])?)__?(?![\w`])")
_ESCAPE = re.compile(r"\\(?:\s|(.))", re.DOTALL)


def render_inline(text: str, substitutions: dict[str, str], targets: frozenset[str]) -> str:
    """
    A paragraph as it is read.

    :param targets: names that a word with an underscore behind it may link to, in lower case.
    """
    parts = _LITERAL.split(text)
    for number, part in enumerate(parts):
        if number % 2:
            parts[number] = f"`{part.strip('`')}`"
        elif part:
            parts[number] = _words(part, substitutions, targets)
    return "".join(parts)


def _words(text: str, substitutions: dict[str, str], targets: frozenset[str]) -> str:
    text = _ROLE.sub(lambda m: _label(m.group(1) or m.group(2)), text)
    text = _QUOTED.sub(lambda m: _label(m.group(1)), text)
    text = _SUBSTITUTION.sub(lambda m: substitutions.get(m.group(1), m.group(1)), text)
    text = _CITED.sub(r"[\1]", _FOOTNOTE.sub("", text))
    text = _REFERENCE.sub(lambda m: m.group(1) if m.group(1).lower() in targets else m.group(), text)
    return _ESCAPE.sub(r"\1", text)


def _label(text: str) -> str:
    """`words <target>` as its words, `~module.name` as its name."""
    words, opens, target = text.removesuffix("\n").rpartition("<")
    if words and opens and target.find(">") == len(target) - 1:
        return words.rstrip() or words[:1]
    return text.rpartition(".")[2] if text.startswith("~") else text.lstrip("!")
