"""`traces` finds runs by intent, agent, end and duration."""

import pytest

from tests.runtime.cli.commands.program import Place


@pytest.mark.req("LG-29")
def test_traces_are_found_on_the_command_line(place: Place) -> None:
    place.run("submit", "--quiet", "--id", "HD-1", "My VPN disconnects every ten minutes")
    told = place.run("traces", "--json").json["traces"]

    assert [each["ticket"] for each in told] == ["HD-1"]
    assert told[0]["intent"]
    assert "HD-1" in place.run("traces", "--intent", told[0]["intent"], "--since", "1h").out
    none = place.run("traces", "--failed")
    assert none.out.startswith("No run is like that;")
    intent = told[0]["intent"]
    for named, said in (("nonsense", f"Known are: {intent}."), (f"{intent}s", f"Did you mean {intent!r}?")):
        assert place.run("traces", "--intent", named).out == f"No run asks for {named!r}. {said}\n"
    assert place.run("traces", "--intent", intent, "--failed").out == none.out
    bad = place.run("traces", "--slow", "x")
    assert (bad.status, bad.err) == (2, "--slow must be a duration such as 10s, 2m or 1h, not 'x'.\n")


def test_what_is_purged_is_found_no_more(place: Place) -> None:
    place.run("submit", "--quiet", "--id", "HD-1", "one")
    trace = place.run("status", "HD-1", "--json").json["trace"]
    place.run("purge", "HD-1", "--yes")

    assert place.run("traces", "--json").json["traces"] == []
    assert place.run("trace", trace).status == 3
