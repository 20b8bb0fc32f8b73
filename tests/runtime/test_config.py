"""The shipped file says what holds anyway; whatever is wrong is refused with its place and a remedy."""

import re
import tomllib
from pathlib import Path

import msgspec
import pytest

from runtime.config import ConfigError, is_loopback, load
from runtime.config_schema import describe_type, keys
from runtime.kubernetes import service_variables
from runtime.settings import AgentSettings, Settings
from tests import ROOT

SHIPPED = ROOT / "config.toml"


def write(folder: Path, text: str) -> Path:
    file = folder / "mine.toml"
    file.write_text(text, encoding="utf-8")
    return file


def refusal(folder: Path, text: str, environ: dict[str, str] | None = None) -> str:
    with pytest.raises(ConfigError) as caught:
        load(write(folder, text), environ or {})
    sentence = str(caught.value)
    assert "\n" not in sentence
    return sentence


@pytest.mark.req("SY-7")
def test_the_shipped_file_names_every_setting_with_the_value_that_holds_anyway() -> None:
    shipped = tomllib.loads(SHIPPED.read_text(encoding="utf-8"))
    defaults = msgspec.to_builtins(Settings())
    del defaults["agents"]["limits"]  # a table for each agent that has other ones

    assert {section: list(table) for section, table in shipped.items()} == {
        section: list(table) for section, table in defaults.items()
    }
    assert msgspec.convert(shipped, Settings) == Settings()


@pytest.mark.req("SY-7")
def test_every_number_of_the_shipped_file_is_explained_with_its_bounds() -> None:
    lines = SHIPPED.read_text(encoding="utf-8").splitlines()
    for key in keys().values():
        if not describe_type(key.type).startswith(("a number", "a whole number")):
            continue
        section = lines[next(n for n, line in enumerate(lines) if line.startswith(f"[{key.section}]")) :]
        line = next(line for line in section if line.startswith(f"{key.name} = "))
        assert re.search(rf"#.*\b{describe_type(key.type).rpartition(' ')[2]}\b", line), line


def test_every_number_has_bounds_and_every_setting_can_be_explained() -> None:
    for key in keys().values():
        sentence = describe_type(key.type)
        assert sentence
        assert "None" not in sentence


def test_a_value_of_the_file_replaces_the_default_and_a_variable_replaces_both(tmp_path: Path) -> None:
    file = write(tmp_path, '[run]\nmax_handoffs = 17\nretries = 2\n[model]\nbase_url = "http://127.0.0.1:1/v1"\n')
    environ = {
        "TERMINUS_RUN_RETRIES": "3",
        "OPENAI_BASE_URL": "http://127.0.0.1:2/v1",
        "OPENAI_API_KEY": "usual",
        "TERMINUS_MODEL_API_KEY": "ours",
        "TERMINUS_MODEL_FALLBACK": "false",
        "TERMINUS_RUN_MAX_SECONDS": "1.5",
        "HOME": "/irrelevant",
    }

    settings = load(file, environ)

    assert (settings.run.max_handoffs, settings.run.retries, settings.run.max_seconds) == (17, 3, 1.5)
    assert settings.model.base_url == "http://127.0.0.1:2/v1"
    assert (settings.model.api_key, settings.model.fallback) == ("ours", False)


