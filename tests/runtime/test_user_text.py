"""Whatever text comes in, what goes to a terminal is harmless, and what cannot be used is a sentence."""

import io
import json
import string
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from runtime.cli.ticket_input import parse, read
from runtime.config import ConfigError, load
from runtime.config_schema import keys
from runtime.service_error import ServiceError
from runtime.user_text import as_json, display, nearest, redact, safe, spell_out

TEXT = some.text(some.characters(codec=None), max_size=60)
"""Every character, lone surrogates and controls among them."""
KEYS = sorted({name for key in keys() for name in key})
VALUES = (
    "-1",
    "0",
    "3",
    "1e999",
    "nan",
    "true",
    '"x"',
    "[]",
    '["a", 1]',
    "{}",
    "{a = 1}",
    "1979-05-27",
    '"""\n"""',
    "",
)
TOML = some.lists(
    some.one_of(
        some.sampled_from([f"[{name}]" for name in KEYS]),
        some.tuples(some.sampled_from(KEYS), some.sampled_from(VALUES)).map(" = ".join),
        some.text(string.printable, max_size=12),
    ),
    max_size=8,
).map("\n".join)


@given(TEXT)
def test_no_text_commands_a_terminal(text: str) -> None:
    made = safe(text)

    assert not {unicodedata.category(character) for character in made} & {"Cc", "Zl", "Zp", "Cs"}
    assert not {"\u202e", "\u2066", "\u061c"} & set(made)
    made.encode()


def test_ordinary_writing_stays_as_it_is() -> None:
    for text in ("打印机　卡纸", "프린터", "naïve café", "👩‍💻 works", "עברית", "non\u00a0breaking"):
        assert safe(text) == text
    assert safe("a\nb\tc", keep="\n") == "a\nb\\x09c"


@given(TEXT)
def test_json_holds_every_text_as_it_is_on_one_harmless_line(text: str) -> None:
    line = as_json({"text": text})

    assert json.loads(line) == {"text": text}
    assert safe(line) == line


@given(TEXT)
def test_a_shown_value_is_short_and_harmless(text: str) -> None:
    assert display(text).isprintable()
    assert len(display(text)) <= 600


def test_the_nearest_word_is_named_or_all_of_them() -> None:
    assert nearest("sumbit", ["submit", "status"]) == "Did you mean 'submit'?"
    assert nearest("x", ["submit", "status"]) == "Known are: status, submit."
    assert nearest("x", ["submit", "status"], else_all=False) == ""


def sentence(kind: type[Exception], call: Callable[[], object]) -> str:
    """What a call refuses its input with, on one line; empty when it takes it. Anything else that it raises fails."""
    try:
        call()
    except kind as error:
        return str(error) if "\n" not in str(error) else f"several lines: {error}"
    return ""


@given(some.binary(max_size=80))
def test_bytes_are_a_ticket_or_one_sentence(content: bytes) -> None:
    said = sentence(ServiceError, lambda: read(["-"], 1, io.BytesIO(content)))

    assert said.startswith("stdin") or (not said and content.strip())


@given(some.text(string.printable, max_size=60), some.sampled_from(["", ".md", ".json", ".txt"]))
def test_a_file_is_a_ticket_or_one_sentence_with_its_name(content: str, suffix: str) -> None:
    said = sentence(ServiceError, lambda: parse(content, "it", suffix))

    assert not said or said.startswith("it")


@given(some.text(string.printable, max_size=60), some.text(string.printable, max_size=30))
def test_front_matter_is_read_or_one_sentence(head: str, body: str) -> None:
    said = sentence(ServiceError, lambda: parse(f"---\n{head}\n---\n{body}", "it", ".md"))

    assert not said or said.startswith("it")


@given(TOML)
def test_a_file_is_settings_or_one_sentence_with_its_name(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    file = tmp_path_factory.getbasetemp() / "any.toml"
    file.write_text(text, encoding="utf-8")

    said = sentence(ConfigError, lambda: load(file, {}))

    assert not said or said.startswith(str(file))


@given(some.sampled_from(sorted(key.variable for key in keys().values())), TEXT.filter(lambda text: "\0" not in text))
def test_a_variable_is_a_setting_or_one_sentence_with_its_name(variable: str, text: str) -> None:
    said = sentence(ConfigError, lambda: load(Path("/dev/null"), {variable: text}))

    assert not said or variable in said


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ResolutionObtained", "resolution obtained"), ("loop_detected", "loop detected"), ("completed", "completed"),
        ("This is about the network.", "This is about the network."), ("HTTP/2?", "HTTP/2?"), ("", ""),
    ],
)  # fmt: skip
def test_names_become_words_and_sentences_stay(name: str, words: str) -> None:
    assert spell_out(name) == words


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("https://me:hunter2@host.example/v1", "https://***@host.example/v1"),
        ("see http://hunter2@a/ and ftp://x:hunter2@b", "see http://***@a/ and ftp://***@b"),
        ("https://me:hun@ter2@host/", "https://***@host/"),
        ("https://medium.example/@somebody?q=a@b", "https://medium.example/@somebody?q=a@b"),
        ('{"url": "https://a.example", "mail": "a@b.example"}', '{"url": "https://a.example", "mail": "a@b.example"}'),
        ("a@b.example", "a@b.example"),
    ],
)
def test_a_url_is_shown_without_its_password(text: str, said: str) -> None:
    assert redact(text) == said
    if "hunter2" in text:
        assert "hunter2" not in display(text)
        assert "hunter2" not in display(text.replace("hunter2", "hunter2" * 40))
