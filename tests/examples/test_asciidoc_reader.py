"""AsciiDoc read by its structure: what steers its tools is not text."""

import time
from collections.abc import Iterator

import pytest

from runtime.knowledge.readers.reader import read
from runtime.plugins import load_module, use_files
from tests.contract.test_readers import EXAMPLE
from tests.runtime.knowledge.readers.kit import check_offsets, said, units

is_asciidoc, read_asciidoc = load_module(EXAMPLE).is_asciidoc, load_module(EXAMPLE).read_asciidoc


@pytest.fixture(autouse=True)
def reader_in_use() -> Iterator[None]:
    use_files([str(EXAMPLE)])
    yield
    use_files(())


PAGE = """vpn-start(1)
============
:revision: 2.4
// A remark for writers.

NAME
----
vpn-start - Open a connection

SYNOPSIS
--------
[verse]
'vpn start' [--wait]
\t  <network>

[[options]]
OPTIONS
-------
-w::
--wait::
\tReturn only when version {revision} is connected. See
\tlinkgit:vpn-stop[1] and link:guide.html[the guide].
+
A timeout ends it, unless `--no-timeout` is given.

--log=<file>::

\tWrite to a file.

include::common.txt[]

ifdef::draft[]
Kept all the same.
endif::draft[]

[NOTE]
====
Only one connection is open. [[single]] See <<options,the options>>.
====

.Two networks
----
$ vpn start office
  connected
----

* first
* second
** inner

. Use {litdd}force.
. Do that ``twice''.

////
Hidden words.
////

[cols="1,2"]
|===
|Code |Meaning

|809
|open UDP 4500
|===

After all.
"""


def test_titles_terms_lists_code_and_tables_keep_their_place_and_nothing_else_is_text() -> None:
    document = read_asciidoc(PAGE)
    top = "vpn-start(1)"
    assert document.title == top
    assert units(document) == [
        ((top, "NAME"), "vpn-start - Open a connection", False),
        ((top, "SYNOPSIS"), "    'vpn start' [--wait]\n              <network>", True),
        ((top, "OPTIONS", "-w, --wait"), "Return only when version 2.4 is connected.", False),
        ((top, "OPTIONS", "-w, --wait"), "See vpn-stop(1) and the guide.", False),
        ((top, "OPTIONS", "-w, --wait"), "A timeout ends it, unless `--no-timeout` is given.", False),
        ((top, "OPTIONS", "--log=<file>"), "Write to a file.", False),
        ((top, "OPTIONS"), "Kept all the same.", False),
        ((top, "OPTIONS"), "Only one connection is open.", False),
        ((top, "OPTIONS"), "See the options.", False),
        ((top, "OPTIONS"), "Two networks", False),
        ((top, "OPTIONS"), "    $ vpn start office\n      connected", True),
        ((top, "OPTIONS"), "first", False),
        ((top, "OPTIONS"), "second", False),
        ((top, "OPTIONS"), "inner", False),
        ((top, "OPTIONS"), "Use --force.", False),
        ((top, "OPTIONS"), "Do that “twice”.", False),
        ((top, "OPTIONS"), "Code — Meaning", False),
        ((top, "OPTIONS"), "809 — open UDP 4500", False),
        ((top, "OPTIONS"), "After all.", False),
    ]
    assert {section.anchor for section in document.sections} == {"_name", "_synopsis", "options"}
    assert not any(word in document.text for word in ("remark", "include::", "ifdef", "Hidden", "[[", "|==="))
    check_offsets(document)


def test_titles_in_one_line_are_titles_too() -> None:
    document = read("guide.adoc", b"= The guide\nAda Byron <ada@example.org>\nv1.0, 2024\n\n== Setup\n\nOpen it.\n")
    assert document.title == "The guide"
    assert units(document) == [(("The guide", "Setup"), "Open it.", False)]


def test_a_text_file_is_asciidoc_when_it_looks_like_it() -> None:
    assert is_asciidoc(PAGE)
    assert read("vpn-start.txt", PAGE.encode()).title == "vpn-start(1)"
    letter = "Dear all,\n\nthe printer (see http://printer.local) is broken:\n\n  - no toner\n  + no paper\n\nRegards\n"
    assert not is_asciidoc(letter)


@pytest.mark.parametrize(
    "text",
    ["[[" * 50_000, "a::\n" * 20_000, "((a" * 50_000, "{a" * 50_000, "|===\n" + "|a " * 20_000, "* a\n** b\n" * 20_000,
     "link:a[" * 30_000,
     "+\n" * 50_000],
)  # fmt: skip
def test_reading_time_grows_no_faster_than_the_text(text: str) -> None:
    began = time.process_time()
    check_offsets(read_asciidoc(text))
    assert time.process_time() - began < 10.0


def test_what_is_not_closed_goes_on_to_the_end() -> None:
    assert said(read_asciidoc("Words.\n\n----\ncode\n")) == ["Words.", "    code"]
