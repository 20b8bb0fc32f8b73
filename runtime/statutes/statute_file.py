"""The file of all articles: which process maps it, it is never loaded whole. Written anew when a law changes."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from actors.statutes.articles import LawVersion
from runtime.processes import array_file
from runtime.statutes.bigrams import bigrams_of_all
from runtime.statutes.law_reader import ReadArticle

FILE = "statutes.idx"
MARK = array_file.Mark(b"terminus-statute", 1)
Array = NDArray[Any]


class LawRecord(msgspec.Struct, frozen=True):
    """One file of a folder of laws, as it was read."""

    law: LawVersion
    folder: str
    file: str
    digest: str
    articles: int


class Header(msgspec.Struct, frozen=True):
    laws: tuple[LawRecord, ...]


class Stored(NamedTuple):
    """An article where it stands in the file."""

    place: int
    law: int
    number: int
    sub: int


class StatuteFile:
    """All articles of all laws, mapped."""

    def __init__(self, path: Path) -> None:
        """
        :raises FileNotFoundError: no statutes were read yet.
        :raises array_file.Damaged: it cannot be used.
        """
        packed, mapped = array_file.read(path, MARK)
        self.arrays = {name: np.asarray(each) for name, each in mapped.items()}  # a memmap is slow to slice
        self.laws = msgspec.msgpack.decode(packed, type=Header).laws
        self.law: Array = self.arrays["law"]
        self.by_name: dict[str, list[int]] = {}
        for place, record in enumerate(self.laws):
            self.by_name.setdefault(record.law.name, []).append(place)
        self.first = np.searchsorted(self.law, np.arange(len(self.laws) + 1))

    def __len__(self) -> int:
        return len(self.law)

    def find(self, law: int, number: int, sub: int) -> int | None:
        """The place of an article of a law, by its number."""
        start, end = int(self.first[law]), int(self.first[law + 1])
        fits = (self.arrays["number"][start:end] == number) & (self.arrays["sub"][start:end] == sub)
        found = np.flatnonzero(fits)
        return start + int(found[0]) if len(found) else None

    def read(self, place: int) -> ReadArticle:
        return ReadArticle(
            int(self.arrays["number"][place]), int(self.arrays["sub"][place]), self._text("chapters", place),
            self.read_text(place),
        )  # fmt: skip

    def read_text(self, place: int) -> str:
        return self._text("texts", place)

    def articles_of(self, law: int) -> list[ReadArticle]:
        return [self.read(place) for place in range(int(self.first[law]), int(self.first[law + 1]))]

    def _text(self, name: str, place: int) -> str:
        starts = self.arrays[f"{name}.starts"]
        return bytes(self.arrays[name][int(starts[place]) : int(starts[place + 1])]).decode()


def write(path: Path, laws: Sequence[tuple[LawRecord, Sequence[ReadArticle]]]) -> None:
    """Put all laws into the file; who reads it sees the older one until it is whole."""
    articles = [(number, each) for number, (_, its) in enumerate(laws) for each in its]
    texts = [each.text for _, each in articles]
    chapters = [each.chapter for _, each in articles]
    arrays = {
        "law": np.array([number for number, _ in articles], np.int32),
        "number": np.array([each.number for _, each in articles], np.int32),
        "sub": np.array([each.sub for _, each in articles], np.int32),
        **_pack("texts", texts),
        **_pack("chapters", chapters),
        **bigrams_of_all(
            f"{laws[number][0].law.name}\n{each.chapter}\n{each.text}" for number, each in articles
        ),
    }  # fmt: skip
    header = msgspec.msgpack.encode(Header(tuple(record for record, _ in laws)))
    array_file.write(path, MARK, header, arrays)


def _pack(name: str, texts: Iterable[str]) -> dict[str, Array]:
    encoded = [each.encode("utf-8", "replace") for each in texts]
    starts = np.concatenate([[0], np.cumsum([len(each) for each in encoded])]).astype(np.int64)
    return {name: np.frombuffer(b"".join(encoded), np.uint8), f"{name}.starts": starts}
