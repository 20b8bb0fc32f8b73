"""`tokens`: shown once, listed without its secret, revoked by name; and commands bear who gave them."""

import pytest

from runtime.access.tokens import SHAPE
from runtime.actions import name_user
from tests.runtime.cli.commands.program import Place


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
    assert place.run("tokens", "list", "--json").json == {"tokens": []}
    assert place.run("tokens", "revoke", "desk").status == 3


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
