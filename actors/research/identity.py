"""When two URLs are one page, and two texts one text. Pure."""

import hashlib


def key_of(url: str) -> str:
    """What a page is known by: the same for every spelling of its URL. Fetch the URL itself, never the key."""
    return url.removeprefix("knowledge:")


def hash_of(text: str) -> str:
    """SHA-256 of a text, white space folded, in hexadecimal."""
    return hashlib.sha256(" ".join(text.split()).encode("utf-8", "surrogatepass")).hexdigest()
