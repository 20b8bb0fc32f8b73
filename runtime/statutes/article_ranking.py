"""Which articles fit a question: words, what the law calls them, the rank of a law, its field, and its neighbours."""

from collections import Counter
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from actors.statutes.jurisdiction import Jurisdiction
from runtime.statutes.bigrams import bigrams_of
from runtime.statutes.statute_file import StatuteFile

K1, B = 1.0, 0.7
MEANT = 0.4
"""What a word of the law counts beside one of the question that it stands for (bench.statutes: R@10 +.03)."""
FIELD = 0.5
"""How much more an article of a field counts that the question is surely of (R@10 +.03)."""
OUTSIDE = 0.7
"""
What an article counts whose law is for a group that the question does not name, as women or ships (bench.statutes: R@10
of STARD +.003, all gold in 10 +.004). Without it a man's dismissal found the law that protects women.
"""
NEIGHBOURS = 0.1
"""What the articles before and behind one say for it: they stand in the same chapter."""
TWICE = 2
"""A pair of characters counts so often at most: who repeats a word does not mean it more."""
QUESTION_CHARACTERS = 2_000

Floats = NDArray[np.float32]


class Ranking:
    """What of it belongs to the file and the jurisdiction, made once a process."""

    def __init__(self, file: StatuteFile, jurisdiction: Jurisdiction) -> None:
        self._file, self._jurisdiction = file, jurisdiction
        arrays = file.arrays
        self._keys, self._starts = np.asarray(arrays["keys"]), np.asarray(arrays["starts"])
        lengths = np.asarray(arrays["lengths"])
        self._size: Floats = (K1 * (1 - B + B * lengths / max(1.0, float(lengths.mean() or 1.0)))).astype(np.float32)
        weights = np.array([jurisdiction.weigh(each.law.name) for each in file.laws], np.float32)
        self._weights: Floats = weights[file.law]
        self._same = (file.law[1:] == file.law[:-1]).astype(np.float32)
        """Whether an article stands behind the one before in the same law."""
        fields = [jurisdiction.categories.get(each.law.category, "") for each in file.laws]
        self._fields = {field: np.array([each == field for each in fields])[file.law] for field in set(fields) if field}
        self._groups = [
            (said, np.array([any(word in each.law.name for word in names) for each in file.laws])[file.law])
            for names, said in jurisdiction.pair_groups()
        ]
        stop = jurisdiction.stop.words.split()
        self._stop = frozenset(int(key) for word in stop for key in bigrams_of(word))

    def score(self, question: str, fields: Mapping[str, float]) -> Floats:
        """
        How well each article fits, 0: not at all.

        :param fields: the fields of law that the question is of, each with how sure that is, 0 to 1.
        """
        question = question[:QUESTION_CHARACTERS]
        weights = {key: float(min(n, TWICE)) for key, n in Counter(bigrams_of(question).tolist()).items()}
        for term in self._jurisdiction.translate(question):
            for key in bigrams_of(term).tolist():
                weights.setdefault(key, MEANT)
        scores = np.zeros(len(self._file), np.float32)
        for key, weight in weights.items():
            if key not in self._stop:
                self._add(key, weight, scores)
        scores *= self._weights
        for said, members in self._groups:
            if not any(word in question for word in said):
                scores[members] *= OUTSIDE
        for field, sure in fields.items():  # the fields of law share no article
            if (its := self._fields.get(field)) is not None:
                scores[its] *= 1 + FIELD * sure
        return self._smooth(scores)

    def _add(self, key: int, weight: float, scores: Floats) -> None:
        place = int(np.searchsorted(self._keys, key))
        if place == len(self._keys) or self._keys[place] != key:
            return
        part = slice(int(self._starts[place]), int(self._starts[place + 1]))
        docs, counts = self._file.arrays["docs"][part], self._file.arrays["counts"][part].astype(np.float32)
        rare = np.log(1 + (len(scores) - len(docs) + 0.5) / (len(docs) + 0.5))
        scores[docs] += np.float32(weight * rare * (K1 + 1)) * counts / (counts + self._size[docs])

    def _smooth(self, scores: Floats) -> Floats:
        spread = np.zeros(len(scores), np.float32)
        spread[1:] += scores[:-1] * self._same
        spread[:-1] += scores[1:] * self._same
        smoothed: Floats = scores + np.float32(NEIGHBOURS / 2) * spread
        return smoothed
