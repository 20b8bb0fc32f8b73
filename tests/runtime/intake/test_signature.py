"""Signatures of deliveries: every kind that helpdesks use is believed, and not when anything is changed."""

import base64
import hashlib
import hmac

import pytest

from runtime.intake.adapter_file import SignatureRule, verify

BODY = '{"ticket": {"id": 1, "text": "Größe {time} {body}"}}'.encode()
NOW = 1_795_293_078.0
SECRET = "a secret"


def sign(algorithm: str, message: bytes, key: bytes = SECRET.encode()) -> bytes:
    return hmac.new(key, message, getattr(hashlib, algorithm)).digest()


TIME = str(int(NOW)).encode()
MILLISECONDS = str(int(NOW * 1000)).encode()
ISO = b"2026-11-21T20:31:18Z"
STANDARD = base64.b64encode(sign("sha256", b"msg_1." + TIME + b"." + BODY)).decode()
KINDS = {
    "zammad": (
        SignatureRule(scheme="hmac", header="X-Hub-Signature", algorithm="sha1", prefix="sha1="),
        {"X-Hub-Signature": f"sha1={sign('sha1', BODY).hex()}"},
    ),
    "zendesk": (
        SignatureRule(scheme="hmac", header="X-Sig", encoding="base64", signed="{time}{body}", time_header="X-Time"),
        {"X-Sig": base64.b64encode(sign("sha256", ISO + BODY)).decode(), "X-Time": ISO.decode()},
    ),
    "glpi": (
        SignatureRule(scheme="hmac", header="X-Sig", signed="{body}{time}", time_header="X-Time"),
        {"X-Sig": sign("sha256", BODY + TIME).hex(), "X-Time": TIME.decode()},
    ),
    "milliseconds": (
        SignatureRule(scheme="hmac", header="X-Sig", signed="{time}.{body}", time_header="X-Time"),
        {"X-Sig": sign("sha256", MILLISECONDS + b"." + BODY).hex(), "X-Time": MILLISECONDS.decode()},
    ),
    "freescout": (
        SignatureRule(scheme="hmac", header="X-Sig", algorithm="sha1", encoding="base64"),
        {"X-Sig": base64.b64encode(sign("sha1", BODY)).decode()},
    ),
    "standard webhooks": (
        SignatureRule(
            scheme="hmac", header="webhook-signature", encoding="base64", prefix="v1,", signed="{id}.{time}.{body}",
            time_header="webhook-timestamp", id_header="webhook-id",
        ),
        {
            "Webhook-Id": "msg_1", "Webhook-Timestamp": TIME.decode(),
            "Webhook-Signature": f"v1,old v1,{STANDARD}",
        },
    ),
    "bearer": (SignatureRule(scheme="bearer"), {"Authorization": f"Bearer {SECRET}"}),
    "header": (SignatureRule(scheme="header", header="X-Secret"), {"x-secret": SECRET}),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_signed_as_it_must_be_is_believed_and_nothing_else(kind: str) -> None:
    rule, headers = KINDS[kind]

    assert verify(rule, SECRET, headers, BODY, NOW) == ""
    assert verify(rule, SECRET + "x", headers, BODY, NOW) == "bad signature"
    assert verify(rule, SECRET, {}, BODY, NOW) == "no signature"
    if rule.scheme == "hmac":
        assert verify(rule, SECRET, headers, BODY + b" ", NOW) == "bad signature"
        assert verify(rule, SECRET, headers, BODY[:-1], NOW) == "bad signature"


@pytest.mark.parametrize("seconds", [-301, 301])
def test_what_was_signed_long_ago_is_not_believed_again(seconds: int) -> None:
    rule, headers = KINDS["glpi"]

    assert verify(rule, SECRET, headers, BODY, NOW + seconds) == "old timestamp"


@pytest.mark.parametrize("time", ["", "soon", "2026-13-41T00:00:00Z", "2026-11-21", "1e9", "-5", "9" * 40, "１２３"])
def test_a_time_that_is_none_is_refused_before_anything_is_computed(time: str) -> None:
    rule, headers = KINDS["glpi"]

    assert verify(rule, SECRET, {**headers, "X-Time": time}, BODY, NOW) == "no timestamp"


def test_an_id_that_looks_like_a_place_moves_nothing() -> None:
    rule, headers = KINDS["standard webhooks"]
    forged = base64.b64encode(sign("sha256", BODY + b"." + TIME + b"." + BODY)).decode()
    headers = {**headers, "Webhook-Id": "{body}", "Webhook-Signature": f"v1,{forged}"}

    assert verify(rule, SECRET, headers, BODY, NOW) == "bad signature"