def test_a_key_or_token_may_stand_in_a_file_that_a_variable_names(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("kept apart\n", encoding="utf-8")
    (tmp_path / "token").write_text("correct-horse-battery", encoding="utf-8")
    environ = {
        "OPENAI_API_KEY": "usual",
        "TERMINUS_MODEL_API_KEY_FILE": str(tmp_path / "key"),
        "TERMINUS_SERVER_TOKEN_FILE": str(tmp_path / "token"),
    }

    settings = load(write(tmp_path, ""), environ)

    assert (settings.model.api_key, settings.server.token) == ("kept apart", "correct-horse-battery")


@pytest.mark.req("PR-26")
def test_each_agent_has_a_table_of_its_own_and_variables_name_it(tmp_path: Path) -> None:
    text = "[agents]\nfolder = 'mine'\n[agents.worker]\nseconds = 9\n[agents.contract_law]\nretries = 3\n"
    environ = {"TERMINUS_AGENTS_WORKER_SECONDS": "7.5", "TERMINUS_AGENTS_CONTRACT_LAW_SECONDS": "8"}

    agents = load(write(tmp_path, text), environ).agents

    assert agents.folder == str(tmp_path / "mine")
    assert agents.limits == {
        "worker": AgentSettings(seconds=7.5), "contract_law": AgentSettings(seconds=8.0, retries=3),
    }  # fmt: skip
    assert load(write(tmp_path, text), {"TERMINUS_AGENTS_FOLDER": "here"}).agents.folder == "here"
    assert load(write(tmp_path, "[agents]\nfolder = ''\n"), {}).agents.folder == ""
    for variable in ("TERMINUS_AGENTS_WORKER", "TERMINUS_AGENTS_SECONDS", "TERMINUS_AGENTS_WORKER_TRIES"):
        assert f"{variable} sets nothing" in refusal(tmp_path, "", {variable: "1"})


def test_an_empty_usual_variable_is_as_if_it_were_not_set(tmp_path: Path) -> None:
    file = write(tmp_path, '[model]\napi_key = "from the file"\n')

    assert load(file, {"OPENAI_API_KEY": ""}).model.api_key == "from the file"


def test_the_file_is_the_named_one_or_the_variables_or_the_one_that_is_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert load(None, {}) == Settings()

    (tmp_path / "config.toml").write_text("[run]\nretries = 4\n", encoding="utf-8")
    assert load(None, {}).run.retries == 4

    other = write(tmp_path, "[run]\nretries = 5\n")
    assert load(None, {"TERMINUS_CONFIG": str(other)}).run.retries == 5
    assert load(tmp_path / "config.toml", {"TERMINUS_CONFIG": str(other)}).run.retries == 4


def test_a_relative_folder_is_meant_from_the_file_and_in_a_variable_from_here(tmp_path: Path) -> None:
    file = write(tmp_path, '[storage]\nfolder = "data"\n[knowledge]\nfolders = ["faq", "/srv/manual", "~/notes"]\n')

    settings = load(file, {"HOME": "/home/somebody"})
    assert settings.storage.folder == str(tmp_path / "data")
    assert settings.knowledge.folders[:2] == (str(tmp_path / "faq"), "/srv/manual")
    assert settings.knowledge.folders[2] == str(Path("~/notes").expanduser())

    settings = load(file, {"TERMINUS_STORAGE_FOLDER": "elsewhere", "TERMINUS_KNOWLEDGE_FOLDERS": "a, b,"})
    assert (settings.storage.folder, settings.knowledge.folders) == ("elsewhere", ("a", "b"))


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("[run]\n\nmax_handofs = 3\n", ["line 3", "max_handofs", "Did you mean 'max_handoffs'?"]),
        ("[rum]\nretries = 3\n", ["line 1", "[rum]", "Did you mean 'run'?"]),
        (
            "[wholly_else]\nx = 1\n",
            [
                "line 1",
                "Known are: agents, documents, duckduckgo, embeddings, feeds, fetch, helpdesks, knowledge, log,",
            ],
        ),
        ("run = 3\n", ["line 1", "[run] must be a table"]),
        ("[run]\nretries = 3\nmax_handoffs = 0\n", ["line 3", "a whole number from 11 to 20", "not 0."]),
        ("[run]\nmax_handoffs = 1001\n", ["line 2", "from 11 to 20"]),
        ("[run]\nmax_handoffs = 2.5\n", ["a whole number", "not 2.5"]),
        ("[run]\nmax_handoffs = true\n", ["a whole number", "not true"]),
        ("[run]\nmax_seconds = nan\n", ["a number from 1 to 600", "not nan"]),
        ("[run]\nmax_seconds = inf\n", ["a number from 1 to 600", "not inf"]),
        ("run.max_seconds = '9'\n", ["line 1", "not '9'"]),
        ("run = {retries = 1, max_seconds = -1}\n", ["line 1", "max_seconds", "not -1"]),
        ('[model]\nprovider = "opnai"\n', ["line 2", 'one of "auto"', "Did you mean 'openai'?"]),
        ("[knowledge]\nfolders = 'faq'\n", ["line 2", "a list", "not 'faq'"]),
        ("[knowledge]\nfolders = [\n  'faq',\n  3,\n]\n", ["line 2", "a list", "not ['faq', 3]"]),
        ("[model]\nbase_url = 'ftp://x'\n", ["line 2", "http://", "not 'ftp://x'"]),
        ("[model]\nbase_url = 'http://['\n", ["line 2", "http://", "not 'http://['"]),
        ("[model]\nbase_url = 'http://'\n", ["line 2", "http://", "not 'http://'"]),
        ("[embeddings]\nbase_url = 'ftp://x'\n", ["line 2: [embeddings] base_url", "http://", "not 'ftp://x'"]),
        ("[embeddings]\nprovider = 'server'\n", ["line 2", "needs [embeddings] model"]),
        ("[knowledge]\nfolders = ['faq', '']\n", ["line 2", "[knowledge] folders", "not ['faq', '']"]),
        ("[knowledge]\nfolders = [' ']\n", ["line 2", "[knowledge] folders", "not [' ']"]),
        ("[storage]\nfolder = ''\n", ["line 2", "[storage] folder", "not ''"]),
        ("[storage]\nfolder = '  '\n", ["line 2", "[storage] folder"]),
        ("[model]\nname = 2026-01-01\n", ["line 2", "a text"]),
        ("[run]\nretries = \n", ["mine.toml", "line 2"]),
        ("[log]\nlevel = 'loud\x1b[2J'\n".replace("\x1b", "\\u001b").replace("'", '"'), ["line 2", "\\x1b[2J"]),
        ("[run]\nretries = 1\nretries = 2\n", ["not valid TOML", "line 3"]),
        ("[agents.worker]\nretries = 1\nsecnds = 5\n", ["line 3: [agents.worker]", "Did you mean 'seconds'?"]),
        ("[agents]\nworker.seconds = -1\n", ["line 2: [agents.worker] seconds", "from 0 to 600, not -1"]),
        ("[agents]\nworker_seconds = 5.0\n", ["line 2", "Write `seconds` in a table of its own, [agents.worker]."]),
        ("[agents]\nplanner_retries = 2\n", ["line 2", "Write `retries` in a table of its own, [agents.planner]."]),
        ("[agents]\nfoldr = ''\n", ["line 2", "Did you mean 'folder'?"]),
        ("[agents]\ntone = 3\n", ["line 2: [agents] tone must be a text of 0 to 200 characters, not 3"]),
        ("[model]\nextra = 'temperature=0'\n", ["line 2: [model] extra must be a JSON object", "temperature"]),
        ("[model]\nextra = '{\"stream\": true}'\n", ["line 2: [model] extra cannot set", "stream"]),
        ("[agents]\nlimits = 3\n", ["line 2: [agents] has no key 'limits'"]),
        ("[agents]\nfolder = ' '\n", ["line 2", "[agents] folder", "not ' '"]),
    ],
    ids=repr,
)
def test_what_is_wrong_in_the_file_is_refused_with_line_key_and_what_is_allowed(
    tmp_path: Path, text: str, parts: list[str]
) -> None:
    sentence = refusal(tmp_path, text)

    assert str(tmp_path / "mine.toml") in sentence
    assert [part for part in parts if part not in sentence] == [], sentence


