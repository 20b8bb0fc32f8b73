"""Which language a text is in, by its script and its commonest words, and whether a code names a language. Pure."""

import functools
import re
from collections.abc import Sequence

from actors.text.stop_words import word_set

CHARACTERS = 2000
"""So much of a text is looked at."""
ENOUGH = 12
"""One word in so many is among the commonest of its language; with fewer nobody can tell."""

CODES = word_set(
    """
    aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo
    es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg
    ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn
    no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta
    te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
    """
)
"""ISO 639-1."""
_COMMON = {
    "en": word_set(
        """the of and is are with that by for to a an in it be your you can not on as this if or must will
        my i how what we our does do please when why no"""
    ),
    "de": word_set(
        """der die das und ist nicht ein eine einem einen den dem des zu mit auf für sie werden wird kann im am bei oder
        sich nur von nach es sind als wenn können müssen muss kein keine nein ja zum zur vor aus ohne wie ihr ihre
        bis ich mein meine meinen meinem meiner wir unser unsere unseren mich mir warum wann wo wer welche bitte geht
        habe hat haben ihn auch noch mehr seit beim dass"""
    ),
    "fr": word_set(
        """le la les des est une un et du pas que dans pour sur avec ne se au aux ce cette sont par plus vous il elle
        de à en qui être peut doit sans après avant fois tous toutes votre"""
    ),
    "es": word_set(
        """el la los las es una un y del no que en para por con se al su está son hay lo más si de puede debe sin
        después antes cada cuando todos todas"""
    ),
    "it": word_set(
        "il lo la gli le di che è una un e del non per con si al sono da può deve senza dopo prima nel della"
    ),
    "pt": word_set("o os as de que é uma um e do da não em para por com se ao são no na pode deve sem depois antes"),
    "nl": word_set("de het een en van is niet met op voor te zijn wordt kan moet bij of aan dat deze geen na om uit"),
}
_HANGUL, _KANA = re.compile("[\uac00-\ud7a3]"), re.compile("[\u3040-\u30ff]")
_HAN, _LETTERS = re.compile("[\u3400-\u9fff]"), re.compile(r"[^\W\d_]+")
_OTHER = (
    ("ru", re.compile("[\u0400-\u04ff]")),
    ("el", re.compile("[\u0370-\u03ff]")),
    ("ar", re.compile("[\u0600-\u06ff]")),
)
_TOLD = {*_COMMON, "ko", "ja", "zh", *(name for name, _ in _OTHER)}
"""What `guess_language` can tell."""
_HAN_WRITTEN = {"ja", "zh"}
CLEARLY = 2
"""A language is told beyond doubt by so many times as many of its commonest words as another one has in the text."""


@functools.lru_cache(512)
def guess_language(text: str) -> str:
    """ISO 639-1 code by the script that most of a text is in, else by its commonest words; empty: it cannot be told."""
    sample = text[:CHARACTERS]
    hangul, kana, han = (len(script.findall(sample)) for script in (_HANGUL, _KANA, _HAN))
    words = [word.casefold() for word in _LETTERS.findall(sample)]
    latin = sum(len(word) > 1 and word.isascii() for word in words)
    counts = _count_common(words)
    best = max(counts, key=lambda name: counts[name])
    # By more than any other: what two languages share, as "no" and "la" are shared, tells of neither.
    told = counts[best] * ENOUGH >= max(1, len(words)) and [*counts.values()].count(counts[best]) == 1
    if told and counts[best] > 1 and latin > (han + kana) / 2 + hangul / 3:  # characters of about one word
        return best
    if hangul * 2 > han + latin:
        return "ko"
    if kana * 3 > han + latin:
        return "ja"
    if han > 1 and han * 2 > latin:
        return "zh"
    found = next((name for name, script in _OTHER if len(script.findall(sample)) * 2 > len(sample) / 2), "")
    if found:
        return found
    if told:
        return best
    return "ko" if hangul else "ja" if kana else "zh" if han > 1 else ""


def _count_common(words: Sequence[str]) -> dict[str, int]:
    return {name: sum(word in common for word in words) for name, common in _COMMON.items()}


def is_other_language(text: str, *languages: str) -> bool:
    """
    Whether a text is clearly in none of these languages: in another script, or with twice the words of another one.

    :param languages: codes; empty ones, and those whose words nobody knows here, tell nothing.
    """
    known, found = set(filter(None, languages)), guess_language(text)
    if not known or not found or found in known or not known <= _TOLD or {found, *known} <= _HAN_WRITTEN:
        return False
    if found not in _COMMON:
        return True
    counts = _count_common([word.casefold() for word in _LETTERS.findall(text[:CHARACTERS])])
    return counts[found] >= CLEARLY * max((1, *(counts[each] for each in known if each in _COMMON)))


def choose_language(code: str, text: str) -> str:
    """
    The language that a text's writer is answered in, as ISO 639-1 code; empty when it cannot be told.

    :param code: what a model says that it is, such as `de` or `zh-CN`; what names no language, or one that the text
        clearly is not in, is not believed.
    """
    named = re.split("[-_]", code.strip().casefold(), maxsplit=1)[0]
    return named if named in CODES and not is_other_language(text, named) else guess_language(text)
