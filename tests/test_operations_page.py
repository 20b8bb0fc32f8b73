"""docs/operations.md: each command of its blocks runs as it stands there, beside a daemon."""

import json
from pathlib import Path

from tests.pages import install_command, read_commands, run_command
from tests.runtime.cli.commands.program import Place
from tests.runtime.cli.commands.test_serve import daemon


def test_every_command_does_what_the_page_says(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.environ = install_command(tmp_path, place.environ)
    for ticket in ("T-1", "T-2", "T-3"):
        place.run("submit", "--quiet", "--id", ticket, "--requester", "ann other", f"My printer smokes, {ticket}.")
    said: dict[str, str] = {}

    with daemon(place) as server:
        for command in read_commands("operations.md"):
            said[command] = run_command(command.replace("http://127.0.0.1:8421", server.url), tmp_path, place.environ)

    def find(part: str) -> str:
        (told,) = (told for command, told in said.items() if part in command)
        return told

    assert "helpdesk" in find("tokens list")
    assert json.loads(find("curl"))["ticket"]
    assert place.run("tokens", "list", "--json").json["tokens"] == []
    assert not {"T-1", "T-2", "T-3"} & {each["ticket"] for each in place.run("status", "--json").json["runs"]}
