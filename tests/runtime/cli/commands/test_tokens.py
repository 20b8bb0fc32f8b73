"""`tokens`: shown once, listed without its secret, revoked by name; and commands bear who gave them."""

import time
from collections.abc import Callable

import pytest

from runtime.access.tokens import FRESH_SECONDS, SHAPE
from runtime.engine.actions import name_user
from tests.patience import HANGS_SECONDS
from tests.runtime.cli.commands.program import Place
from tests.runtime.cli.commands.test_serve import daemon


def test_a_token_is_printed_alone_once_and_revoked_by_its_name(place: Place) -> None:
    made = place.run("tokens", "create", "desk", "--role", "operate", "--expires", "90d")
    token = made.out.strip()
    assert (made.status, bool(SHAPE.fullmatch(token))) == (0, True)

    listed = place.run("tokens", "list")
    assert "desk" in listed.out
    assert "operate" in listed.out
    assert token[22:] not in listed.out + place.run("tokens", "list", "--json").out

    (told,) = place.run("tokens", "list", "--json").json["tokens"]
    assert (told["name"], told["role"], told["id"]) == ("desk", "operate", token[9:21])
    assert told["created"] < told["expires"]

    assert place.run("tokens", "create", "desk", "--role", "submit").status == 1
    assert place.run("tokens", "revoke", "desk").status == 0
    assert place.run("tokens", "list", "--json").json["tokens"] == []
    assert place.run("tokens", "revoke", "desk").status == 3


def test_the_last_says_what_it_means_and_tokens_are_turned_off_by_a_word_of_their_own(place: Place) -> None:
    assert place.run("tokens", "list", "--json").json == {"tokens": [], "wanted": False}
    for name in ("one", "two"):
        place.run("tokens", "create", name, "--role", "admin")
    assert "tokens off" not in place.run("tokens", "revoke", "one").out
    last = place.run("tokens", "revoke", "two")
    for said in (last.out, place.run("tokens", "list").out):
        assert "wants one" in said or "wanting one" in said
        assert "tokens create NAME --role admin" in said
        assert "tokens off --yes" in said
    assert place.run("tokens", "list", "--json").json == {"tokens": [], "wanted": True}

    refused = place.run("tokens", "off")
    assert (refused.status, "--yes" in refused.err) == (1, True)
    assert place.run("tokens", "list", "--json").json["wanted"] is True
    place.run("tokens", "create", "three", "--role", "submit")
    done = place.run("tokens", "off", "--yes")
    assert (done.status, "Revoked: three" in done.out) == (0, True)
    assert place.run("tokens", "list", "--json").json == {"tokens": [], "wanted": False}


def test_a_daemon_that_runs_hears_programs_without_a_token_only_once_they_are_off(place: Place) -> None:
    with daemon(place) as server:

        def ask() -> int:
            return server.ask("/tickets")[0]

        assert ask() == 200
        place.run("tokens", "create", "one", "--role", "admin")
        read_until(ask, 401)
        place.run("tokens", "revoke", "one")
        time.sleep(2 * FRESH_SECONDS)  # by then it has looked again
        assert ask() == 401
        place.run("tokens", "off", "--yes")
        read_until(ask, 200)


def read_until(ask: Callable[[], int], status: int) -> None:
    until = time.monotonic() + HANGS_SECONDS
    while ask() != status:
        assert time.monotonic() < until
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("create", "desk"), "needs --role"),
        (("create", "--role", "submit"), "needs the NAME"),
        (("create", "a b", "--role", "submit"), "A token's name is"),
        (("create", "desk", "--role", "root"), "invalid choice"),
        (("create", "desk", "--role", "submit", "--expires", "soon"), "--expires must be"),
        (("create", "desk", "--role", "submit", "--expires", "0d"), "--expires must be"),
        (("revoke",), "needs the NAME"),
        (("list", "desk"), "takes no name"),
        (("list", "--role", "submit"), "takes neither"),
        (("off", "desk", "--yes"), "takes no name"),
        (("revoke", "desk", "--yes"), "takes no --yes"),
    ],
    ids=str,
)
def test_what_cannot_be_is_one_sentence(place: Place, words: tuple[str, ...], said: str) -> None:
    done = place.run("tokens", *words)
    assert (done.status, done.out) == (2, "")
    assert (done.err.count("\n"), said in done.err) == (1, True)


def test_a_command_bears_who_gave_it(place: Place) -> None:
    place.article()
    told = place.run("submit", "How do I pull a torn sheet out of the printer?", "--json").json
    place.run("feedback", told["ticket"], "--answer", "Open the rear cover.", "--yes")

    done = place.run("status", told["ticket"], "--json").json["actions"]
    assert {each["by"] for each in done} == {f"shell:{name_user()}"}
    assert [each["what"] for each in done] == ["submitted", "taught"]
    assert place.run("trace", told["ticket"], "--json").json["actions"] == done
