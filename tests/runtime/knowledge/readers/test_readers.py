"""Markdown, plain text and HTML read by their structure, with offsets that hold."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.knowledge.readers.html_reader import TAG_CHARACTERS, TAGS_LIMIT, read_html
from runtime.knowledge.readers.markdown_reader import read_markdown
from runtime.knowledge.readers.parsed_document import PASSAGE_LIMIT, UNIT_LIMIT, Unreadable, pieces
from runtime.knowledge.readers.plain_text_reader import read_plain
from runtime.knowledge.readers.reader import decode, read, suffixes
from tests.runtime.knowledge.readers.kit import check_read_or_refused, said, units

MARKDOWN = """---
title: "VPN handbook"
---
Intro line one,
line two. A second sentence.

## Install {#setup}

1. Open the software centre.
2. Choose **Connect**.

```sh
# not a heading
terminusctl install
```

| Error | Remedy |
|-------|--------|
| 809   | open UDP 4500 |

Renewal
-------
> The key expires.

<!-- hidden words -->
Done.
"""


def test_markdown_keeps_headings_lists_code_and_tables_in_their_place() -> None:
    document = read_markdown(MARKDOWN)
    assert document.title == "VPN handbook"
    assert units(document) == [
        ((), "Intro line one,\nline two.", False),
        ((), "A second sentence.", False),
        (("Install",), "Open the software centre.", False),
        (("Install",), "Choose **Connect**.", False),
        (("Install",), "```sh\n# not a heading\nterminusctl install\n```", True),
        (("Install",), "Error | Remedy", False),
        (("Install",), "809   | open UDP 4500", False),
        (("Renewal",), "The key expires.", False),
        (("Renewal",), "Done.", False),
    ]
    assert [section.anchor for section in document.sections] == ["", "setup", "renewal"]


def test_markdown_offsets_are_those_of_the_file_also_with_windows_line_ends() -> None:
    text = MARKDOWN.replace("\n", "\r\n")
    document = read_markdown(text)
    assert document.text == text
    assert [said.replace("\r\n", "\n") for _, said, _ in units(document)] == [
        said for _, said, _ in units(read_markdown(MARKDOWN))
    ]


HIDDEN = """# Setup {#setup}

