"""When two URLs are one page, and two texts one text. Pure."""

import hashlib
import heapq
import re
from ipaddress import AddressValueError, IPv6Address
from urllib.parse import SplitResult, urlsplit

SKETCH = 128
"""Hashes that stand for a text."""
ALIKE = 0.6
"""Share of word triples that two texts have in common when they are one text with changes."""

_PORTS = {"http": 80, "https": 443}
_TRACKING = re.compile(
    r"(?:utm_\w+|fbclid|gclid|gclsrc|dclid|gbraid|wbraid|msclkid|yclid|twclid|igshid|mc_cid|mc_eid|_ga|_gl|_hsenc|_hsmi"
    r"|mkt_tok|oly_anon_id|oly_enc_id|vero_id|wickedid)",
    re.IGNORECASE,
)
_ESCAPED = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_BLANK = "".join(map(chr, range(0x21)))
_DROPPED = re.compile(r"[\t\r\n]")
_CJK = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"
_WORD = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+")


def key_of(url: str) -> str:
    """
    What a page is known by: the same for every spelling of its URL. Fetch the URL itself, never the key.

    Case and default port, escapes, dot segments, doubled slashes, the order of parameters, fragments and the marks of
    advertisers make no other page. Scheme, `www`, a slash at the end and every other parameter may make one.
    """
    if url.startswith("knowledge:"):
        return url.removeprefix("knowledge:")
    try:
        parts = urlsplit(_DROPPED.sub("", url.strip(_BLANK)))
        if parts.scheme not in _PORTS or not parts.hostname:
            return url
        host = _host(parts)
    except ValueError:  # no URL: an IPv6 address that does not close, a port that is none
        return url
    path = _path(_escapes(parts.path))
    query = _query(parts.query)
    fragment = f"#{_escapes(parts.fragment)}" if parts.fragment.startswith("!") else ""
    return f"{parts.scheme}://{host}{path}{query}{fragment}"


def _host(parts: SplitResult) -> str:
    name = (parts.hostname or "").rstrip(".")
    if ":" in name:
        try:
            name = f"[{IPv6Address(name)}]"
        except AddressValueError:
            name = f"[{name}]"
    elif not name.isascii():
        try:
            name = name.encode("idna").decode("ascii").lower()
        except UnicodeError:
            name = name.casefold()
    port = parts.port
    return name if port in {None, _PORTS[parts.scheme]} else f"{name}:{port}"


def _escapes(text: str) -> str:
    """Every escape in upper case, none where none is needed, and one wherever one is."""

    def one(match: re.Match[str]) -> str:
        character = chr(int(match[1], 16))
        return character if character in _UNRESERVED else f"%{match[1].upper()}"

    text = _ESCAPED.sub(one, text)
    return "".join(
        each if "!" <= each <= "~" else "".join(f"%{byte:02X}" for byte in each.encode("utf-8", "surrogatepass"))
        for each in text
    )


def _path(path: str) -> str:
    kept: list[str] = []
    for segment in path.split("/"):
        if segment == "..":
            kept[-1:] = []
        elif segment not in {"", "."}:
            kept.append(segment)
    ends = kept and path.endswith(("/", "/.", "/.."))
    return f"/{'/'.join(kept)}{'/' if ends else ''}"


def _query(query: str) -> str:
    pairs = [_escapes(each.replace("+", "%20")) for each in query.split("&") if each]
    pairs = [each for each in pairs if not _TRACKING.fullmatch(each.partition("=")[0])]
    pairs.sort(key=lambda each: each.partition("=")[0])
    return "?" + "&".join(pairs) if pairs else ""


def hash_of(text: str) -> str:
    """SHA-256 of a text, white space folded, in hexadecimal."""
    return hashlib.sha256(" ".join(text.split()).encode("utf-8", "surrogatepass")).hexdigest()


def sketch_of(text: str) -> tuple[int, ...]:
    """The smallest hashes of a text's word triples (bottom-k MinHash), ascending: the same in every process."""
    words = _WORD.findall(text.casefold())
    triples = {" ".join(words[n : n + 3]) for n in range(max(1, len(words) - 2))} if words else set()
    return tuple(heapq.nsmallest(SKETCH, {_number(each) for each in triples}))


def _number(triple: str) -> int:
    return int.from_bytes(hashlib.blake2b(triple.encode("utf-8", "surrogatepass"), digest_size=8).digest())


def alike(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Whether two sketches are of one text with small changes."""
    smallest = heapq.nsmallest(SKETCH, {*one, *other})
    both = {*one} & {*other}
    return bool(smallest) and sum(each in both for each in smallest) >= ALIKE * len(smallest)
