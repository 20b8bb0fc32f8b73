"""What counts as a word: English stems, bigrams for Chinese, Japanese and Korean, folded accents and widths."""

import functools
import itertools
import re
import unicodedata

from actors.text.stemmer import stem

CJK = "\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7a3"
"""Scripts whose words are not parted by spaces, or carry particles (Korean): indexed as pairs of characters."""

_RUN = re.compile(rf"[{CJK}]+|[^\W_{CJK}]+(?:['’](?:s|t|re|ll|ve|m|d)\b)?")
_COMPOUND = re.compile(r"(?<![\w-])(?:[A-Za-z]{1,3}-[A-Za-z]+|[A-Za-z]+-[A-Za-z]{1,3})(?![\w-])")
_IS_CJK = re.compile(rf"[{CJK}]")


def word_set(words: str) -> frozenset[str]:
    """A set of words written as one text."""
    return frozenset(words.split())


STOP = word_set(
    """
    a about again all already also am an and any anybody are as at back be because been being but by can can't
    could did do does doesn't doing don't down each every for from get gets go goes going got had happens has
    have having he her here him his how i i'm if in into is isn't it it's its just let lets like make makes may
    me might more most must my need needs no nor not of off on or other others our out over own per please
    really s said say says shall she should so some somebody someone something still such t tell than that the
    their them then there these they thing things this those to too up us use used using very via want wants was
    way we we're were what when where which who whom whose why will with won't would yet you your
    """
)
"""English words that neither the index nor a question keeps."""

EVERYDAY = word_set(
    """
    able add afraid after ago ahead almost although always although annoying anyway apart appear appears around
    asap avoid bad before begin behind believe besides best better between big bigger biggest boss came case
    cause cheaper choose colleague colleagues come comes coming company correctly couple day days deal dear decide dear
    different difference do documentation during easiest easy else end ended ends enough everybody everyone
    exactly example exist existing exists explain explanation fast faster fastest few fewer find fine first
    five follow forgot four
    friday gave gb give gives good great guess guide half handle happen happened happening hello help hi higher
    hope hour hours however hundreds huge idea immediately important inside instead january itself kb keep keeps
    kept kind know large larger largest last lately later least less little long longer look looking lot low
    lower machine main managed manager many mb mean means meanwhile million millions minute minutes moment monday
    month months morning much nearly never new next nice night nobody noon nothing now office often ok okay old
    once one only otherwise outside overall part people perhaps pick picks possible pretty problem problems
    project properly put question quickly quite rather reason recently recommended remember right safe safely
    same second see seem seems seen several short shorter show simple simply since slow slower slowest slowly
    small smaller smallest sometimes soon sorry sort spring start started step steps strange stuff suddenly
    summer supposed take takes tb team ten terrible thank thanks think thousand thousands three times tip tips
    today together tomorrow tried trick tricks try turn tutorial twelve two understand unless until urgent
    urgently usually week weekend weeks weird well whether while whole winter wish within without wonder
    wondering work working works worried worst wrong year years yesterday
    """
)
"""English words of any talk: they weigh less, and no search depends on them."""


def is_cjk(word: str) -> bool:
    return bool(_IS_CJK.match(word))


def runs(text: str) -> list[str]:
    """The words and unbroken CJK runs of a text, as written (widths folded)."""
    return _RUN.findall(_joined(unicodedata.normalize("NFKC", text)))


def tokens(text: str) -> list[str]:
    """The index terms of a text, in order."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return list(itertools.chain.from_iterable(map(_terms, _RUN.findall(_joined(text.lower())))))


def spellings(text: str) -> list[tuple[str, str]]:
    """(word in lower case, term) of each index term of a text."""
    return [(run.lower(), term) for run in runs(text) for term in _terms(run.lower())]


def _joined(text: str) -> str:
    """With `Wi-Fi` as `WiFi` and `e-mail` as `email mail`: people write short compounds in either way."""
    return _COMPOUND.sub(_join, text) if "-" in text else text


def _join(compound: re.Match[str]) -> str:
    parts = compound.group().split("-")
    return " ".join(["".join(parts), *(part for part in parts if len(part) > 2)])


@functools.lru_cache(100_000)
def _terms(run: str) -> tuple[str, ...]:
    word = run.removesuffix("'s").removesuffix("’s")
    if run in STOP or word in STOP:
        return ()
    if run.isascii():
        return (stem(word),)
    if is_cjk(run):
        return tuple(run[i : i + 2] for i in range(max(1, len(run) - 1)))
    folded = "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c))
    return () if folded in STOP else (stem(folded.replace("’", "'")),)
