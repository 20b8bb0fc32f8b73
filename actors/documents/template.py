"""A template as a value: what it is for, what must be known for it, and its body."""

from typing import Literal

import msgspec

FieldKind = Literal["text", "date", "money", "party", "choice"]


class Field(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that a document says and only a person can know."""

    name: str
    ask: str
    """The question for that person, a sentence in the template's language."""
    kind: FieldKind = "text"
    required: bool = True
    """Without it there is no document; else its place stays visibly blank."""
    labels: tuple[str, ...] = ()
    """The words before it in a ticket that says it plainly, such as `Plaintiff` in `Plaintiff: Ann Lee`."""
    phrases: tuple[str, ...] = ()
    """Words of prose around it: `My name is {}`; `向{法院}起诉` where it must end with a word."""
    story: bool = False
    """Where nothing is said of it, what the ticket tells beside its request and the other fields."""
    choices: tuple[str, ...] = ()
    pattern: str = ""
    """A regular expression that the whole value must fit."""
    example: str = ""


class Template(msgspec.Struct, frozen=True, kw_only=True):
    """A document with places for values."""

    name: str
    title: str
    names: tuple[str, ...] = ()
    """What else people call it: who asks for one of these, or for its title, means this template."""
    heading: str = ""
    """The field whose value stands above the document; empty: the title does."""
    kind: str
    """What it is for, such as `complaint`."""
    language: str
    """ISO 639-1 code."""
    jurisdiction: str = ""
    """Where it is meant for, such as `CN`; empty: nowhere in particular."""
    fields: tuple[Field, ...]
    body: str
    """As `template_body.check_body` let it in."""


class Document(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A document that a person can sign, or go on with."""

    title: str
    markdown: str
    """All of it, its title too."""
    language: str
    template: str
    """By whose name it was filled."""
    blanks: tuple[str, ...] = ()
    """The names of what stayed blank."""