Open it. <!-- remove later --> Then `<!-- wait -->`.
<!-- a draft
of three
lines --> Press the key. {#press}

(the-label)=
<a id="old"></a>Close it.

[1]: https://example.org
![a picture](x.png)

```html
<!-- shown -->
```
Done.
"""


def test_what_a_reader_of_the_page_does_not_see_is_in_no_passage() -> None:
    document = read("a.md", HIDDEN.encode())
    text = "".join(document.text[piece.start : piece.end] for piece in pieces(document))
    assert not any(sign in text for sign in ("remove later", "draft", "{#", "(the-label)", "<a id", "[1]:", "picture"))
    assert said(document) == [
        "Open it.", "Then `<!-- wait -->`.", "Press the key.", "Close it.", "```html\n<!-- shown -->\n```", "Done.",
    ]  # fmt: skip
    assert {section.anchor for section in document.sections} == {"setup"}


def test_an_unclosed_fence_is_code_to_the_end() -> None:
    assert units(read_markdown("Text here.\n\n```\ncode\n# code too\n")) == [
        ((), "Text here.", False),
        ((), "```\ncode\n# code too", True),
    ]


PLAIN = """User guide
==========

Some words about
the printer. More words.

1. Connect it

Press the button:

    lpadmin -p office

- first item
- second item

WARRANTY

None is given.

第二章 退款规则

七天内可以退款。
"""


def test_plain_text_finds_headings_by_their_layout() -> None:
    document = read_plain(PLAIN)
    assert document.title == "User guide"
    assert units(document) == [
        (("User guide",), "Some words about\nthe printer.", False),
        (("User guide",), "More words.", False),
        (("User guide", "Connect it"), "Press the button:", False),
        (("User guide", "Connect it"), "    lpadmin -p office", True),
        (("User guide", "Connect it"), "first item", False),
        (("User guide", "Connect it"), "second item", False),
        (("User guide", "WARRANTY"), "None is given.", False),
        (("User guide", "WARRANTY", "第二章 退款规则"), "七天内可以退款。", False),
    ]


DOCBOOK = """<html><head><title>20.4. Memory</title><link rel="up" title="Chapter 20. Configuration"></head><body>
<div class="navheader"><a href="x.html">Next</a></div>
<div class="sect1" id="MEMORY"><h2 class="title">20.4. Memory</h2>
<p>Two   settings<br>matter. See below.</p>
<div class="note"><h3>Note</h3><p>Restart is needed.</p></div>
<dl><dt id="GUC-BUFFERS"><code>buffers</code> (<em>integer</em>)</dt>
<dd><p>Sets the cache.</p>
<pre>buffers = 1GB
other = 2</pre></dd>
<dt id="A"><code>-w</code></dt><dt><code>--wait</code></dt><dd>Waits until all is done.</dd></dl>
<p>After the list.</p>
<table><tr><th>Name</th><th>Use</th></tr><tr><td>short</td><td>row</td></tr>
<tr><td><code>pg_size()</code></td><td>%s</td></tr></table></div>
<script>alert("never")</script></body></html>""" % ("Tells the size of a table on disk with all its indexes. " * 4)


def test_html_keeps_terms_tables_and_code_under_their_headings() -> None:
    document = read_html(DOCBOOK)
    assert (document.title, document.above) == ("Memory", "Configuration")
    found = units(document)
    assert (("Memory",), "Two settings matter.", False) in found
    assert (("Memory",), "Note: Restart is needed.", False) in found
    assert (("Memory", "buffers (integer)"), "Sets the cache.", False) in found
    assert (("Memory", "buffers (integer)"), "    buffers = 1GB\n    other = 2", True) in found
    assert (("Memory", "-w, --wait"), "Waits until all is done.", False) in found
    assert (("Memory",), "After the list.", False) in found
    assert (("Memory",), "Name — Use", False) in found
    assert (("Memory",), "short — row", False) in found
    assert any(path == ("Memory", "pg_size()") for path, _, _ in found)
    assert "never" not in document.text
    assert "Next" not in document.text
    assert next(s.anchor for s in document.sections if s.path[-1:] == ("buffers (integer)",)) == "GUC-BUFFERS"


BOXES = """<html><body>
<div id="banner"><a href="get.html">Download the book</a></div>
<ul class="docnav top"><li><a href="p.html"><b>Prev</b></a></li><li><a href="n.html">Next</a></li></ul>
<h1>Backups</h1><div class="sidebar"><p class="title">TOOL rsync</p><div>It copies what has changed.</div></div>
<div class="sidebar"><a href="a.html">All the pages</a> <a href="b.html">Search them</a></div>
<ol><li><p>Stop the server.</p></li><li>Copy <ul><li>the data,</li><li>the keys.</li></ul></li><li></li>
<li>Start it.</li></ol>
<div class="warning"><table><tr><td rowspan="2"><img alt="[Warning]"></td><th>Warning</th></tr>
<tr><td><p>Invoices are <code>NOT</code> recovered.</p><p>Check them.</p></td></tr></table></div>
<div class="admonition tip"><p class="admonition-title">Tip</p><p>Try it first.</p></div>
<p>Done. <a href="#up">(back to top)</a></p>
<table><tr><td><p>Of a note that speaks of <code>sudo</code> somewhere.</p></td></tr></table>
<div id="end" class="pagenavigation"><a href="n.html">Next</a>: Restoring</div></body></html>"""


def test_boxes_and_steps_of_a_text_are_read_as_they_are_meant_and_the_ways_through_a_site_are_not() -> None:
    document = read_html(BOXES)
    assert document.text.split("\n\n") == [
        "# Backups", "TOOL rsync", "It copies what has changed.", "1. Stop the server.", "2. Copy", "- the data,",
        "- the keys.",
        "4. Start it.", "Warning: Invoices are NOT recovered.", "Check them.",
        "Tip: Try it first.", "Done.",
        "Of a note that speaks of sudo somewhere.", "",
    ]  # fmt: skip
    assert {section.path for section in document.sections} == {("Backups",)}


SPHINX = """<html><head><title>csv — Reading — Manual 3.11</title></head><body>
<div class="related"><a href="i.html">index</a></div>
<div class="body" role="main"><section id="csv"><h1>csv — Reading<a class="headerlink" href="#csv">¶</a></h1>
<p>Reads tables of text.</p><dl class="py function">
<dt class="sig" id="csv.reader"><code>csv.reader</code>(<em>file</em>)
<a class="headerlink" href="#csv.reader">¶</a></dt><dd><p>Return a reader object.</p></dd></dl></section></div>
<div class="sphinxsidebar"><p>Side words</p></div></body></html>"""


def test_a_sphinx_page_gives_its_main_part_only() -> None:
    document = read_html(SPHINX)
    assert document.title == "csv — Reading"
    assert [(path[-1], said) for path, said, _ in units(document)] == [
        ("csv — Reading", "Reads tables of text."),
        ("csv.reader(file)", "Return a reader object."),
    ]
    assert document.sections[1].anchor == "csv.reader"


SECTIONS = """<html><body><div id="page"><h1 id="top">Setup</h1>
<section id="badge"><div class="head"><h2>Badges</h2></div><p>Ordered at the reception.</p></section>
<section><h2>Lost badges</h2><p id="call">Call 4711.</p></section>
<a name="gate"></a><h2>Parking</h2><p>At the <span id="gates">gates</span></p>
<h2>Keys</h2><p>In the safe.</p><h2>Fax <a id="fax"></a></h2><p>On every floor.</p></div></body></html>"""


def test_a_section_of_html_has_the_id_that_opens_it_and_never_that_of_another_one() -> None:
    document = read_html(SECTIONS)
    assert [(section.path[-1], section.anchor) for section in document.sections] == [
        ("Badges", "badge"), ("Lost badges", "top"), ("Parking", "gate"), ("Keys", "top"), ("Fax", "fax"),
    ]  # fmt: skip


MANUAL_PAGE = """<html><head><title>vpn-start(1)</title></head><body class="manpage"><div id="header">
<h1>vpn-start(1) Manual Page</h1><div id="toc"><a href="#_x">OPTIONS</a></div><h2>NAME</h2>
<div class="sectionbody"><p>vpn-start - Open a connection</p></div></div>
<div id="content"><h2 id="_synopsis">SYNOPSIS</h2><p>Call <em>vpn start</em> with the name of a network, and wait.</p>
</div></body></html>"""


def test_a_manual_page_made_from_asciidoc_is_called_by_its_own_title_not_by_its_first_section() -> None:
    document = read_html(MANUAL_PAGE)
    assert document.title == "vpn-start(1)"
    assert [path for path, _, _ in units(document)] == [("vpn-start(1)", "NAME"), ("vpn-start(1)", "SYNOPSIS")]
    assert said(document)[0] == "vpn-start - Open a connection"


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        ("<p>" * (TAGS_LIMIT + 1), "tags"),
        (f"<a {'x' * TAG_CHARACTERS}>", "characters"),
        ("<html><body><a href=1>All of this is links</a> x</body></html>", "links"),
        ("", "no HTML"),
        ("<!-- -->", "no HTML"),
    ],
)
def test_hostile_and_empty_html_is_refused_with_a_reason(page: str, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        read_html(page)


def test_deep_nesting_does_not_overflow_the_stack() -> None:
    depth = 20_000
    page = f"<p>Before it.</p>{'<div>' * depth}The deep words.{'</div>' * depth}<p>After it.</p>"
    assert "Before it." in read_html(page).text


MARKUP = "ab .\n#-|>`1<p/>=* 한中。:[]_~+'{}\\&;!"


@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.html", "a.rst"])
@given(text=st.text(alphabet=st.sampled_from(MARKUP), max_size=300))
def test_whatever_is_read_has_whole_units_in_order_inside_its_passages(name: str, text: str) -> None:
    check_read_or_refused(name, text.encode())


@pytest.mark.parametrize("suffix", sorted(suffixes()))
@given(data=st.binary(max_size=300))
def test_whatever_the_bytes_are_a_reader_refuses_them_with_a_reason_or_reads_them(suffix: str, data: bytes) -> None:
    for start in (b"", b"%PDF-1.7\n", b"PK\x03\x04"):
        check_read_or_refused(f"a{suffix}", start + data)


def test_no_passage_is_longer_than_its_bound() -> None:
    text = "word " * 20_000 + "\n\n```\n" + "x" * 50_000 + "\n```\n"
    for piece in pieces(read_markdown(text)):
        assert piece.end - piece.start <= PASSAGE_LIMIT + UNIT_LIMIT


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("\ufeffplain".encode(), "plain"),
        ("utf sixteen".encode("utf-16"), "utf sixteen"),
        ("비밀번호를 잊었습니다".encode("cp949"), "비밀번호를 잊었습니다"),
        ("忘记密码的时候怎么办".encode("gb18030"), "忘记密码的时候怎么办"),
        ("Le café est fermé".encode("cp1252"), "Le café est fermé"),
    ],
)
def test_encodings_are_recognised(data: bytes, text: str) -> None:
    assert decode(data) == text


def test_a_page_that_declares_its_encoding_is_believed() -> None:
    assert "日本" in decode('<meta charset="shift_jis">日本'.encode("shift_jis"), html=True)


@pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\n\0\0\0", bytes(range(1, 32)) * 50, b"\x7fELF\x01\x01\0"])
def test_binary_content_is_refused(data: bytes) -> None:
    with pytest.raises(Unreadable, match="binary"):
        read("picture.md", data)


@pytest.mark.parametrize("text", ["A. " * 100_000, "1. " * 100_000, ". " * 100_000, "[" * 200_000, "| a " * 50_000])
def test_reading_time_grows_no_faster_than_the_text(text: str) -> None:
    began = time.process_time()
    pieces(read_markdown(text))
    assert time.process_time() - began < 5.0


def test_what_a_site_puts_beside_its_pages_is_no_text_of_them() -> None:
    page = (
        b"<body><header><p>Product 7 Help</p></header><aside><label>Contents</label></aside>"
        b"<h1>Arrange</h1><p>Brings it to the front.</p><div><aside><p>Only in drawings.</p></aside></div></body>"
    )
    headed = b"<body><header><h1>Arrange</h1><p>In drawings.</p></header><p>Brings it to the front.</p></body>"

    assert said(read("a.html", page)) == ["Brings it to the front.", "Only in drawings."]
    assert said(read("a.html", headed)) == ["In drawings.", "Brings it to the front."]
