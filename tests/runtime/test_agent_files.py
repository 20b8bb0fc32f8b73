"""An agent is a Markdown file: what is wrong in one is refused in one sentence, with file and line."""

import os
from pathlib import Path

import pytest

from actors.helpdesk.triage import QUESTION_CHARACTERS
from actors.roster import COMMON_WORKER, OUTWEIGHS
from actors.text.safe_patterns import CHARACTERS
from runtime.agent_files import BODY_CHARACTERS, AgentFile
from runtime.agent_folder import FOLDER, load_roster
from runtime.config import ConfigError
from runtime.settings import AgentsSettings, Settings
from tests import ROOT

PRINTING = """\
---
name: printing
description: Solves tickets about printers.
handles: printers, toner, scanners
intents:
  printing:
    means: printing and scanning
    words:
      en: printers?; toner; paper jam
      zh: 打印机
      ko: 프린터
tools: [search_knowledge]
limits:
  seconds: 40
  retries: 0
hands_over_to: [worker]
---
You solve support tickets about printers and scanners.
"""


def write(folder: Path, text: str | bytes, name: str = "printing.md") -> Path:
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def refusal(folder: Path, text: str | bytes = PRINTING) -> str:
    """What is said of a folder with this file in it."""
    file = write(folder, text)
    with pytest.raises(ConfigError) as caught:
        load_roster(Settings(agents=AgentsSettings(folder=str(folder))))
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert sentence.startswith(str(file)) or str(folder) in sentence
    return sentence.replace(str(folder), "")


@pytest.mark.req("LG-30")
def test_a_file_declares_an_agent(tmp_path: Path) -> None:
    spec = AgentFile(write(tmp_path, PRINTING)).spec

    assert (spec.name, spec.handles, spec.tools) == ("printing", "printers, toner, scanners", ("search_knowledge",))
    assert (spec.seconds, spec.retries, spec.hands_over_to, spec.model) == (40.0, 0, ("worker",), "")
    assert spec.instructions == "You solve support tickets about printers and scanners."
    (intent,) = spec.intents
    assert (intent.name, intent.means, intent.weight, intent.agent) == (
        "printing", "printing and scanning", OUTWEIGHS, "printing",
    )  # fmt: skip
    for text in ("The PRINTER is broken", "no toner", "请修打印机", "프린터가 고장"):
        assert intent.pattern.search(text), text
    assert not intent.pattern.search("a blueprinters' fair"), "a word stands between others"


