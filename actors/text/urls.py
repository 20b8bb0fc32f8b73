"""URLs from outside: taken apart, and whether one may be shown and fetched. Pure."""

from urllib.parse import SplitResult, urlsplit

URL_CHARACTERS = 4095


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
