"""A ticket from words, files and pipes; whatever is no ticket is one sentence."""

import io
import sys
from pathlib import Path

import pytest

from runtime.cli import EXITS, Exit
from runtime.cli.ticket_input import read, read_all
from runtime.service_error import ServiceError
from runtime.tickets import Ticket

KILOBYTES = 4


def file(folder: Path, name: str, content: str | bytes) -> list[str]:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return [str(path)]


def refusal(words: list[str], stdin: bytes = b"", *, several: bool = False) -> str:
    with pytest.raises(ServiceError) as caught:
        read_all(words, KILOBYTES) if several else read(words, KILOBYTES, io.BytesIO(stdin))
    assert EXITS[caught.value.kind] is Exit.BAD_INPUT
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert "\x1b" not in sentence
    return sentence


@pytest.mark.parametrize("words", [["My VPN is down."], ["My", "VPN", "is", "down."], ["  My VPN is down.\n"]])
def test_words_are_the_ticket(words: list[str]) -> None:
    assert read(words, KILOBYTES) == Ticket(text="My VPN is down.")


def names(words: list[str]) -> list[tuple[str, str]]:
    return [(Path(place).name, ticket.text) for place, ticket in read_all(words, KILOBYTES)]


def test_several_files_are_several_tickets(tmp_path: Path) -> None:
    a, b = file(tmp_path, "a.md", "VPN down"), file(tmp_path, "b.json", '{"text": "Printer down", "id": "HD-1"}')
    bare = file(tmp_path, "no-ending", "Mail down")

    assert names(a) == [("a.md", "VPN down")]
    assert names(a + b + bare) == [("a.md", "VPN down"), ("b.json", "Printer down"), ("no-ending", "Mail down")]
    assert names(["VPN", "down"]) == [("", "VPN down")]
    assert names(["see", "guide.md", "please"]) == [("", "see guide.md please")]


def test_files_among_words_and_files_that_are_not_there_are_a_sentence(tmp_path: Path) -> None:
    a, b = file(tmp_path, "a.md", "VPN down"), file(tmp_path, "b.json", '{"text": "x", "id": "HD-1"}')
    c = file(tmp_path, "c.json", '{"text": "y", "id": "HD-1"}')
    gone, folder = str(tmp_path / "gone.md"), str(tmp_path)

    assert "gone.md. Check the name" in refusal([*a, gone], several=True)
    assert "please does not exist: name only files" in refusal([*a, "please"], several=True)
    assert "is a folder" in refusal([*a, folder], several=True)
    assert "There is no file" in refusal([gone, str(tmp_path / "also.md")], several=True)
    assert "have the same id 'HD-1'" in refusal(b + c, several=True)
    assert "bad.md is empty" in refusal(a + file(tmp_path, "bad.md", ""), several=True)


def test_a_dash_is_stdin_whatever_its_form() -> None:
    assert read(["-"], KILOBYTES, io.BytesIO(b"down\n")) == Ticket(text="down")
    assert read(["-"], KILOBYTES, io.BytesIO(b'{"text": "down", "id": 7}')) == Ticket(text="down", id="7")
    assert read(["-"], KILOBYTES, io.BytesIO(b"---\nsubject: VPN\n---\ndown")) == Ticket(text="down", subject="VPN")


def test_a_markdown_file_may_have_front_matter_whose_values_stay_as_written(tmp_path: Path) -> None:
    text = "---\nid: 007\nsubject: VPN: no, off\nrequester: 2024-01-02\ntags: [a, b]\n---\n\n# Help\n\nIt is down.\n"
    quoted = text.replace("VPN: no, off", '"VPN: no, off"')

    assert read(file(tmp_path, "t.md", quoted), KILOBYTES) == Ticket(
        text="# Help\n\nIt is down.", id="007", subject="VPN: no, off", requester="2024-01-02"
    )
    assert "line 3: the front matter is not valid YAML" in refusal(file(tmp_path, "t.md", text))


@pytest.mark.parametrize("text", ["--- not front matter", "---\na rule above\n", "down"])
def test_a_markdown_file_may_have_none(tmp_path: Path, text: str) -> None:
    assert read(file(tmp_path, "t.md", text), KILOBYTES) == Ticket(text=text.strip())


def test_a_text_file_is_taken_as_it_is(tmp_path: Path) -> None:
    assert read(file(tmp_path, "t.txt", '---\n{"text": 1}\n---\n'), KILOBYTES).text == '---\n{"text": 1}\n---'


