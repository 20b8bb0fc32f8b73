"""What stands inside of a line of AsciiDoc: attributes, macros, links and anchors as a reader sees them."""

import re

_BUILT_IN = {
    "amp": "&", "apos": "'", "asterisk": "*", "backslash": "\\", "backtick": "`", "blank": "", "brvbar": "¦",
    "caret": "^", "cpp": "C++", "deg": "°", "empty": "", "endsb": "]", "gt": ">", "ldquo": "“", "litdd": "--",
    "lsquo": "‘", "lt": "<", "nbsp": " ", "plus": "+", "pp": "++", "quot": '"', "rdquo": "”", "rsquo": "’", "sp": " ",
    "startsb": "[", "tilde": "~", "vbar": "|", "wj": "", "zwsp": "",
}  # fmt: skip
_ATTRIBUTE = re.compile(r"(?<!\\)\{([\w-]{1,80})\}")
_ANCHOR = re.compile(r"\[\[([\w:.-]{1,200})(?:,[^\]\n]{0,200})?\]\]|anchor:([\w:.-]{1,200})\[[^\]\n]{0,200}\]")
_INDEX = re.compile(r"\(\(\(.{0,300}?\)\)\)|indexterm:\[[^\]\n]{0,300}\]")
_FLOW_INDEX = re.compile(r"\(\((?=\S)([^()\n]{1,200})\)\)")
_CROSS = re.compile(r"<<([^<>,\n]{1,200})(?:,\s*([^<>\n]{1,300}))?>>")
_PICTURE = re.compile(r"\bimage::?[^\s\[]{1,300}\[[^\]\n]{0,300}\]")
_MANUAL = re.compile(r"\blinkgit:([\w.-]{1,100})\[(\d?)\]")
_LINK = re.compile(
    r"\b(?:link:|xref:|mailto:|(?=https?://|ftp://|irc://))([^\s\[\]<>]{1,500})\[((?:[^\]\\\n]|\\.){0,500})\]"
)
_KEYS = re.compile(r"\b(?:kbd|btn):\[([^\]\n]{1,200})\]")
_MENU = re.compile(r"\bmenu:([^\[\n]{1,100})\[([^\]\n]{0,200})\]")
_NOTE = re.compile(r"\bfootnote(?:ref)?:[\w-]{0,50}\[((?:[^\]\\]|\\.){0,1000})\]")
_PASS = re.compile(r"\bpass:[\w,]{0,20}\[((?:[^\]\\\n]|\\.){0,500})\]")
_QUOTED = re.compile(r"(?<![\w`])``([^`']{1,300})''(?!\w)|\"`([^`]{1,300})`\"")
_LITERAL = re.compile(r"`\+([^`+\n]{1,300})\+`|(?<![\w+`])\+([^\s+](?:[^+\n]{0,200}[^\s+])?)\+(?![\w+`])")
_ESCAPED = re.compile(r"\\(?=--|[{\[<*_`'+#])")
_BREAK = re.compile(r" \+$", re.MULTILINE)
_LINE_CHARACTERS = 20_000
"""What is written into one line longer than this stays as it is."""


def find_anchor(text: str) -> str:
    """The first anchor that a text sets, or nothing."""
    found = _ANCHOR.search(text)
    return (found.group(1) or found.group(2)) if found else ""


def substitute(text: str, attributes: dict[str, str]) -> str:
    """References to attributes as their values; one that nobody defines stays."""
    return _ATTRIBUTE.sub(lambda m: attributes.get(m.group(1), _BUILT_IN.get(m.group(1), m.group())), text)


def render_inline(text: str, attributes: dict[str, str]) -> str:
    """A paragraph as it is read: without anchors, index terms and pictures, links and references by their words."""
    if len(text) > _LINE_CHARACTERS and "\n" not in text:
        return text
    text = substitute(text, attributes)
    text = _BREAK.sub("", _INDEX.sub("", _ANCHOR.sub("", text)))
    text = _MANUAL.sub(lambda m: f"{m.group(1)}({m.group(2)})" if m.group(2) else m.group(1), text)
    text = _PICTURE.sub("", text)
    text = _LINK.sub(lambda m: _first(m.group(2)) or m.group(1), text)
    text = _CROSS.sub(lambda m: m.group(2) or m.group(1).lstrip("#").replace("_", " ").strip(), text)
    text = _FLOW_INDEX.sub(r"\1", text)
    text = _KEYS.sub(r"\1", text)
    text = _MENU.sub(lambda m: f"{m.group(1)} > {m.group(2)}" if m.group(2) else m.group(1), text)
    text = _NOTE.sub(r" (\1)", text)
    text = _PASS.sub(r"\1", text)
    text = _QUOTED.sub(lambda m: f"“{m.group(1) or m.group(2)}”", text)
    text = _ESCAPED.sub("", text)
    return _LITERAL.sub(lambda m: f"`{m.group(1) or m.group(2)}`", text)


def _first(label: str) -> str:
    """A link's words, without what says how it opens."""
    label = label.split(",window=")[0].split(",role=")[0].strip().removesuffix("^").strip('"')
    return "" if "=" in label and " " not in label else label.replace("\\]", "]")
