"""Each reader that ships keeps the contract of readers, and so does the example of one that does not."""

from pathlib import Path

import pytest

from runtime.knowledge.readers.parsed_document import Document, TextUnit
from runtime.knowledge.readers.reader import READERS, Reader
from runtime.plugins import load_module
from tests import ROOT
from tests.contract.reader_contract import check_reader
from tests.runtime.knowledge.readers.test_readers import DOCBOOK, MARKDOWN, PLAIN
from tests.runtime.knowledge.readers.test_restructured import PAGE

EXAMPLE = ROOT / "examples" / "readers" / "asciidoc_reader.py"
SAMPLES = {"plain text": PLAIN, "Markdown": MARKDOWN, "HTML": DOCBOOK, "reStructuredText": PAGE}
ASCIIDOC = """= The guide
Ada Byron <ada@example.org>

[[setup]]
== Setup

Open it. See <<setup,there>> and link:x[here].

--wait::
	Return only when it is connected.
+
Or not.

* first
** second

----
$ vpn start
----

|===
|Code |Meaning
|809 |open UDP 4500
|===
"""


@pytest.mark.parametrize("reader", [each for each in READERS if each.format in SAMPLES], ids=lambda each: each.format)
def test_readers_of_text_keep_the_contract(reader: Reader) -> None:
    check_reader(reader, SAMPLES[reader.format].encode())


def test_the_example_of_a_reader_keeps_the_contract() -> None:
    check_reader(load_module(EXAMPLE).READER, ASCIIDOC.encode())


def _raise(data: bytes) -> Document:
    return Document("", data[:1000].decode())


def _jumble(_: bytes) -> Document:
    document = Document("", "One. Two.")
    from runtime.knowledge.readers.parsed_document import Section

    document.sections = [Section(("A",), "", [TextUnit(5, 9, opens=True)]), Section(("A",), "", [TextUnit(0, 4)])]
    return document


@pytest.mark.parametrize("read", [_raise, _jumble])
def test_the_contract_sees_what_breaks_it(read: object, tmp_path: Path) -> None:
    with pytest.raises((AssertionError, UnicodeDecodeError)):
        check_reader(Reader("broken", (".broken",), read), b"= A\n\nWords.\n")  # type: ignore[arg-type]
