"""What three programs that render Markdown make of our answers, reports and documents: words, whatever was written."""

from collections.abc import Callable, Iterator
from itertools import product

import markdown
import mistune
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import html
from markdown_it import MarkdownIt

from actors.documents.fill import fill
from actors.documents.template import Document
from actors.evidence.claims import Citation, Claim, render_claims
from actors.evidence.places import name_place
from actors.legal.opinion import render_statements
from actors.reporting.markdown import render_markdown
from actors.text.normalize import sanitize_markdown, sanitize_phrase, settle_code
from tests.actors.documents.test_filling import template
from tests.actors.reporting.test_markdown import EVIL, MARKS, report
from tests.fakes import PASSAGE

mistune_html = mistune.create_markdown(
    escape=False,
    plugins=["strikethrough", "footnotes", "table", "url", "task_lists", "def_list", "abbr"],
)
EXTENSIONS = ["extra", "admonition", "codehilite", "meta", "nl2br", "sane_lists", "smarty", "toc", "wikilinks"]
RENDERERS: dict[str, Callable[[str], object]] = {
    "markdown-it-py": MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render,
    "mistune": mistune_html,
    "mistune alone": mistune.create_markdown(escape=False),
    "Python-Markdown": lambda text: markdown.markdown(text, extensions=EXTENSIONS),
    "Python-Markdown alone": markdown.markdown,
}
"""Each lets HTML through, as it does unless it is told otherwise."""
SCHEMES = ("https://", "http://", "mailto:", "#", "/")
ACTIVE = {
    "script", "style", "iframe", "frame", "object", "embed", "applet", "base", "meta", "link", "form", "button", "svg",
    "math", "video", "audio", "source", "track", "img", "image", "picture", "details", "template", "marquee", "body",
}  # fmt: skip
ATTACKS = (
    *EVIL, "[[x]y\\](javascript:alert(1))", "![[x]y\\](https://e.example/p.png)",
    ": a\n\n    <script>alert(1)</script>", "term\n\n:   a\n\n        <script>alert(1)</script>",
    "!!! note\n\n    <script>alert(1)</script>", "??? note\n\n    <script>alert(1)</script>",
    ": a\n```\n<script>alert(1)</script>\n```", "!!! a\n```\n<script>alert(1)</script>\n```",
    "[`a` [x]\\\\\\](javascript:alert(1))",
    "<svg/onload=alert(1)>", "<svg><script>alert(1)</script></svg>", "<iframe srcdoc='<script>alert(1)</script>'>",
    "<math><mi xlink:href='javascript:alert(1)'>x</mi></math>", "<ScRiPt>alert(1)</sCrIpT>", "<script\n>alert(1)",
    "<img\nsrc=x\nonerror=alert(1)>", "<a href='java\tscript:alert(1)'>x</a>", "<!--><script>alert(1)</script>-->",
    "<?php echo 1 ?><b>", "<![CDATA[<script>alert(1)</script>]]>", "<!DOCTYPE html><b>",
    "</div><script>alert(1)</script>", "[x](JaVaScRiPt:alert(1))", "[x](<javascript:alert(1)>)",
    "[x](javascript&colon;alert(1))", "[x](data:text/html,a)", "[x](vbscript:a)", "[x]( javascript:alert(1) \"t\")",
    "[x][y]\n\n[y]: javascript:alert(1)", "[x]\n\n[x]: <javascript:alert(1)> 'a'", "[x][]\n[x]:javascript:alert(1)",
    "![x][y]\n\n[y]: https://e.example/x.png", "![a](https://e.example/p.png)",
    "![a](//e.example/p.png \"onerror=1\")", "![](https://e.example/p.png)",
    "[![a](https://e.example/p.png)](javascript:alert(1))", "[a\\](javascript:alert(1))", "\\[a](javascript:alert(1))",
    "![a\\](https://e.example/p.png)", "[a]\\(javascript:alert(1))", "[a](javascript:alert(1)",
    "[a]((javascript:alert(1)))", "[[x](javascript:alert(1))](javascript:alert(2))", "[a\nb](javascript:alert(1))",
    "[a](\njavascript:alert(1)\n)", "*x*{: onclick=alert(1) }", "# x {: onmouseover=\"alert(1)\" }",
    "{: onclick=alert(1) }", "{ .a onclick='alert(1)' }", "x\n{: onclick=alert(1) }", "*x*{:\nonclick=alert(1) }",
    "``` {onclick=alert(1)}\nx\n```", "~~~ <script>\n</script>\n~~~",
    "`<script>`\n\n`</script><script>alert(1)</script>", "    <script>alert(1)</script>",
    "\t<script>alert(1)</script>", "- a\n\n\t<script>alert(1)</script>", "1. a\n\n        <script>alert(1)</script>",
    "> <script>alert(1)</script>", "term\n:   <script>alert(1)</script>", "[^1]\n\n[^1]: <script>alert(1)</script>",
    "*[x]: <script>alert(1)</script>\n\nx", "*[VPN]: \" onmouseover=\"alert(1)\n\nVPN",
    "!!! note \"<script>\"\n    <script>alert(1)</script>", "<div markdown=\"1\">\n[x](javascript:alert(1))\n</div>",
    "Key: <script>\n\ntext", "[[javascript:alert(1)]]", "$$<script>alert(1)</script>$$",
    "$<img src=x onerror=alert(1)>$", "==<script>==", ">! <script>alert(1)</script> !<",
    "&#60;script&#62;alert(1)&#60;/script&#62;", "&lt;script>alert(1)&lt;/script>", "\x02<script>\x03",
    "\x02wzxhzdk:0\x03", "[x](&#x6A;avascript:alert(1))", "a <b\n\nc> d", "``\n<script>alert(1)</script>\n``",
    "|a|\n|-|\n|<script>|", "|[x](javascript:alert(1))|b|\n|---|---|\n|![a](https://e.example/p.png)|`<script>`|",
    "<x:script>alert(1)</x:script>", "\u2028<script>alert(1)</script>", "<\u200bscript>alert(1)</script>",
    "<scr\u00adipt>alert(1)</script>", "[a](java\u200bscript:alert(1))", "\uff1cscript\uff1ealert(1)",
    "[a] (javascript:alert(1))", "[a] [1]\n\n[1]: javascript:a", "[a]:\njavascript:alert(1)\n\n[a]",
    "   [a]: javascript:alert(1)\n[a]", "> [a]: javascript:alert(1)\n\n[a]", "- [a]: javascript:alert(1)\n\n[a]",
    "[a\nb]: javascript:alert(1)\n\n[a b]", "text [a]: javascript:x\n[a]",
)  # fmt: skip