@pytest.mark.parametrize(
    ("environ", "parts"),
    [
        ({"TERMINUS_RUN_RETRIS": "1"}, ["TERMINUS_RUN_RETRIS", "Did you mean 'TERMINUS_RUN_RETRIES'?"]),
        ({"TERMINUS_RUN_RETRIES": "many"}, ["TERMINUS_RUN_RETRIES", "a whole number from 0 to 10", "not 'many'"]),
        ({"TERMINUS_RUN_RETRIES": "11"}, ["from 0 to 10", "not 11"]),
        ({"TERMINUS_RUN_RETRIES": ""}, ["from 0 to 10", "not ''"]),
        ({"TERMINUS_MODEL_FALLBACK": "perhaps"}, ["true or false"]),
        ({"TERMINUS_RUN_MAX_SECONDS": "nan"}, ["a number from 1 to 600"]),
        ({"TERMINUS_MODEL_NAME": "caf\udce9"}, ["TERMINUS_MODEL_NAME", "is not UTF-8"]),
        ({"OPENAI_BASE_URL": "localhost:1234"}, ["OPENAI_BASE_URL", "http://"]),
        ({"TERMINUS_STORAGE_FOLDER": " "}, ["TERMINUS_STORAGE_FOLDER", "not ''"]),
        ({"TERMINUS_PORT": "8421"}, ["TERMINUS_PORT", "Did you mean 'TERMINUS_SERVER_PORT'?"]),
        ({"TERMINUS_PORT_8421_TCP_ADR": "10.0.0.1"}, ["TERMINUS_PORT_8421_TCP_ADR sets nothing"]),
        ({"TERMINUS_SERVICE_HOST": "localhost:8421/"}, ["TERMINUS_SERVICE_HOST sets nothing"]),
        ({"TERMINUS_SERVER_PORT": "8421/tcp"}, ["a whole number from 0 to 65535"]),
        ({"TERMINUS_MODEL_API_KEY_FILE": "gone"}, ["TERMINUS_MODEL_API_KEY_FILE names 'gone'", "(No such file"]),
        ({"TERMINUS_SERVER_PORT_FILE": "port"}, ["TERMINUS_SERVER_PORT_FILE sets nothing"]),
    ],
    ids=repr,
)
def test_what_is_wrong_in_the_environment_is_refused_with_the_variables_name(
    tmp_path: Path, environ: dict[str, str], parts: list[str]
) -> None:
    sentence = refusal(tmp_path, "", environ)

    assert [part for part in parts if part not in sentence] == [], sentence