def test_a_json_file_is_an_object_or_a_text(tmp_path: Path) -> None:
    assert read(file(tmp_path, "t.json", '{"title": "VPN", "body": "장애 접속 불가", "x": [1]}'), KILOBYTES) == Ticket(
        text="장애 접속 불가", subject="VPN"
    )
    assert read(file(tmp_path, "t.json", '"just a text"'), KILOBYTES) == Ticket(text="just a text")


def test_a_file_without_a_known_ending_is_read_too(tmp_path: Path) -> None:
    assert read(file(tmp_path, "mail", "\ufeffdown"), KILOBYTES) == Ticket(text="down")


def test_a_subject_alone_is_a_ticket(tmp_path: Path) -> None:
    assert read(file(tmp_path, "t.json", '{"subject": "VPN down"}'), KILOBYTES).subject == "VPN down"


@pytest.mark.parametrize(
    ("name", "content", "part"),
    [
        ("t.md", "", "is empty"),
        ("t.md", " \n\t\n", "is empty"),
        ("t.md", "---\nsubject:\n---\n", "is empty"),
        ("t.json", "{", "not valid JSON"),
        ("t.json", '{"text": ', "not valid JSON"),
        ("t.json", "[" * 4000, "nested too deeply"),
        ("t.json", "[]", "must be a JSON object"),
        ("t.json", "3", "must be a JSON object"),
        ("t.json", '{"message": "down"}', "none of the keys text, body, description"),
        ("t.json", '{"text": {"a": 1}}', "text must be a text, not keys"),
        ("t.json", '{"text": "x", "id": "../../etc"}', "id '../../etc' must be"),
        ("t.json", '{"text": "x", "id": "a\\u001b[2J"}', "id 'a\\x1b[2J' must be"),
        ("t.json", '{"text": "x", "subject": "' + "s" * 600 + '"}', "subject is over 500 characters"),
        ("t.md", "---\n- a\n- b\n---\ndown", "must be keys with values"),
        ("t.md", "---\n" + "[" * 2000 + "\n---\ndown", "front matter"),
        ("t.md", b"caf\xe9 au lait\n", "line 1 holds the byte 0xe9. Save it as UTF-8"),
        ("t.md", "x".encode("utf-16"), "UTF-16"),
        ("t.md", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "binary"),
        ("t.txt", b"\x01\x02\x03\x04 x", "binary"),
        ("t.md", "x" * 5000, "over 4 KB"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_what_is_no_ticket_is_refused_in_a_sentence_that_names_the_file(
    tmp_path: Path, name: str, content: str | bytes, part: str
) -> None:
    sentence = refusal(file(tmp_path, name, content))

    assert part in sentence
    assert name in sentence


def test_a_front_matter_that_unfolds_endlessly_does_not(tmp_path: Path) -> None:
    levels = [f"a{n}: &a{n} [" + ", ".join([f"*a{n - 1}"] * 9 if n else ["x"] * 9) + "]" for n in range(30)]
    bomb = "---\n" + "\n".join(levels) + "\nsubject: *a29\n---\ndown"

    assert "subject must be a text" in refusal(file(tmp_path, "t.md", bomb))


def test_no_words_no_file_and_a_folder_are_sentences_too(tmp_path: Path) -> None:
    assert "What is the ticket?" in refusal([])
    assert "is empty" in refusal([""])
    assert "is empty" in refusal(["-"])
    assert "There is no file" in refusal([str(tmp_path / "gone.md")])
    assert "is a folder" in refusal([str(tmp_path)])
    assert "not a regular file" in refusal(["/dev/null"])
    assert "over 4 KB" in refusal(["-"], b"x" * 5000)
    assert "over 4 KB" in refusal(["word " * 1000])
    assert "not UTF-8" in refusal(["caf\udce9"])


def test_stdin_is_read_no_further_than_a_ticket_may_be_long() -> None:
    class Endless(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            assert size is not None
            assert 0 < size < 1_000_000
            return b"x" * size

    with pytest.raises(ServiceError, match="over 4 KB"):
        read(["-"], KILOBYTES, Endless())


@pytest.mark.parametrize("text", ["is readme.md outdated?", "x" * 3000, "a\0b".replace("\0", " "), "what/is/this"])
def test_a_text_that_only_resembles_a_path_stays_a_text(text: str) -> None:
    assert read([text], KILOBYTES).text == text


def test_a_closed_stdin_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)  # as Python has it after `<&-`

    with pytest.raises(ServiceError, match="There is no stdin"):
        read(["-"], KILOBYTES)


def test_a_zero_character_that_json_smuggles_in_is_refused(tmp_path: Path) -> None:
    assert "U+0000" in refusal(file(tmp_path, "ticket.json", b'{"text": "a\\u0000b"}'))
