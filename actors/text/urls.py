"""URLs from outside: taken apart, whether one may be shown and fetched, and when two are one page. Pure."""

import re
from ipaddress import AddressValueError, IPv6Address
from urllib.parse import SplitResult, urlsplit

URL_CHARACTERS = 4095

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


def host_of(url: str) -> str:
    """The host that a page is read from; own documents are all of one."""
    parts = split(url)
    return (parts.hostname or "").removeprefix("www.") if parts is not None else ""


def web_address(url: object) -> str:
    """A URL from outside that may be shown and fetched, without white space around it; empty when it may not."""
    if not isinstance(url, str) or len(url) > 2 * URL_CHARACTERS:
        return ""
    url = url.strip()
    if len(url) > URL_CHARACTERS or not url.isprintable() or any(c.isspace() or c in '\\<>"`' for c in url):
        return ""
    parts = split(url)
    if parts is None or parts.scheme not in {"http", "https"} or not parts.hostname or "@" in parts.netloc:
        return ""
    return url


def split(url: str) -> SplitResult | None:
    """The parts of a URL; nothing when it is none."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return None
    return parts


def key_of(url: str) -> str:
    """
    What a page is known by: the same for every spelling of its URL. Fetch the URL itself, never the key.

    Case and default port, escapes, dot segments, doubled slashes, the order of parameters, fragments and the marks of
    advertisers make no other page. Scheme, `www`, a slash at the end and every other parameter may make one.
    """
    if url.startswith("knowledge:"):
        return url.removeprefix("knowledge:")
    parts = split(_DROPPED.sub("", url.strip(_BLANK)))
    if parts is None or parts.scheme not in _PORTS or not parts.hostname:
        return url
    host = _host(parts)
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