@pytest.mark.parametrize(
    ("old", "new", "line", "parts"),
    [
        ("handles:", "handels:", 4, ["'handels'", "Did you mean 'handles'?"]),
        ("    means:", "    meens:", 7, ["'meens'", "Did you mean 'means'?"]),
        ("  retries:", "  retrys:", 15, ["'retrys'", "Did you mean 'retries'?"]),
        ("tools: [search_knowledge]", "tools: [search_knowlege]", 12, ["Did you mean 'search_knowledge'?"]),
        ("tools: [search_knowledge]", "tools: search_knowledge", 12, ["`tools` must be a list"]),
        ("[worker]", "[wroker]", 16, ["'wroker' takes no tickets from it", "Did you mean 'worker'?"]),
        ("[worker]", "[memory]", 16, ["'memory' takes no tickets from it"]),
        ("[worker]", "[printing]", 16, ["'printing' takes no tickets from it"]),
        ("name: printing", "name: billing", 2, ["'billing' is that of", "billing.md"]),
        ("name: printing", "name: memory", 2, ["'memory' is that of"]),
        ("name: printing", "name: round", 2, ["'round' is that of"]),
        ("name: printing", "name: orchestrator", 2, ["'orchestrator' is reserved"]),
        ("name: printing", "name: folder", 2, ["'folder' is reserved"]),
        ("name: printing", "name: Printing!", 2, ["`name` must be a name of small letters"]),
        ("name: printing\n", "", 2, ["the key `name` is missing"]),
        ("name: printing", "name: printing\nname: printers", 3, ["'name' is given twice"]),
        ("description: Solves tickets about printers.", "description:", 3, ["`description` must be a text"]),
        ("handles: printers, toner, scanners\n", "", 2, ["`handles` is missing", "no ticket reaches"]),
        ("  printing:\n", "  billing:\n", 6, ["the intent 'billing' is one of", "billing.md"]),
        ("  printing:\n", "  other:\n", 6, ["the intent 'other' is reserved"]),
        ("  printing:\n", "  Print it:\n", 5, ["`intents` must be names"]),
        ("    means: printing and scanning\n", "", 6, ["the key `means` is missing"]),
        ("en: printers?;", "english: printers?;", 8, ["`words` must be key words by language"]),
        ("en: printers?;", "en: printers?; print(er;", 9, ["'print(er'", "no regular expression"]),
        ("en: printers?;", "en: printers?; p*;", 9, ["'p*' fits an empty text"]),
        ("en: printers?;", "en: printers?;;", 9, ["'' is empty"]),
        ("en: printers?;", "en: (?P<a>printer); (?P<a>print);", 8, ["do not fit together"]),
        ("seconds: 40", "seconds: 0", 14, ["`seconds` must be a number from 0.1 to 600"]),
        ("seconds: 40", "seconds: nan", 14, ["`seconds` must be a number from 0.1 to 600"]),
        ("retries: 0", "retries: 11", 15, ["`retries` must be a whole number from 0 to 10"]),
        ("limits:\n  seconds: 40\n  retries: 0", "limits: 40", 13, ["`limits` must be"]),
        ("    words:", "    weight: 99\n    words:", 8, ["`weight` must be a whole number from 1 to 10"]),
        ("tools: [", "tools: [[", 13, ["not valid YAML"]),
        ("[worker]\n", "[worker]\nmore: *a\n", 17, ["refers to another part of itself"]),
        ("---\nname", "name", 1, ["the file must begin with ---"]),
        ("---\nYou", "You", 1, ["has no end"]),
        ("You solve support tickets about printers and scanners.\n", "\n", 2, ["nothing stands below the keys"]),
        ("You solve", "x" * BODY_CHARACTERS + " You solve", 18, ["the text has 20,", "Shorten it"]),
    ],
)  # fmt: skip
def test_what_is_wrong_is_refused_with_file_and_line(
    tmp_path: Path, old: str, new: str, line: int, parts: list[str]
) -> None:
    assert old in PRINTING
    sentence = refusal(tmp_path, PRINTING.replace(old, new, 1))

    assert f"printing.md, line {line}: " in sentence
    assert [part for part in parts if part not in sentence] == [], sentence


def test_a_file_that_is_no_text_too_large_or_refers_to_itself_is_refused(tmp_path: Path) -> None:
    assert "line 3: this is not UTF-8" in refusal(tmp_path, b"---\nname: printing\ndescription: \xff\n---\nx")
    assert "is over 64 KB" in refusal(tmp_path, PRINTING + "x" * 70_000)
    bomb = PRINTING.replace("handles: printers", "handles: &a printers").replace("[worker]", "[*a, *a]")
    assert "refers to another part of itself" in refusal(tmp_path, bomb)
    assert "nested too deeply" in refusal(tmp_path, PRINTING.replace("[worker]", "[" * 20_000 + "]" * 20_000))
    assert "must be lines such as" in refusal(tmp_path, "---\n- a\n---\nx")
    assert "must be lines such as" in refusal(tmp_path, "---\n---\nx")


def test_a_file_of_another_system_can_be_read(tmp_path: Path) -> None:
    spec = AgentFile(write(tmp_path, b"\xef\xbb\xbf" + PRINTING.replace("\n", "\r\n").encode())).spec

    assert spec == AgentFile(write(tmp_path, PRINTING)).spec or spec.instructions.startswith("You solve")


