"""reStructuredText read by its structure: directives are what they show."""

import time

import pytest

from runtime.knowledge.readers.reader import is_restructured, read
from runtime.knowledge.readers.restructured_reader import read_restructured
from tests.runtime.knowledge.readers.kit import check_offsets, said, units

DEEP = 120

PAGE = """:orphan:

.. _start:

===============
Getting started
===============

:Author: Somebody

.. contents:: Table of contents
   :local:

.. This is a remark
   over two lines.

Install it with |tool|, see :ref:`the upgrade page <upgrade>` or :func:`~app.core.start`.
Read the `manual <https://example.org>`_ first [1]_, then Upgrade_.

.. |tool| replace:: pip

.. _Upgrade:

Upgrade
=======

Run this::

   pip install app

.. code-block:: console
   :linenos:

   $ app start

.. warning:: Never do it
   twice.

timeout : seconds
   How long to wait.

.. option:: -v, --verbose

   Say more.

.. py:function:: start(port)
                 start()

   Start the server.

   :param port: where to listen

.. versionadded:: 2.1

1. First step
   goes on.
2. Second step.

-a, --all   take all files

===== =======
Code  Meaning
===== =======
619   use the
      cable
===== =======

+------+-------+
| Key  | Value |
+======+=======+
| a    | first |
|      | line  |
+------+-------+

.. list-table:: Ports
   :header-rows: 1

   * - Port
     - Use
   * - 443
     - web

.. image:: picture.png
   :alt: a picture

.. toctree::
   :hidden:

   other

.. [1] A footnote.
"""


def test_sections_directives_lists_and_tables_keep_their_place_and_nothing_else_is_text() -> None:
    document = read_restructured(PAGE)
    top = ("Getting started",)
    upgrade = (*top, "Upgrade")
    assert document.title == "Getting started"
    assert units(document) == [
        (top, "Install it with pip, see the upgrade page or start.", False),
        (top, "Read the manual first, then Upgrade.", False),
        (upgrade, "Run this:", False),
        (upgrade, "    pip install app", True),
        (upgrade, "    $ app start", True),
        (upgrade, "Never do it twice.", False),
        ((*upgrade, "timeout"), "How long to wait.", False),
        ((*upgrade, "-v, --verbose"), "Say more.", False),
        ((*upgrade, "start(port), start()"), "Start the server.", False),
        ((*upgrade, "start(port), start()"), "param port: where to listen", False),
        (upgrade, "Added in version 2.1", False),
        (upgrade, "First step goes on.", False),
        (upgrade, "Second step.", False),
        ((*upgrade, "-a, --all"), "take all files", False),
        (upgrade, "Code — Meaning", False),
        (upgrade, "619 — use the cable", False),
        (upgrade, "Key — Value", False),
        (upgrade, "a — first line", False),
        (upgrade, "Port — Use", False),
        (upgrade, "443 — web", False),
        (upgrade, "[1] A footnote.", False),
    ]
    assert {section.anchor for section in document.sections} == {"start", "upgrade"}
    words = ("remark", "orphan", "Author", "contents", "toctree", "picture", "linenos", "::", "|tool|", "_start")
    assert not any(word in document.text for word in words)
    check_offsets(document)


def test_a_text_file_is_restructured_when_it_looks_like_it() -> None:
    assert is_restructured(PAGE)
    assert read("index.txt", PAGE.encode()).title == "Getting started"
    assert not is_restructured("Notes\n=====\n\n.. and so on. The port is :8080: as always.\n")


@pytest.mark.parametrize(
    "text",
    ["".join(" " * n + "- a\n\n" for n in range(500)), "`" * 100_000, ":a:`" * 30_000, "+-+\n| a |\n" * 10_000,
     ".. |a| replace:: |a|\n\n|a|\n" * 3000, "===\na\n" * 10_000, "a_ " * 50_000, "\\" * 100_000],
)  # fmt: skip
def test_reading_time_grows_no_faster_than_the_text(text: str) -> None:
    began = time.process_time()
    check_offsets(read_restructured(text))
    assert time.process_time() - began < 10.0


def test_what_is_nested_too_deeply_is_read_as_one_paragraph() -> None:
    text = "".join(f"{'  ' * n}- a{n}\n\n" for n in range(DEEP))
    words = " ".join(said(read_restructured(text)))
    assert all(f"a{n}" in words for n in range(DEEP))
