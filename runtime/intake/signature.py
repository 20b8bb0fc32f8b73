"""Whether a delivery really comes from the helpdesk: a signature over its raw bytes, or a secret that it bears."""

import base64
import contextlib
import datetime
import hashlib
import hmac
import re
from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

Refusal = Literal["", "no signature", "bad signature", "no timestamp", "old timestamp"]
"""Why a delivery is not believed; empty: it is."""
ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?Z", re.ASCII)
DIGESTS = {"sha1": hashlib.sha1, "sha256": hashlib.sha256, "sha512": hashlib.sha512}


class SignatureRule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a helpdesk signs. Header names are compared without regard to case."""

    scheme: Literal["hmac", "bearer", "header", "none"]
    """`hmac`: over the bytes; `bearer`, `header`: the secret itself stands there; `none`: it cannot, and is polled."""
    header: Annotated[str, Meta(max_length=100)] = "Authorization"
    algorithm: Literal["sha1", "sha256", "sha512"] = "sha256"
    encoding: Literal["hex", "base64"] = "hex"
    prefix: Annotated[str, Meta(max_length=40)] = ""
    """What stands before the signature, such as `sha256=`."""
    signed: Annotated[str, Meta(max_length=100)] = "{body}"
    """What is signed: `{body}`, `{time}` and `{id}` stand for the raw body and for the two headers below."""
    time_header: Annotated[str, Meta(max_length=100)] = ""
    """Unix seconds, milliseconds, or ISO 8601 in UTC."""
    id_header: Annotated[str, Meta(max_length=100)] = ""
    tolerance_seconds: Annotated[float, Meta(ge=1, le=86_400)] = 300.0
    """So old a delivery may be, or so far ahead its clock."""
    key: Literal["text", "base64"] = "text"
    """How the secret becomes the key: as it is, or decoded."""
    challenge: Annotated[str, Meta(max_length=100)] = ""
    """What a helpdesk signs to ask whether we know the secret; it expects the signature of that signature."""


def verify(rule: SignatureRule, secret: str, headers: Mapping[str, str], body: bytes, now: float) -> Refusal:
    """
    Why a delivery is not believed, before anything of it is read.

    :param now: Unix seconds.
    """
    if rule.scheme == "none":
        return ""
    given = _find(headers, rule.header)
    if not given:
        return "no signature"
    if rule.scheme in {"bearer", "header"}:
        expected = f"Bearer {secret}" if rule.scheme == "bearer" else rule.prefix + secret
        return "" if _is_same(given, expected) else "bad signature"
    time = _find(headers, rule.time_header) if rule.time_header else ""
    if rule.time_header:
        if (at := _read_time(time)) is None:
            return "no timestamp"
        if abs(now - at) > rule.tolerance_seconds:
            return "old timestamp"
    message = _compose(rule.signed, body, time, _find(headers, rule.id_header))
    expected = rule.prefix + _sign(rule, secret, message)
    return "" if any(_is_same(each, expected) for each in given.split()) else "bad signature"


def answer_challenge(rule: SignatureRule, secret: str, given: str) -> str:
    """
    The answer to a helpdesk that asks whether we know the secret; empty: it is none of its questions.

    Nothing else is ever signed for whoever asks: a delivery could be forged by it.
    """
    if not rule.challenge or not _is_same(given, _sign(rule, secret, rule.challenge.encode())):
        return ""
    return _sign(rule, secret, given.encode())


def _sign(rule: SignatureRule, secret: str, message: bytes) -> str:
    key = secret.encode()
    if rule.key == "base64":
        key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.new(key, message, DIGESTS[rule.algorithm])
    return digest.hexdigest() if rule.encoding == "hex" else base64.b64encode(digest.digest()).decode()


def _compose(signed: str, body: bytes, time: str, delivery: str) -> bytes:
    """The signed bytes; what is put in is never looked through for places of its own."""
    values = {"{body}": body, "{time}": time.encode(), "{id}": _encode(delivery)}
    return b"".join(values.get(part, part.encode()) for part in re.split(r"(\{[a-z]+\})", signed))


def _read_time(text: str) -> float | None:
    if ISO.fullmatch(text):
        with contextlib.suppress(ValueError):
            return datetime.datetime.fromisoformat(text).timestamp()
    if not text.isascii() or not text.isdecimal() or len(text) > 16:
        return None
    return int(text) / 1_000 if len(text) > 11 else float(text)


def _find(headers: Mapping[str, str], name: str) -> str:
    wanted = name.casefold()
    return next((value for key, value in headers.items() if key.casefold() == wanted), "")


def _is_same(given: str, expected: str) -> bool:
    return hmac.compare_digest(_encode(given), _encode(expected))


def _encode(header: str) -> bytes:
    """The bytes that came: a header may hold some that are no text."""
    return header.encode("utf-8", "surrogateescape")