def links(service: str, address: str = "10.96.7.7") -> dict[str, str]:
    """What Kubernetes tells every container of a service."""
    at = f"tcp://{address}:8421"
    return {
        f"{service}_SERVICE_HOST": address, f"{service}_SERVICE_PORT": "8421", f"{service}_SERVICE_PORT_HTTP": "8421",
        f"{service}_PORT": at, f"{service}_PORT_8421_TCP": at, f"{service}_PORT_8421_TCP_PROTO": "tcp",
        f"{service}_PORT_8421_TCP_PORT": "8421", f"{service}_PORT_8421_TCP_ADDR": address,
    }  # fmt: skip


@pytest.mark.parametrize(
    "environ",
    [links("TERMINUS"), links("TERMINUS_SERVER"), links("TERMINUS_MODEL_API"), links("TERMINUS", "fd00::7"),
     {"TERMINUS_PORT": "tcp://[fd00::7]:8421", "TERMINUS_PORT_53_UDP": "udp://10.0.0.1:53"}],
    ids=lambda environ: min(environ),
)  # fmt: skip
def test_what_kubernetes_says_of_a_service_of_this_name_is_neither_believed_nor_refused(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    file = write(tmp_path, "")

    assert load(file, environ) == load(file, {})
    assert service_variables(environ) == sorted(environ)
    changed = load(file, {**environ, "TERMINUS_RUN_RETRIES": "3", "TERMINUS_SERVER_HOST": "127.0.0.2"})
    assert (changed.run.retries, changed.server.host, changed.server.port) == (3, "127.0.0.2", 8421)


def test_a_configuration_without_a_name_is_not_the_folder_one_is_in(tmp_path: Path) -> None:
    for name in ("", "  "):
        with pytest.raises(ConfigError, match="--config names no file"):
            load(name, {})


@pytest.mark.parametrize(
    "url", ["htp://me:hunter2@host/v1", "me:hunter2@host/v1", "me:hunter2@[host", "//me:hunter2@h"]
)
def test_a_password_in_an_address_that_is_refused_is_not_shown(tmp_path: Path, url: str) -> None:
    assert "hunter2" not in refusal(tmp_path, f"[model]\nbase_url = '{url}'\n")


def test_a_secret_is_not_shown_even_when_it_is_wrong(tmp_path: Path) -> None:
    assert "hunter2" not in refusal(tmp_path, "[model]\napi_key = ['hunter2']\n")
    assert "hunter2" not in refusal(tmp_path, "", {"TERMINUS_SERVER_TOKEN": "hunter2" * 1000})


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "terminus.example.org"])  # noqa: S104 - refused
def test_a_token_for_a_host_that_others_can_reach_is_long(tmp_path: Path, host: str) -> None:
    file = write(tmp_path, f'[server]\nhost = "{host}"\n')
    with pytest.raises(ConfigError, match=r"line 2: .*needs a token .*TERMINUS_SERVER_TOKEN"):
        load(file, {"TERMINUS_SERVER_TOKEN": "short"})

    assert load(file, {"TERMINUS_SERVER_TOKEN": "long enough to be safe"}).server.host == host


