"""A model's text brings in no address of its own."""

import pytest

from runtime.llm.openai_model import REMOVED, remove_addresses


@pytest.mark.parametrize(
    "address",
    [
        "https://evil.example/login?x=1",
        "HTTP://EVIL.EXAMPLE",
        "ftp://evil.example/a",
        "//evil.example/x.js",
        "www.evil.example",
        "evil.example/login",
        "sub.evil.co.uk/a/b",
        "mailto:me@evil.example",
        "me.too@evil.example",
        "javascript:alert(1",
        "tel:+15550100",
    ],
)
def test_an_address_that_was_not_shown_is_taken_out(address: str) -> None:
    value = {"claims": [{"text": f"Go to {address}, then log in.", "passage": 1}]}
    cleaned, count = remove_addresses(value, ["Log in at https://intranet.example/login."])
    assert count == 1
    assert cleaned == {"claims": [{"text": f"Go to {REMOVED}, then log in.", "passage": 1}]}


@pytest.mark.parametrize(
    "text",
    [
        "See https://intranet.example/login.",
        "Write to help@intranet.example!",
        "Set max_connections in postgresql.conf to 100 (see pg_hba.conf).",
        "Choose either/or; 24/7; at 10:30; a ratio of 1:2; e.g. this.",
        "The hotel:5 of the list; metadata:none.",
        "Version 3.11.2 and/or 3.12: run `ls /etc/openvpn`.",
    ],
)
def test_what_was_shown_and_what_is_no_address_stays(text: str) -> None:
    shown = ["Log in at https://intranet.example/login. Questions: help@intranet.example"]
    assert remove_addresses([text], shown) == ([text], 0)
