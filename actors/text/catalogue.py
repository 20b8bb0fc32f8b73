"""Our own sentences in the language of the ticket: looked up by key, with the language as an argument. Pure."""

import functools
import importlib
from typing import Any

ENGLISH = "en"
CATALOGUES = (ENGLISH, "zh", "ko", "de")
"""Codes of the languages that have one; any other gets English."""


def say(key: str, language: str, **values: object) -> str:
    """
    A sentence with these values in its places; numbers are written as the language writes them.

    :param language: ISO 639-1 code; one without a catalogue, or none, is told in English.
    :raises KeyError: no catalogue has this key.
    """
    told = _load(language)
    written = {name: _write(value, told) for name, value in values.items()}
    sentence: str = told.SENTENCES[key]
    return sentence.format(**written) if written else sentence


def say_count(key: str, language: str, count: int, **values: object) -> str:
    """A sentence with a count in it, in the form that the count asks for."""
    return say(f"{key}_one" if count == 1 else key, language, count=count, **values)


def say_step(name: str, language: str) -> str:
    """What a step or an event of a run is called, whose own name in English words stays where there is no other."""
    steps: dict[str, str] = _load(language).STEPS
    return steps.get(name, name)


def say_name(thing: str, language: str) -> str:
    """What something is called: the sentence of a key, and any other text as it is."""
    return say(thing, language) if thing in _load(language).SENTENCES else thing


@functools.cache
def every_form(key: str) -> frozenset[str]:
    """A sentence in all languages: how what was stored is known again, whatever language it is in."""
    return frozenset(say(key, each) for each in CATALOGUES)


def html_language(language: str) -> str:
    """The tag of the language that `say` speaks, as HTML names it."""
    tag: str = _load(language).TAG
    return tag


@functools.cache
def _load(language: str) -> Any:  # a module
    known = language if language in CATALOGUES else ENGLISH
    return importlib.import_module(f"actors.text.catalogues.{known}")


def _write(value: object, told: Any) -> object:
    match value:
        case bool():
            return value
        case int():
            return f"{value:,}".replace(",", told.THOUSANDS)
        case float():
            return f"{value:.2f}".replace(".", told.DECIMAL)
        case _:
            return value