def test_roles_of_a_proxys_groups_come_from_file_and_environment(tmp_path: Path) -> None:
    file = write(tmp_path, '[server]\nproxy = ["10.0.0.5"]\nroles = { "it" = "admin", "*" = "submit" }\n')
    assert load(file, {}).server.roles == {"it": "admin", "*": "submit"}
    given = {"TERMINUS_SERVER_ROLES": "help desk = operate, it=admin"}
    assert load(file, given).server.roles == {"help desk": "operate", "it": "admin"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('proxy = ["10.0.0.5"]', "needs [server] roles"),
        ('proxy = ["gateway"]\nroles = { "*" = "submit" }', "'gateway' is none"),
        ('proxy = ["0.0.0.0/0"]\nroles = { "*" = "submit" }', "'0.0.0.0/0' is none"),
        ('proxy = ["::/0"]\nroles = { "*" = "submit" }', "'::/0' is none"),
        ('roles = { "it" = "root" }', 'each one of "admin", "operate", "read", "submit"'),
        ('user_header = "X_Forwarded_User"', "[server] user_header must be a text"),
        ('user_header = "X-User\\r\\nX"', "[server] user_header must be a text"),
    ],
)
def test_a_proxy_that_cannot_be_trusted_is_refused(tmp_path: Path, text: str, words: str) -> None:
    assert words in refusal(tmp_path, f"[server]\n{text}\n")


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "::1", "[::1]", "localhost"])
def test_loopback_needs_no_token(tmp_path: Path, host: str) -> None:
    assert is_loopback(host)
    assert load(write(tmp_path, f'[server]\nhost = "{host}"\n'), {}).server.token == ""


def test_a_file_that_cannot_be_read_is_named_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no configuration file .*gone\.toml\. Name another"):
        load(tmp_path / "gone.toml", {})
    with pytest.raises(ConfigError, match="is a folder"):
        load(tmp_path, {})
    with pytest.raises(ConfigError, match="no configuration file"):
        load(None, {"TERMINUS_CONFIG": str(tmp_path / "gone.toml")})
    latin = tmp_path / "latin.toml"
    latin.write_bytes(b'[model]\nname = "caf\xe9"\n')
    with pytest.raises(ConfigError, match=r"line 2 is not UTF-8"):
        load(latin, {})
    huge = tmp_path / "huge.toml"
    huge.write_bytes(b"#" * 300_000)
    with pytest.raises(ConfigError, match="over 256 KB"):
        load(huge, {})


def test_a_key_is_found_on_its_own_line_and_not_in_a_comment_or_a_text_before_it(tmp_path: Path) -> None:
    text = '# retries = 99\n[model]\nname = """\nretries = 98\n"""\n[run]\n"retries" = 97\n'

    assert "line 7:" in refusal(tmp_path, text)


def test_networks_that_may_be_read_are_networks(tmp_path: Path) -> None:
    assert load(write(tmp_path, '[fetch]\nallow = ["127.0.0.0/8", "10.1.2.3/8", "::1"]\n'), {}).fetch.allow
    assert "line 2: [fetch] allow lists networks" in refusal(tmp_path, '[fetch]\nallow = ["10.0.0.0/8", "intranet"]\n')
