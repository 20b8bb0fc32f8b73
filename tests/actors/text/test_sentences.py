"""Where a sentence ends."""

import pytest

from actors.text.sentences import sentences


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text, 0, len(text))]


@pytest.mark.parametrize(
    "text",
    [
        "Resturlaub verfällt am 31. März des folgenden Jahres.",
        "Er gilt vom 1. Jan. bis zum 30. Juni.",
        "Das Haus steht seit dem 19. Jahrhundert.",
    ],
)
def test_a_german_day_does_not_end_a_sentence(text: str) -> None:
    assert split(text) == [text]


def test_a_number_before_another_word_ends_it() -> None:
    assert split("The toner is in room 14. Maintenance has the key.") == [
        "The toner is in room 14.", "Maintenance has the key.",
    ]  # fmt: skip
    assert split("Es liegt in Raum 14. Den Schlüssel hat Ann.") == ["Es liegt in Raum 14.", "Den Schlüssel hat Ann."]
