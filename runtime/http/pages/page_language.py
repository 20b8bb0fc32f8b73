"""In which language a page speaks, and its texts: one file a language, all with the same keys."""

import functools
import tomllib
from pathlib import Path

from aiohttp import web

from actors.text.catalogue import html_language, say, say_count, say_name, say_step
from runtime.user_text import spell_out

LANGUAGES = {"en": "English", "zh": "中文", "ko": "한국어"}
"""By their codes, each as it calls itself."""
COOKIE = "terminus_language"
COOKIE_SECONDS = 365 * 86_400
_FOLDER = Path(__file__).parent / "texts"


class Texts:
    """The texts of one language: called with a key, and values for its places."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.tag = html_language(language)
        self._texts = load_texts(language)

    def __call__(self, key: str, **values: object) -> str:
        """:raises KeyError: there is no such text."""
        return self._texts[key].format(**values) if values else self._texts[key]

    def count(self, key: str, count: int) -> str:
        """The text of so many, in the form that the number asks for."""
        return self(f"{key}_one" if count == 1 else key, count=f"{count:,}")

    def name(self, prefix: str, key: str) -> str:
        """The text `PREFIX_KEY`, or the key's own words where there is none, as of a workflow that somebody added."""
        return self._texts.get(f"{prefix}_{key}") or spell_out(key)

    def step(self, name: str) -> str:
        """What a step of a run is called."""
        return say_step(spell_out(name), self.language)

    def say(self, key: str, **values: object) -> str:
        """A sentence of the catalogue that answers are written with."""
        return say(key, self.language, **values)

    def say_code(self, code: str) -> str:
        """What a code of an outcome means."""
        return say_name(code, self.language)

    def say_count(self, key: str, count: int) -> str:
        """The same of a sentence with a count."""
        return say_count(key, self.language, count)


@functools.cache
def load_texts(language: str) -> dict[str, str]:
    """All texts of a language, by their keys."""
    texts: dict[str, str] = tomllib.loads((_FOLDER / f"{language}.toml").read_text(encoding="utf-8"))
    return texts


def choose_language(request: web.Request) -> str:
    """What was chosen on this page or before, else what the browser prefers of those that there are, else English."""
    chosen = (request.query.get("lang", ""), request.cookies.get(COOKIE, ""))
    preferred = _read_preferences(request.headers.get("Accept-Language", ""))
    return next((each for each in (*chosen, *preferred) if each in LANGUAGES), "en")


def remember_language(request: web.Request, response: web.Response) -> None:
    """Keep what was chosen by `?lang=`, so that the next page is in that language, too."""
    if (chosen := request.query.get("lang", "")) in LANGUAGES:
        response.set_cookie(COOKIE, chosen, max_age=COOKIE_SECONDS, httponly=True, samesite="Lax")


def _read_preferences(header: str) -> list[str]:
    """The languages of an Accept-Language header without their regions, the most wanted first."""
    wanted = []
    for part in header.split(",")[:20]:
        tag, _, weight = part.partition(";")
        try:
            quality = float(weight.strip().removeprefix("q=")) if weight else 1.0
        except ValueError:
            quality = 0.0
        wanted.append((-quality, tag.strip().partition("-")[0].lower()))
    return [code for _, code in sorted(wanted, key=lambda each: each[0])]
