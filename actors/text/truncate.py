"""Texts that have to be shorter: one line cut between words, or the beginning up to a paragraph's end. Pure."""

from actors.text.normalize import remove_controls


def shorten(text: str, most: int) -> str:
    """A text on one line, without control characters, cut between words when it is longer."""
    line = " ".join(remove_controls(text).split())
    if len(line) <= most:
        return line
    cut = line[: most - 1]
    head, _, tail = (cut, "", "") if line[most - 1] == " " else cut.rpartition(" ")
    return (head if head and len(tail) < most // 3 else cut).rstrip(" ,;:.-–—") + "…"


def cut_at_paragraph(text: str, limit: int) -> str:
    """The beginning of a text, up to the last whole paragraph, else sentence, else character that fits."""
    if len(text) <= limit:
        return text
    head = text[:limit]
    for mark, keep in (("\n\n", 0), ("\n", 0), (". ", 1), ("。", 1)):
        at = head.rfind(mark)
        if at > limit // 2:
            return head[: at + keep].rstrip()
    return head.rstrip()
