"""The file that connects a helpdesk, as it is begun: with what a person has to do, and what each key means."""

import json
from pathlib import Path

from runtime.intake.adapter_file import AdapterFile, load_tables, read_adapter
from runtime.intake.connections import NAME
from runtime.intake.queries import AdapterError
from runtime.processes.atomic_files import write_whole

COMMENTS = 48
"""The column of the comments behind the keys."""


def write_connection(folder: Path, system: str, name: str = "", url: str = "") -> tuple[Path, tuple[str, ...]]:
    """
    Write the file of a new connection.

    :param folder: of all connections; it is made.
    :param name: of the connection; empty: that of the system.
    :param url: the helpdesk's address; empty: an example is written.
    :returns: the file, and what is to be done next, a sentence each.
    :raises AdapterError: there is no such system, or a file already.
    """
    adapter = read_adapter(load_tables(system, folder), system)
    name = name or system
    if not NAME.fullmatch(name):
        raise AdapterError(f"{name!r} is no name of a helpdesk: 1 to 30 small letters, digits and underscores.")
    path = folder / f"{name}.toml"
    if path.exists():
        raise AdapterError(f"{path} is there already. Change it, or choose another name with --name.")
    folder.mkdir(parents=True, exist_ok=True)
    steps = list_steps(adapter, name)
    write_whole(path, _render(adapter, system, name, url, steps))
    return path, steps


def list_steps(adapter: AdapterFile, name: str) -> tuple[str, ...]:
    """What a person has to do for a connection, in its order."""
    setup = adapter.setup
    steps = [each.replace("{name}", name).replace("{NAME}", name.upper()) for each in setup.steps] if setup else []
    variable = name.upper()
    steps.append(f"put the token into the environment as {variable}_TOKEN, or into a file")
    if adapter.signature.scheme != "none":
        steps.append(f"to be told at once, have webhooks sent to /intake/{name}, with a secret in {variable}_SECRET")
    return tuple(steps)


def _render_client(client: str, variable: str) -> list[tuple[str, str]]:
    return [
        (f'client = "{client}"', "as whom tokens are asked for"),
        (f'client_secret = "env:{variable}_CLIENT_SECRET"', ""),
    ]


def _render(adapter: AdapterFile, system: str, name: str, url: str, steps: tuple[str, ...]) -> str:
    setup, variable = adapter.setup, name.upper()
    address = url or (setup.url if setup else "https://helpdesk.example.org")
    keys = [
        (f"system = {json.dumps(system)}", ""),
        (f"url = {json.dumps(address)}", "nothing else is ever asked"),
        (f'token = "env:{variable}_TOKEN"', "or file:PATH; never the secret itself"),
        *([(f'smtp = "{setup.smtp}"', "what mails are sent by")] if setup and setup.smtp else []),
        *([(f'user = "{setup.user}"', "whose token or password it is")] if setup and setup.user else []),
        *(_render_client(setup.client, variable) if setup and setup.client else []),
        (f'bot = "{setup.bot if setup else ""}"', "the account of the token, as the helpdesk names it in tickets"),
        *(
            [(f'# secret = "env:{variable}_SECRET"', f"what webhooks to /intake/{name} are signed with")]
            if adapter.signature.scheme != "none"
            else []
        ),
        ('mode = "draft"', "off, dry_run, draft (private notes only), approve or auto"),
        ("# queues = []", "only these; empty: all"),
        ('# fallback = ""', "who gets what nobody could answer"),
    ]
    todo = [f"# {number}. {step[:1].upper()}{step[1:]}." for number, step in enumerate(steps, 1)]
    lines = [f"{key:<{COMMENTS}}# {comment}" if comment else key for key, comment in keys]
    head = f"# {adapter.title}. What each key means stands in docs/helpdesks.md; to do before the daemon is started:"
    return "\n".join([head, *todo, "", *lines, ""])
