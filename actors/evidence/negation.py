"""Where a sentence denies something, and what: in English and the languages around it, Chinese and Korean. Pure."""

import functools
import re

from actors.evidence.wording import clauses, common_terms, nearest, terms
from actors.text.normalize import casefold

_NEGATION = re.compile(
    r"\b(?:not(?! (?:only|just|merely|simply|necessarily))|no(?! (?:(?:longer|later|more|less) than|matter))|"
    r"never|none|nothing|nobody|nowhere|neither|nor|cannot|without|unable)\b|n't\b|"
    r"\b(?:nicht(?! nur)|kein(?:e[nmrs]?)?|nie|niemals|niemand(?:en|em)?|nichts|nirgends|weder|ohne)\b|"
    r"\b(?:ne\b|n'(?!t\b))(?! ?\w+ (?:\w+ )?qu)|\b(?:pas(?! seulement)|jamais|aucune?|sans(?! serif))\b|"
    r"\b(?:nunca|jamás|ning(?:ún|una|uno)|sin(?! embargo)|nadie|tampoco|não|sem|non(?!-| solo)|senza|nessun[oa]?)\b|"
    r"不(?!仅|但|过|同|断|久|只)|没|無|无|未|勿|别(?!的|人)|禁止|않|못|없|아니|말고|마십시오|마세요|금지|ない|ません|なし",
    re.IGNORECASE,
)
_NOBODY_BUT = re.compile(
    r"\b(?:nobody|no one|nothing|none|niemand|nichts|nadie|personne)\s+"
    r"(?:but|except(?: for)?|other than|außer|ausser|als|excepto|sauf)\b",
    re.IGNORECASE,
)
"""These allow, as "only" does."""
_AND = re.compile(r"\b(?:and|or|und|oder|et|ou|y|o)\b|[,;]")
_REPLY = re.compile(r"^\s*(?:no|nein|non|不是?|아니(?:요|오)|いいえ)\s*[:,;.—–，。：]\s*", re.IGNORECASE)
"""An answer to a question, which denies what was asked rather than what the answer says."""
_HINDERED = re.compile(
    r"\b(?:avoid\w*|prevent\w*|forbid\w*|forbidden|prohibit\w*|den(?:y|ies|ied)|refus\w+|reject\w*|disallow\w*|lack\w*|"
    r"fail\w*|except\w*|unless|impossible|unsupported|block\w*|locks? out|instead of|rather than|neither|ignored?|"
    r"empty|leave (?:\w+ )?out|left out|omit\w*|skip\w*|refrain\w*|"
    r"disabl\w*|deactiv\w*|deaktiv\w*|désactiv\w*|desactiv\w*|expire\w*|verhinder\w*|verboten|unmöglich|évite\w*|"
    r"interdit\w*|impide\w*|prohibid\w*|imposible)\b|避免|防止|禁|拒绝|불가|금지",
    re.IGNORECASE,
)
_BOUNDED = re.compile(
    r"\b(?:only|maximum|max|minimum|at most|at least|up to|limit\w*|exclusiv\w*|nur|höchstens|maximal|seulement|"
    r"sólo|solo|máximo|until|same or higher|exceed\w*)\b|只|仅|最多|至多|最大|만|최대",
    re.IGNORECASE,
)
_COMPARED = re.compile(
    r"\b(?:more|above|over|beyond|greater|larger|higher|longer|fewer|less|below|under|smaller|other|else|elsewhere|ordinary|normal|without|ohne|sans|fit|"
    r"otherwise|exceed\w*|before|mehr|über|länger|höher|weniger|anders\w*|sonst|plus|moins|autre\w*|más|menos|otr[oa]s?)\b|"
    r"超过|以上|其他|其它|别的|이상|초과|다른",
    re.IGNORECASE,
)
_NEEDLESS = re.compile(
    r"\b(?:need(?:s|ed)?|necessary|required?|have to|has to|must|nötig|notwendig|erforderlich|müssen|muss|brauch\w*|"
    r"nécessaire|besoin|faut|necesari[oa]|necesita\w*|hace falta|hay que)\b|需|必须|用|필요|해야",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+(?:['’]\w+)?|[,;]")
LEADING = len("but ")
_BY_ITSELF = re.compile(r"\bautomat\w*|\bby (?:it|them)sel(?:f|ves)\b|\bvon selbst\b|自动|자동")
_WITHOUT = re.compile(r"\b(?:without|ohne|sans|sin)\s+\w+")
"""A circumstance, which denies nothing of what is said of it."""
SCOPE = 2
"""So many words of weight behind a negation are what it denies,"""
BEHIND_CHARACTERS = 200
"""within so many characters."""


def has_negation(text: str) -> bool:
    """Whether a text denies anything; a "No:" at its beginning only answers."""
    return bool(_NEGATION.search(_prepare(text)))


Denied = tuple[str, ...]
"""Words of weight, in their order."""


@functools.lru_cache(512)
def denials(text: str) -> tuple[tuple[str, Denied], ...]:
    """For each negation of a text, its clause and the words of weight behind it there, or those before it."""
    found = []
    before = ""
    for clause in clauses(_prepare(text)):
        for match in _NEGATION.finditer(clause):
            if match.start() <= LEADING and _HINDERED.search(before):
                continue  # "locks out writes (but not reads)" allows them
            found.append(
                (
                    clause,
                    _first_terms(clause[match.end() : match.end() + BEHIND_CHARACTERS]) or tuple(sorted(terms(clause))),
                )
            )
        before = clause
    return tuple(found)


def adds_denial(text: str, quote: str, read: str) -> str:
    """
    What a claim denies and its quote does not, in a few words; empty when nothing.

    :param read: all of the passage. What it denies may be denied; and that something is not needed may follow from what
        the quote says, unless it is what the quote asks for.
    """
    for clause, denied in denials(text):
        if denied and not _is_borne_out(denied, clause, _prepare(quote), read):
            return f"it denies something ({_snippet(clause)}) that its quote does not deny"
    return ""


def _is_borne_out(denied: Denied, clause: str, quote: str, read: str) -> bool:
    words, parts = frozenset(denied), clauses(quote)
    about = {*nearest(clause, parts), *(each for each in parts if common_terms(words, terms(each)))}
    if any(_NEGATION.search(_WITHOUT.sub("", each)) for each in about) or (
        _NEGATION.search(quote) and not common_terms(words, terms(quote))
    ):
        return True
    if any(not common_terms(words, terms(found.group())) for each in about for found in _HINDERED.finditer(each)):
        return True
    if _BOUNDED.search(quote) and _COMPARED.search(clause):
        return True
    asked = [each for each in denied if each not in _ASKED][:1]
    if _NEEDLESS.search(clause) and (_BY_ITSELF.search(quote) or not common_terms(frozenset(asked), terms(quote))):
        return True
    said = terms(clause)
    if common_terms(said, terms(quote)) == said:
        return False  # the quote says just that, and does not deny it
    return any(common_terms(words, frozenset(other)) for _, other in denials(read))


def drops_denial(text: str, quote: str) -> str:
    """What a quote denies and the claim affirms, in a few words; empty when nothing."""
    parts = clauses(_prepare(quote))
    for clause in (each for each in clauses(_prepare(text)) if not _denies(each)):
        said = terms(clause)
        if any(len(common_terms(said, terms(each))) > 1 for each in parts if not _denies(each)):
            continue
        near = nearest(clause, parts)
        for about, denied in denials(quote):
            words = frozenset(denied)
            if about in near and words and common_terms(words, said) == words:
                return f"its quote denies ({_snippet(about)}) what it affirms"
    return ""


_ASKED = terms("need needed needs necessary required require")


def _denies(text: str) -> bool:
    return has_negation(text) or bool(_HINDERED.search(text))


def _prepare(text: str) -> str:
    return _NOBODY_BUT.sub("only", _REPLY.sub("", casefold(text)))


def _first_terms(text: str) -> Denied:
    found: list[str] = []
    for word in _WORD.findall(text):
        if found and _AND.fullmatch(word):
            break
        found += [each for each in sorted(terms(word)) if each not in found]
        if len(found) >= SCOPE:
            break
    return tuple(found[:SCOPE])


def _snippet(text: str) -> str:
    return f"“{' '.join(text.split())[:80]}”"
