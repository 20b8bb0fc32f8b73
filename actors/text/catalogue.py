"""Our own sentences in the language of the ticket: looked up by key, with the language as an argument. Pure."""

import functools
import tomllib
from pathlib import Path

import msgspec

_FILES = Path(__file__).parent / "catalogues"
ENGLISH = "en"
CATALOGUES = tuple(sorted(file.stem for file in _FILES.glob("*.toml")))
"""Codes of the languages that have one; any other gets English."""


class Catalogue(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What we say in one language, and how it writes numbers."""

    tag: str
    """As HTML names the language."""
    thousands: str
    decimal: str
    sentences: dict[str, str]
    steps: dict[str, str]
    """What the steps and events of a run are called, where that is not their own names in words."""


def say(key: str, language: str, **values: object) -> str:
    """
    A sentence with these values in its places; numbers are written as the language writes them.

    :param language: ISO 639-1 code; one without a catalogue, or none, is told in English.
    :raises KeyError: no catalogue has this key.
    """
    told = load_catalogue(language)
    written = {name: _write(value, told) for name, value in values.items()}
    sentence = told.sentences[key]
    return sentence.format(**written) if written else sentence


def say_count(key: str, language: str, count: int, **values: object) -> str:
    """A sentence with a count in it, in the form that the count asks for."""
    return say(f"{key}_one" if count == 1 else key, language, count=count, **values)


def say_step(name: str, language: str) -> str:
    """What a step or an event of a run is called, whose own name in English words stays where there is no other."""
    return load_catalogue(language).steps.get(name, name)


def say_name(thing: str, language: str) -> str:
    """What something is called: the sentence of a key, and any other text as it is."""
    return say(thing, language) if thing in load_catalogue(language).sentences else thing


@functools.cache
def every_form(key: str) -> frozenset[str]:
    """A sentence in all languages: how what was stored is known again, whatever language it is in."""
    return frozenset(say(key, each) for each in CATALOGUES)


def html_language(language: str) -> str:
    """The tag of the language that `say` speaks, as HTML names it."""
    return load_catalogue(language).tag


@functools.cache
def load_catalogue(language: str) -> Catalogue:
    """The catalogue of a language, read when it is first asked for; English where there is none."""
    file = _FILES / f"{language if language in CATALOGUES else ENGLISH}.toml"
    return msgspec.convert(tomllib.loads(file.read_text(encoding="utf-8")), Catalogue)


def _write(value: object, told: Catalogue) -> object:
    match value:
        case bool():
            return value
        case int():
            return f"{value:,}".replace(",", told.thousands)
        case float():
            return f"{value:.2f}".replace(".", told.decimal)
        case _:
            return value