def test_two_files_cannot_have_one_name_or_one_intent(tmp_path: Path) -> None:
    write(tmp_path, PRINTING, "a.md")
    assert "the name 'printing' is that of" in refusal(tmp_path, PRINTING)
    assert "the intent 'printing' is one of" in refusal(tmp_path, PRINTING.replace("name: printing", "name: paper"))


def test_pipes_and_links_in_a_circle_are_refused(tmp_path: Path) -> None:
    settings = Settings(agents=AgentsSettings(folder=str(tmp_path)))
    os.mkfifo(tmp_path / "pipe.md")
    with pytest.raises(ConfigError, match=r"pipe.md cannot be read \(it is not a file"):
        load_roster(settings)
    (tmp_path / "pipe.md").unlink()
    (tmp_path / "link.md").symlink_to(tmp_path / "link.md")
    with pytest.raises(ConfigError, match=r"link.md cannot be read"):
        load_roster(settings)
    (tmp_path / "link.md").unlink()
    assert "line 3: a key must be a name" in refusal(tmp_path, PRINTING.replace("\ndesc", "\n? [a, b]\n: c\ndesc"))


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"\[agents\] folder .*nowhere, cannot be read \(No such file"):
        load_roster(Settings(agents=AgentsSettings(folder=str(tmp_path / "nowhere"))))


def test_the_three_that_ship_differ_only_in_what_is_theirs() -> None:
    """Their files hold what they handle and nothing of the rules; those stand once, and each is told all of them."""
    roster = load_roster(Settings()).of("helpdesk")
    rules = (FOLDER / "shared" / "helpdesk.md").read_text(encoding="utf-8").strip()
    told = {name: roster[name].instructions for name in roster.workers}

    assert set(told) == {COMMON_WORKER, "network", "accounts", "billing"}
    assert all(text.startswith(f"{rules}\n\n") for text in told.values())
    own = {name: text.removeprefix(f"{rules}\n\n") for name, text in told.items()}
    assert all(len(text.splitlines()) == 1 for text in own.values())
    assert {text.partition(" tickets")[0] for text in own.values()} == {"You solve support"}
    assert len(set(own.values())) == len(own)
    specialists = [roster[name] for name in sorted(roster.workers - {COMMON_WORKER})]
    for field in ("tools", "model", "seconds", "retries", "hands_over_to"):
        assert len({getattr(each, field) for each in specialists}) == 1, field


def test_the_example_of_the_manual_is_one(tmp_path: Path) -> None:
    manual = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    example = manual.partition("```markdown\n")[2].partition("```")[0]

    write(tmp_path, example)
    roster = load_roster(Settings(agents=AgentsSettings(folder=str(tmp_path))))

    assert (roster["printing"].seconds, list(roster.colleagues_of("printing"))) == (60.0, ["worker"])


def test_no_key_word_that_ships_is_a_mistake() -> None:
    for file in FOLDER.glob("*.md"):
        AgentFile(file).check_words()


@pytest.mark.parametrize(
    "word", [r"(?:a+)+!", r"(?:a|aa)+z", ".*.*z", r"(?:\w+\s?)*x", "a?" * 30 + "a" * 30, "(?:a|a){30}b", "(" * 5000]
)
def test_a_key_word_that_could_search_for_hours_is_refused(tmp_path: Path, word: str) -> None:
    """Python's expressions hold everything up while they search, signals included."""
    assert CHARACTERS == QUESTION_CHARACTERS
    assert "the key word '" in refusal(tmp_path, PRINTING.replace("toner; paper", f"{word}; paper"))


@pytest.mark.parametrize("word", [r"print\w*", r"(?:please|could you) (?:\w+ )?print", r"wi-?fi", r"paper {1,9}jam"])
def test_a_key_word_that_repeats_with_bounds_is_taken(tmp_path: Path, word: str) -> None:
    load_roster(Settings(), write(tmp_path, PRINTING.replace("toner; paper", f"{word}; paper")))
