"""Names that a page speaks of: features, competitors, techniques. Only where the text says which is which. Pure."""

import re
from collections.abc import Iterator

from actors.evidence.sources import Entities
from actors.text.markdown_blocks import Segment, prose, segments
from actors.text.stop_words import CONNECTING, word_set
from actors.text.word_patterns import compile_words

MOST = 20
"""Names of one kind."""
NAME_CHARACTERS = 80
TEXT_CHARACTERS = 400_000
"""How far a text is looked through."""

_FEATURES = re.compile(
    r"\b(?:features?|capabilities|highlights|what it (?:does|can do))\b|功能|特性|기능", re.IGNORECASE
)
_RIVALS = re.compile(
    r"\b(?:competitors?|alternatives?|rivals|competition)\b|竞争对手|竞品|替代|경쟁|대안", re.IGNORECASE
)
_STACK = re.compile(
    r"\b(?:tech(?:nology)? stack|technologies(?: used)?|built with|powered by)\b|技术栈|기술 스택", re.IGNORECASE
)
_NO_FEATURES = re.compile(r"\b(?:missing|removed|deprecated|without|not supported|requests?|known)\b", re.IGNORECASE)

_ITEM = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+(?P<text>\S.*)$", re.MULTILINE)
_BOLD = re.compile(r"(?:\*\*|__)(?P<name>[^*_\n]{2,80})(?:\*\*|__)")
_BREAK = compile_words(r"\s+[-–—:|]\s+|:\s+|\s+\(|(?<=[a-z]{3})[.;]\s|\s*[–—]\s*")

_PART = r"[\w+#&-]{0,79}(?![\w+#&-])"
"""The rest of a word. Longer ones are no names, and a search that begins at each letter of one would never end."""
_NAME = (
    rf"(?<![A-Za-z0-9_])(?:(?:[A-Z]{_PART}|[a-z]{{1,40}}[A-Z]{_PART})(?:\.(?:js|io|ai|com|net|NET))?"
    rf"(?: (?:[A-Z]{_PART}|\d{{1,9}}(?:\.\d{{1,9}})?)){{0,3}})"
)
_NAMES = rf"{_NAME}(?:(?:, (?:and |or )?| and | or | & ){_NAME}){{0,9}}"
_NAMED = re.compile(_NAME)
_RIVAL_FORMS = tuple(
    re.compile(form.format(names=f"(?P<names>{_NAMES})", of=r"(?: (?:to|of) [\w. -]{2,40}?)?"))
    for form in (
        r"\b(?:[Cc]ompetitors?|[Rr]ivals|[Aa]lternatives?){of},? (?:includ(?:e|ing)|are|such as|like)(?: the)? {names}",
        r"\b(?:competes?|competing) (?:directly )?(?:with|against) {names}",
        r"\b(?:an?|the|best|popular|open-source) alternatives? to {names}",
        r"\b[Uu]nlike {names},",
    )
)
_VERSUS = re.compile(rf"(?P<a>{_NAME}) (?:vs\.?|versus) (?P<b>{_NAME})")
_BUILT = re.compile(
    r"\b(?:built|written|implemented|developed|coded|programmed|powered)"
    rf" (?P<by>(?:entirely |mostly |completely )?(?:with|in|on(?: top of)?|using|by|atop)) (?:the )?(?P<names>{_NAMES})"
)
_SAFE = re.compile(r"with|top of|using|atop")
_TECHNIQUES = word_set(
    """
    python django flask fastapi java kotlin scala spring javascript typescript node.js node react angular vue vue.js
    svelte next.js nuxt php laravel symfony ruby rails go golang rust c c++ c# .net swift objective-c dart flutter
    elixir phoenix erlang haskell clojure perl lua r julia zig postgresql postgres mysql mariadb sqlite mongodb
    redis memcached cassandra elasticsearch opensearch clickhouse kafka rabbitmq nats docker kubernetes terraform
    ansible nginx apache aws azure gcp linux graphql grpc tensorflow pytorch hadoop spark airflow snowflake electron
    webassembly wordpress drupal
    """
)
_COMMON = (CONNECTING - {"go"}) | word_set(
    """
    read see learn click best top free new many home contact pricing login sign english french german spanish chinese
    japanese korean latin january february march april june july august september october november december monday
    tuesday wednesday thursday friday saturday sunday
    """
)


def entities(text: str) -> Entities:
    """What lists under telling headings name, and sentences such as "built with X" or "X vs. Y"."""
    features: dict[str, str] = {}
    rivals: dict[str, str] = {}
    stack: dict[str, str] = {}
    headings: dict[int, str] = {}
    for number, part in enumerate(segments(text[:TEXT_CHARACTERS])):
        if part.heading:
            headings[number] = prose(part.text.lstrip("# "))
            continue
        if part.code:
            continue
        under = headings.get(part.above[-1], "") if part.above else ""
        if _FEATURES.search(under) and not _NO_FEATURES.search(under):
            _add(features, _items(part))
        if _RIVALS.search(under):
            _add(rivals, (name for name in _items(part) if _proper(name)))
        if _STACK.search(under):
            _add(stack, (name for item in _items(part) for name in item.split(", ") if _proper(name)))
        said = prose(part.text)
        _add(rivals, _competing(said))
        _add(stack, _built(said))
    for heading in headings.values():
        _add(rivals, _versus(heading))
    return Entities(tuple(features.values()), tuple(rivals.values()), tuple(stack.values()))


def _add(known: dict[str, str], names: Iterator[str]) -> None:
    for name in names:
        if len(known) < MOST and 1 < len(name) <= NAME_CHARACTERS:
            known.setdefault(name.casefold(), name)


def _items(part: Segment) -> Iterator[str]:
    """What each item of a list, or the first cell of each row of a table, is about."""
    if part.text.lstrip().startswith("|"):
        for row in part.text.split("\n")[2:]:
            yield prose(row.strip().strip("|").split("|")[0])
        return
    for found in _ITEM.finditer(part.text):
        bold = _BOLD.match(found["text"])
        name = bold["name"] if bold else _BREAK.split(prose(found["text"]))[0]
        yield prose(name).strip(" :.;,*_")


def _proper(name: str) -> bool:
    return bool(_NAMED.fullmatch(name)) and name.split()[0].casefold() not in _COMMON


def _competing(said: str) -> Iterator[str]:
    for form in _RIVAL_FORMS:
        for found in form.finditer(said):
            yield from _each(found["names"])
    yield from _versus(said)


def _versus(said: str) -> Iterator[str]:
    for found in _VERSUS.finditer(said):
        yield from _strip_common(found["a"])
        yield from _strip_common(found["b"])


def _built(said: str) -> Iterator[str]:
    for found in _BUILT.finditer(said):
        sure = _SAFE.search(found["by"])
        yield from (name for name in _each(found["names"]) if sure or name.casefold() in _TECHNIQUES)


def _each(names: str) -> Iterator[str]:
    for name in re.split(r", (?:and |or )?| and | or | & ", names):
        yield from _strip_common(name)


def _strip_common(name: str) -> Iterator[str]:
    """A name without the words before it that only begin the sentence."""
    parts = name.split()
    while parts and parts[0].casefold() in _COMMON:
        del parts[0]
    if parts and _NAMED.fullmatch(" ".join(parts)):
        yield " ".join(parts)