def name(said: str) -> list[str]:
    """A source by its title and heading, and by its file where it has neither."""
    whole = Citation(source=said, title=said, heading=said, quote=said, start=0, end=1, number=1)
    return [name_place(whole), name_place(msgspec.structs.replace(whole, title="", heading=""))]


def claim(said: str) -> list[str]:
    """An answer with statements of which each part is hostile, alone and one below the other."""
    passage = msgspec.structs.replace(PASSAGE, text=f"{said}\n\n{PASSAGE.text}", title=said, heading=said)
    claims = [
        Claim(text, 1, quote) for text, quote in ((said, said), (said, PASSAGE.text), (PASSAGE.text, PASSAGE.text))
    ]
    return [render_claims(claims, [passage])[0], render_statements(claims, [passage], "en")[0]]


def document(said: str) -> list[str]:
    filled = fill(template("# {{ who }}\n\n{{ note }}\n\n- {{ who }}: {{ note }}\n\n**{{ note }}** {{ note }}"),
                  {"who": said, "amount": said, "note": said})  # fmt: skip
    return [filled.markdown] if isinstance(filled, Document) else []


SURFACES: dict[str, Callable[[str], list[str]]] = {
    "text": lambda said: [
        sanitize_markdown(said),
        settle_code(f"{sanitize_markdown(said)}\n\n{sanitize_markdown(said)}"),
    ],
    "phrase": lambda said: [f"- {sanitize_phrase(said)}: a\n- {sanitize_phrase(said)}"],
    "name": name,
    "answer": claim,
    "report": lambda said: [render_markdown(report(said))],
    "document": document,
}


def find_dangers(rendered: str) -> Iterator[str]:
    """Elements, attributes and links that do something in a browser."""
    for each in html.fragment_fromstring(rendered, create_parent="main").iter():
        if not isinstance(each.tag, str):
            yield "a comment or an instruction"
            continue
        if each.tag in ACTIVE or ":" in each.tag:
            yield html.tostring(each, encoding="unicode")
        for key, value in each.attrib.items():
            if key.startswith("on") or (key == "style" and not value.startswith("text-align:")):
                yield f"{key}={value}"
            if key in {"href", "src", "action", "formaction", "xlink:href", "srcset", "data"}:
                address = "".join(value.split()).lower()
                if not address.startswith(SCHEMES):
                    yield f"{key}={value}"


def hold(said: str, surface: str) -> None:
    for text, (program, render) in product(SURFACES[surface](said), RENDERERS.items()):
        rendered = str(render(text))
        assert not list(find_dangers(rendered)), (program, said, text, rendered)


@pytest.mark.parametrize("program", RENDERERS)
def test_what_is_looked_for_is_found_where_nothing_is_escaped(program: str) -> None:
    for said in ("<script>alert(1)</script>", "<p onclick='alert(1)'>a</p>", "![a](https://e.example/p.png)"):
        assert list(find_dangers(str(RENDERERS[program](said)))), said


@pytest.mark.parametrize("surface", SURFACES)
def test_no_attack_becomes_more_than_words(surface: str) -> None:
    for said in ATTACKS:
        among = (f"a {said} b", f"a\n\n{said}\n\nb", f"- a\n{said}", f"{said}\n{said}")
        for each in (
            said,
            *(among if surface != "report" else among[1:2]),
        ):  # a report puts it into all kinds of places
            hold(each, surface)


@pytest.mark.parametrize("surface", ["text", "answer", "report"])
@settings(max_examples=40, deadline=None, derandomize=True)
@given(said=st.lists(st.one_of(st.sampled_from(ATTACKS), MARKS), min_size=1, max_size=4).map("\n".join))
def test_nor_do_several_together(surface: str, said: str) -> None:
    hold(said, surface)
