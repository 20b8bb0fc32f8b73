"""Keys between two fences at the top of a Markdown file, read so that nothing in them is taken for more than text."""

from typing import Any

FENCE = "---"
FIRST_LINE = 2
"""Of the keys, below their fence."""


class InvalidFrontMatter(Exception):
    """The front matter cannot be read: in which line, and why."""

    def __init__(self, line: int, sentence: str) -> None:
        super().__init__(f"line {line}: {sentence}")
        self.line = line
        self.sentence = sentence


def split(text: str) -> tuple[str, list[str]]:
    """
    The front matter, and all lines of the file with those of the front matter blank.

    :raises InvalidFrontMatter: there is none.
    """
    lines = text.removeprefix("\ufeff").split("\n")
    if lines[0] == f"{FENCE}\r":  # an editor turned the line ends
        lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    if lines[0] != FENCE:
        raise InvalidFrontMatter(1, f"the file must begin with {FENCE} and its frontmatter.")
    try:
        end = lines.index(FENCE, 1)
    except ValueError:
        raise InvalidFrontMatter(1, f"the frontmatter that begins here has no end. Put {FENCE} below it.") from None
    return "\n".join(lines[1:end]), [""] * (end + 1) + lines[end + 1 :]


def compose(text: str, example: str, *, deepest: int) -> Any:
    """
    The node of PyYAML for a front matter; it knows its line, as those in it do.

    :param deepest: how far lists and keys may be nested.
    :raises InvalidFrontMatter: it is not keys with values, such as the example.
    """
    import yaml  # type: ignore[import-untyped]  # only who reads such a file needs it

    loader, depth = getattr(yaml, "CBaseLoader", yaml.BaseLoader), 0
    try:
        for event in yaml.parse(text, Loader=loader):
            if isinstance(event, yaml.AliasEvent):
                raise InvalidFrontMatter(
                    line_of(event), "the frontmatter refers to another part of itself. Write it out."
                )
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > deepest:
                raise InvalidFrontMatter(line_of(event), "the frontmatter is nested too deeply.")
        root = yaml.compose(text, Loader=loader)
    except yaml.YAMLError as error:
        mark, what = getattr(error, "problem_mark", None), getattr(error, "problem", None) or "this is not YAML"
        line = FIRST_LINE + (mark.line if mark else 0)
        raise InvalidFrontMatter(line, f"the frontmatter is not valid YAML: {what}.") from None
    if not isinstance(root, yaml.MappingNode):
        raise InvalidFrontMatter(FIRST_LINE, f"the frontmatter must be lines such as `{example}`.")
    return root


def line_of(node: Any) -> int:
    """The line of the file in which a node of its front matter begins."""
    return int(node.start_mark.line) + FIRST_LINE


def plain(node: Any) -> Any:
    """What stands at a node as texts, lists and dictionaries."""
    match node.id:
        case "mapping":
            return {str(key.value): plain(below) for key, below in node.value}
        case "sequence":
            return [plain(each) for each in node.value]
    return node.value
