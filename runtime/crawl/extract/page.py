"""
From what a server sent to the main text: decoded, looked at for bot checks and paywalls, cleaned
(RE-3). Blocking.

It runs in a worker process. Bytes become text by mark, header, the page's own word, strict UTF-8,
and only then by guessing.
"""

import codecs
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

import msgspec

from actors.evidence.dedup import hash_of, sketch_of
from actors.evidence.entities import entities
from actors.evidence.sources import PAGE_CHARACTERS
from actors.evidence.summarize import essential, key_points, summary
from actors.text.markdown_blocks import Segment, prose, segments
from actors.text.normalize import normalize
from actors.text.truncate import cut_at_paragraph
from actors.text.urls import split
from runtime.crawl.extract.extracted import Extracted
from runtime.crawl.http_client import is_binary

if TYPE_CHECKING:
    from runtime.crawl.extract.main_text import PageMetadata


def any_of(forms: Iterable[str], before: str = "", after: str = "") -> re.Pattern[str]:
    """One of these forms, whatever the case."""
    return re.compile(f"{before}(?:{'|'.join(forms)}){after}", re.IGNORECASE)


GATE_TITLES = (
    r"just a moment",
    r"attention required",
    r"access (?:to this page has been |is |has been )?denied",
    r"are you (?:a )?(?:robot|human)",
    r"security (?:check|verification)",
    r"verify(?:ing)? (?:that )?you are",
    r"checking your browser",
    r"(?:robot|bot) (?:check|verification)",
    r"pardon our interruption",
    r"ddos[- ]guard",
    r"human verification",
    r"captcha$",
    r"one more step",
    r"please wait",
    r"403 forbidden",
    "请稍候|安全验证|人机验证",
    "잠시만 기다|보안 확인",
)
GATES = (
    r"(?:enable|turn on|activate|requires?|needs?)[^.!?]{0,60}\bjavascript",
    r"(?:activar|activer|aktivier\w{0,5}|habilit\w{1,4})[^.!?]{0,60}\bjavascript",
    r"javascript[^.!?]{0,40}(?:is disabled|disabled in|is required|must be enabled|to be enabled)",
    r"(?:verify|confirm|prove)[^.!?]{0,30}(?:are|'re|’re)(?: a)? (?:human|not a (?:ro)?bot)",
    r"not a robot",
    r"complete the (?:security check|captcha|action below)",
    r"checking (?:your browser|if the site connection)",
    r"unusual (?:traffic|activity) from",
    r"automated (?:access|requests|queries)",
    r"performance (?:&|and) security by cloudflare",
    r"ray id:",
    r"you have been blocked",
    r"access (?:is |has been )?denied",
    r"solve (?:the|this) (?:captcha|puzzle)",
    r"启用\s?javascript|人机验证|验证您是真?人",
    r"로봇이 아닙니다|자바스크립트를 (?:활성화|사용)",
)
CHALLENGES = (
    "cf-challenge", "challenge-platform", "cf_chl_", "cf-turnstile", "g-recaptcha", "h-captcha", r"hcaptcha\.com",
    "px-captcha", "_incapsula_resource", "datadome", "awswaf", "geetest",
)  # fmt: skip
WALLS = (
    (
        r"(?:subscribe|sign up|register|log ?in|sign in|become a member|create (?:a|an|your) (?:free )?account)"
        r"(?: now| today)?(?: or (?:log|sign) ?in)? (?:to|and) (?:continue|keep|read|view|access|unlock|see)"
    ),
    r"to (?:continue|keep) reading",
    r"must (?:be )?(?:log(?:ged)? ?in|sign(?:ed)? ?in|subscribe)(?! to (?:post|leave|comment|reply|vote|rate|add))",
    (
        r"(?:reserved|exclusive|exclusively|only|available)(?: only)? (?:for|to) (?:our )?(?:paying |registered )?"
        r"(?:subscribers|members)"
    ),
    r"for (?:subscribers|members) only",
    r"(?:subscribers|members)[- ]only",
    r"already a (?:subscriber|member)",
    r"(?:reached|used)(?: all)?(?: of)? your (?:monthly|free|limit of|article)",
    r"unlock (?:this|the full) (?:article|story)",
    r"登录后(?:才|可|查看|阅读)|订阅后|付费阅读",
    r"구독(?:하시면|자만|자 전용|후)|로그인(?:이 필요|\s?후)|유료\s?기사",
    r"weiterlesen mit|jetzt abonnieren|nur für abonnenten",
    r"pour lire la suite|réservé aux abonnés",
    r"solo para suscriptores",
)

_MEDIA = "whatsapp|facebook|twitter|linkedin|reddit|pinterest|telegram|flipboard|instagram|youtube|x"
_SHARING = f"share|tweet|pin|print|e-?mail|copy link|{_MEDIA}"
NOISE_LINES = (
    (
        r"(?:advertisement|advertising|sponsored(?: content| links?)?|promoted(?: content)?|ad)(?: -| –|:)?"
        r"(?: (?:continue|story continues|scroll|article continues)[\w ]{0,30})?"
    ),
    r"anzeige|werbung|publicité|publicidad|광고|广告",
    r"skip to (?:main |the )?content",
    r"(?:story|article) continues (?:below|after)[\w ]{0,30}",
    rf"(?:{_SHARING})(?:[\s,|/•·]{{1,3}}(?:this|on|via|to|article|page|story|{_SHARING})){{0,12}}",
    r"(?:print|order|request)(?: (?:article|reprints?|this page)){1,2}",
    r"(?:back to|go to) top",
    r"read (?:more|next)",
    r"view (?:all )?comments",
    r"(?:\d{1,6} )?(?:comments?|shares?|likes?|views?)",
    r"loading\W{0,3}",
    r"thank you\.?",
    r"an error has occurred[^.]{0,60}\.?",
    r"this article has been sent(?: to)?",
)
CALLS = (
    r"(?:sign up|subscribe)\b[^.]{0,60}\b(?:newsletters?|inbox|updates?|emails?|alerts?|channel|free)\b",
    r"(?:sign up|subscribe):",
    (
        r"get (?:the |our |all )?(?:latest|best|top|breaking|daily|access)\b[^.]{0,90}"
        r"\b(?:inbox|newsletters?|email|subscription)\b"
    ),
    rf"(?:follow|like|find|join|connect with) (?:us|me|him|her|them|@?\w+(?: \w+)?) on (?:{_MEDIA}|google news)\b",
    r"(?:copyright|©|\(c\))\s{0,3}(?:©|\(c\))?\s{0,3}(?:19|20)\d\d",
    r".{0,80}\ball rights reserved\b",
    r"have a tip\?",
    r"(?:this copy is )?for your personal, non-commercial use only",
    r"download (?:the|our) (?:free )?(?:app|ebook)\b",
    r"(?:support|donate)\b.{0,40}\b(?:patreon|paypal|donate|crypto)",
    r"please (?:enable|turn on) javascript",
    r"we use cookies\b",
    r"by (?:clicking|signing up|subscribing)\b[^.]{0,100}\b(?:agree|consent|accept)",
    r"email .{0,60}@.{0,80}\bfollow\b",
)
TEASERS = (
    r"related", r"read (?:more|also|next)", r"see also", r"also read", r"don['’]?t miss", r"more (?:on|from)", r"watch",
    r"you (?:may|might) (?:also )?(?:like|enjoy)", r"recommended(?: reading)?", r"lesen sie auch", r"mehr zum thema",
    r"leia (?:mais|também)", r"lea también", r"lire aussi", r"leggi anche", r"lees ook", r"читайте также",
    r"관련\s?기사", r"延伸阅读|相关阅读",
)  # fmt: skip
TAILS = (
    (
        r"(?:related|recommended|popular|trending|latest|recent|similar|featured|more)(?: \w+){0,3}"
        r" (?:articles?|stories|posts?|news|topics?|content|reading|reads|links|searches|tags|videos)"
    ),
    r"(?:popular|more|trending|latest) (?:on|from|in) .{1,40}",
    r"most (?:read|popular|viewed|shared)",
    r"you (?:may|might|could) (?:also )?(?:like|enjoy|be interested in)",
    r"(?:read|watch|up) next",
    r"don['’]?t miss",
    r"share(?: this)?(?: article| post| story| page)?",
    r"(?:leave|post|write|add) a (?:comment|reply)",
    r"(?:post )?comments?(?: \(\d+\))?",
    r"subscribe(?: to .{1,60})?",
    r"newsletter(?: sign[- ]?up)?",
    r"sign up .{0,60}",
    r"follow us",
    r"tags?",
    r"about the authors?",
    r"sponsored(?: content)?",
    r"advertisement",
    r"related",
)


GATE_CHARACTERS = 1_500
"""A page that shows more text than this is no bot check: it may well be an article about them."""
WALLED_CHARACTERS = 2_500
"""A page that says it is not free, and of which less than this could be read, shows its beginning only."""
THIN_CHARACTERS = 250
POOR_CHARACTERS = 500
POOR_SHARE = 0.3
_END = 300
_TRACE = 40

_GATE_TITLE = any_of(GATE_TITLES, r"\s{0,3}")
_GATE = any_of(GATES)
_CHALLENGE = any_of(CHALLENGES)
_WALL = any_of(WALLS)
_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？\n]*")


def find_bot_challenge(title: str, shown: str, html: str) -> str:
    """
    Why a page is a bot check, in a sentence; empty when it is not.

    :param shown: all text that it shows, and what it tells browsers without JavaScript.
    """
    if len(shown) > GATE_CHARACTERS:
        return ""
    titled, words, marked = _GATE_TITLE.match(title), _GATE.search(shown), _CHALLENGE.search(html)
    if (titled and (words or marked or len(shown) < THIN_CHARACTERS)) or (words and (marked or _mostly(_GATE, shown))):
        return "The site shows a bot check instead of the text."
    return ""


def find_paywall(text: str, shown: str, *, paid: bool) -> str:
    """
    Why a page is a paywall or a log-in, in a sentence; empty when it is the text.

    :param text: the main text; :param shown: all text of the page; :param paid: the page says that it is not free.
    """
    if len(text) >= WALLED_CHARACTERS and not paid:
        return ""
    if paid and (len(text) < WALLED_CHARACTERS or _at_end(text)):
        return "The page says that its text is not free to read."
    short = len(text) < THIN_CHARACTERS
    if _at_end(text) or _follows(text, shown) or (short and _WALL.search(shown[:GATE_CHARACTERS])):
        return "The page asks to log in or to pay before it shows its text."
    return ""


def find_shortage(text: str, shown: int) -> str:
    """
    Why a text is too little to count as a page, in a sentence; empty when it counts.

    :param shown: characters of all text of the page.
    """
    size = len(text)
    if size < THIN_CHARACTERS:
        return f"The page has only {size} characters of text." if size else "The page has no text."
    if size < POOR_CHARACTERS and size < POOR_SHARE * shown:
        return f"Only {size} of the {shown} characters of the page are text, the rest is links and forms."
    return ""


def _mostly(sign: re.Pattern[str], shown: str) -> bool:
    """Whether the sentences that carry a sign are a good part of all, or nearly all there is."""
    said = sum(len(each) for each in _SENTENCE.findall(shown) if sign.search(each))
    return said > 0.25 * len(shown) or len(shown) < THIN_CHARACTERS


def _at_end(text: str) -> bool:
    """Whether the last words ask for a log-in or money: what comes before them is a beginning."""
    return bool(_WALL.search(text[-_END:]))


def _follows(text: str, shown: str) -> bool:
    """Whether the page asks for them right after the text."""
    last = " ".join(text[-_END:].split())[-_TRACE:]
    at = shown.rfind(last) if last else -1
    return at >= 0 and bool(_WALL.search(shown[at : at + len(last) + _END]))


_CONTROL = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\ufffe\uffff\U000e0000-\U000e007f]"
)
_TAG = re.compile(
    r"</?(?:u|s|b|i|em|strong|sup|sub|del|ins|br|hr|small|mark|span|font|center|img)(?:\s[^<>]{0,2000})?/?>"
    r"|<!--[^<>]{0,2000}-->",
    re.IGNORECASE,
)
_LINK = re.compile(
    r"!?\[([^\[\]\n]{0,500})\]"
    r"\((?:[^()\s]{0,2000}|[^()\s]{0,500}\([^()\s]{0,300}\)[^()\s]{0,500})(?:\s\"[^\"\n]{0,200}\")?\)"
)
_SPAN = re.compile(r"(?<![`\\])(`{1,2})(?!`)[^`\n]{1,500}\1(?!`)")
_PUT_ASIDE = re.compile("\0(\\d+)\0")
_PROGRAM = re.compile(r"(?<![`\\])<(script|style|noscript|iframe|svg)\b[^<>]{0,2000}(?<!/)>", re.IGNORECASE)
_EMPHASIS = re.compile(r"(?<![\w*\\])(\*{1,3})(?=[^\s*])([^*\n]{1,600}?)(?<=[^\s*\\])\1(?![\w*])")
_ESCAPE = re.compile(r"\\([\\`*_\[\](){}<>~|!])")
_CODE = any_of(
    (
        r"\b(?:window|document|googletag|dataLayer|_gaq|jQuery|fbq|gtag)\s?(?:\.\w+|\[|\()",
        r"\bfunction\s?\w*\([^)]{0,100}\)\s?\{",
        r"\bvar \w+\s?=",
        r"=>\s?\{",
        r"@media\b[^{]{0,80}\{",
        r"[\w-]\s?\{\s?[\w-]{2,30}\s?:[^}]{1,300}\}",
        r"\}\)\(\)",
        r"<!\[CDATA\[",
    )
)
_NOISE_LINE = any_of(NOISE_LINES)
_CALL = any_of(CALLS, r"(?:👉|➡|→|>>|▶)?\s{0,3}")
_CALL_CHARACTERS = 400
_TEASER = any_of(TEASERS, after=r"(?: articles?| stor(?:y|ies)| posts?| news| topics?| content)?\s{0,3}[:：]\s{0,3}\S")
_TEASER_CHARACTERS = 200
_TAIL = any_of(TAILS, after=r"\s{0,3}[:：]?")
_TAIL_FROM = 0.5
_LABEL_CHARACTERS = 60
_PROSE_CHARACTERS = 300
_OPENING = 4
_RESIDUE_CHARACTERS = 60
_SIGNS_SHARE = 0.1


def clean(text: str, title: str = "", *, marked_up: bool = True) -> str:
    """
    A text without what is none: leftovers of scripts and styles, marks of emphasis, navigation, advertisements.

    :param title: of the page, which need not be said again.
    :param marked_up: it is Markdown; else a plain text, of which every sign stands for itself.
    """
    text = _CONTROL.sub("", unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n")))
    if not marked_up:
        return re.sub(r"\n{3,}", "\n\n", re.sub(r"[ \t]+\n", "\n", text)).strip()
    parts = list(segments(text, len(text) + 1))
    blocks = [each if each.code else msgspec.structs.replace(each, text=_bare(each.text)) for each in parts]
    kept = [each for number, each in enumerate(blocks) if not _noise(each, number, len(blocks), title)]
    return "\n\n".join(each.text for each in kept[: _end(kept)])


def without_programs(text: str) -> str:
    """Markdown without the scripts and styles that its maker left in it; those that it shows as code stay."""
    shown = [(each.start, each.end) for each in segments(text, len(text) + 1) if each.code]
    parts: list[str] = []
    at = 0
    while (found := _PROGRAM.search(text, at)) is not None:
        name = found.group(1).lower()
        end = re.compile(rf"</{name}\b[^<>]{{0,100}}>", re.IGNORECASE).search(text, found.end())
        inside = next((stop for start, stop in shown if start <= found.start() < stop), 0)
        stop = inside or (end.end() if end else len(text))
        parts.append(text[at : stop if inside else found.start()])
        at = stop
    return "".join([*parts, text[at:]])


def _bare(text: str) -> str:
    """The words themselves: quotes are found in them whatever was bold. Code keeps its signs."""
    spans: list[str] = []

    def put_aside(found: re.Match[str]) -> str:
        spans.append(found.group())
        return f"\0{len(spans) - 1}\0"

    text = _LINK.sub(r"\1", _TAG.sub("", _SPAN.sub(put_aside, text)))
    for _ in range(2):
        text = _EMPHASIS.sub(r"\2", text)
    text = _PUT_ASIDE.sub(lambda found: spans[int(found.group(1))], _ESCAPE.sub(r"\1", text))
    return "\n".join(line.rstrip() for line in text.split("\n") if line.strip())


def _residue(block: str) -> bool:
    """Whether a block is program or style that was taken for text; what a page shows as code has lines or marks."""
    if "\n" in block or "`" in block or len(block) < _RESIDUE_CHARACTERS or not _CODE.search(block):
        return False
    return sum(block.count(sign) for sign in "{}()[];=\"'") > _SIGNS_SHARE * len(block)


def _noise(block: Segment, number: int, count: int, title: str) -> bool:
    text = block.text
    if block.code or text.startswith("|"):
        return not text.strip()
    said = prose(text.lstrip("# "))
    if block.heading:
        return not said or (number < _OPENING and _same(said, title))
    lines = [prose(line) for line in text.split("\n")]
    if not said or _residue(text) or all(_NOISE_LINE.fullmatch(line.strip(" .:|•·")) for line in lines):
        return True
    if len(said) <= _TEASER_CHARACTERS and len(lines) == 1 and _TEASER.match(said):
        return True
    return len(said) <= _CALL_CHARACTERS and number > count // 3 and bool(_CALL.match(said))


def _end(blocks: Sequence[Segment]) -> int:
    """Where a page's own text ends and lists of other pages begin."""
    total = sum(len(each.text) for each in blocks) or 1
    before = 0
    for number, each in enumerate(blocks):
        opens = each.heading or (len(each.text) < _LABEL_CHARACTERS and "\n" not in each.text)
        if opens and not each.code and before > _TAIL_FROM * total and _TAIL.fullmatch(prose(each.text.lstrip("# "))):
            rest = blocks[number + 1 :]
            if not any(_is_prose(other) for other in rest):
                return number
        before += len(each.text)
    return len(blocks)


def _is_prose(block: Segment) -> bool:
    text = block.text
    return (
        block.code
        or text.startswith("|")
        or (len(text) > _PROSE_CHARACTERS and max(map(len, text.split("\n"))) > _LABEL_CHARACTERS)
    )


def _same(one: str, other: str) -> bool:
    return bool(other) and normalize(one)[0] == normalize(other)[0]


_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip
_DECLARED = re.compile(rb"(?:charset|encoding)\s{0,9}=\s{0,9}[\"']?\s{0,9}([\w.:-]{2,40})", re.IGNORECASE | re.ASCII)
_SINGLE = frozenset(("ascii", "us-ascii", "iso-8859-1", "iso8859-1", "latin-1", "latin1", "windows-1252", "cp1252"))
"""Names that servers give by habit, and that fit any bytes: UTF-8 that is valid beats them."""
_AS_BROWSERS_DO = dict.fromkeys(_SINGLE, "cp1252") | {"gb2312": "gb18030", "gbk": "gb18030", "ks_c_5601-1987": "cp949",
                                                      "euc-kr": "cp949", "shift_jis": "cp932"}  # fmt: skip
_NOT_OF_PAGES = ("utf-7", "utf7", "utf-16", "utf-32", "idna", "punycode", "unicode_escape", "raw_unicode_escape")
"""Encodings that no page is in, whatever it says: one of several bytes a character would have shown itself by zeros."""
_SAMPLE = 65_536
_SIGNS = 2_048
"""Bytes in which a page must say its encoding."""


class NoText(Exception):
    """What a server sent is no text. The sentence says so to the user."""


def decode(body: bytes, charset: str) -> str:
    """
    Bytes as text.

    :param charset: what the header says; empty when it says nothing.
    :raises NoText: it is something else under the name of a text.
    """
    wide = _find_wide(body)
    if not wide and is_binary(body):
        raise NoText("The file is not text, although its server says so.")
    if encoding := wide or next((encoding for mark, encoding in _MARKS if body.startswith(mark)), ""):
        return body.decode(encoding, "replace")
    for encoding in _declared_encodings(body, charset):
        if (text := _decode_strictly(body, encoding)) is not None:
            return text
    return _guess(body)


def _declared_encodings(body: bytes, charset: str) -> Iterator[str]:
    """The encodings to try, the most trusted first."""
    said = [charset, *(found.decode("ascii") for found in _DECLARED.findall(body[:_SIGNS])[:2])]
    for name in (each.strip(" \"'").lower() for each in said):
        if name in _SINGLE:
            yield "utf-8"
        if name and not name.startswith(_NOT_OF_PAGES):
            yield _AS_BROWSERS_DO.get(name, name)
    yield "utf-8"


def _decode_strictly(body: bytes, encoding: str) -> str | None:
    """None too when only the last character was cut off by a limit on bytes: then it is decoded without it."""
    try:
        return body.decode(encoding)
    except UnicodeDecodeError as error:
        if len(body) - error.start < 4 and error.start > _SIGNS:
            return body[: error.start].decode(encoding, "replace")
        return None
    except (LookupError, ValueError):  # LookupError, too, where it is a codec of bytes, such as base64
        return None


def _find_wide(body: bytes) -> str:
    """UTF-16 that does not say so has a zero in every second byte of its markup."""
    head = body[:400]
    for offset, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        zeros, others = head[offset::2].count(0), head[1 - offset :: 2].count(0)
        if len(head) > 20 and zeros > len(head) * 0.4 and not others:
            return encoding
    return ""


def _guess(body: bytes) -> str:
    try:
        from charset_normalizer import from_bytes  # comes with the extra [research]
    except ImportError:
        return body.decode("cp1252", "replace")
    best = from_bytes(body[:_SAMPLE]).best()
    return body.decode(best.encoding if best is not None else "cp1252", "replace")


LINES = 20_000
DEPTH = 40
STRUCTURED_CHARACTERS = 2_000_000
"""What is longer is read as plain text."""


def of_json(text: str) -> str:
    """A value in each line, after the names that lead to it; the text itself when it is no JSON."""
    if len(text) > STRUCTURED_CHARACTERS:
        return text[:STRUCTURED_CHARACTERS]
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return "\n".join(line for line, _ in zip(_values(value, "", 0), range(LINES), strict=False))


def of_xml(text: str) -> str:
    """The texts of the elements, a line each; nothing of a file with entities of its own or of a broken one."""
    from lxml import etree

    if "<!ENTITY" in text[:STRUCTURED_CHARACTERS].upper():
        return ""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=True)
    try:
        root = etree.fromstring(text[:STRUCTURED_CHARACTERS].encode("utf-8", "replace"), parser)
    except etree.LxmlError:
        return ""
    if root is None:
        return ""
    lines = (" ".join(each.split()) for each in root.itertext() if isinstance(each, str))
    return "\n".join(line for line, _ in zip(filter(None, lines), range(LINES), strict=False))


def _values(value: Any, path: str, depth: int) -> Iterator[str]:
    if depth > DEPTH:
        return
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _values(each, f"{path}.{name}" if path else str(name), depth + 1)
    elif isinstance(value, list):
        for each in value:
            yield from _values(each, path, depth + 1)
    elif value not in (None, ""):
        said = " ".join(str(value).split())
        yield f"{path}: {said}" if path else said


COMPRESSED_BYTES = 100 * 1024
"""More text than this, in UTF-8, is compressed to its essential (PR-18)."""
CHARACTERS = 300_000
"""Of the main text that are looked at; what follows is no part of it."""
TITLE_CHARACTERS = 200
_NOTICES = 1_000
_GATE_MARKUP = 200_000

_MARKDOWN_TITLE = re.compile(r"^[ \t]{0,3}#{1,2}[ \t]+(\S.{0,300})$", re.MULTILINE)
_PAGE_TAG = re.compile(r"<(?:!doctype html|html|head|body|div|p|h1|article)\b", re.IGNORECASE)


def extract(body: bytes, charset: str, content_type: str, url: str, question: str) -> Extracted:
    """
    The main text of what a server sent.

    :param charset: what the header says; empty when it says nothing.
    :param question: what it is read for, which tells the essential part of a long text.
    """
    try:
        text = decode(body, charset)
    except NoText as error:
        return Extracted(_title_of(url), "", 0, hash_of(""), thin=str(error))
    kind = content_type.partition(";")[0].strip().lower()
    if kind == "text/markdown":
        return _plain(clean(without_programs(text[:CHARACTERS])), url, question)
    if _PAGE_TAG.search(text[:4_000]) or kind in ("", "text/html", "application/xhtml+xml"):
        return _html(text, url, question)
    if kind.endswith(("/json", "+json")):
        return _plain(of_json(text)[:CHARACTERS], url, question)
    if kind.endswith(("/xml", "+xml")):
        return _plain(of_xml(text)[:CHARACTERS], url, question)
    return _plain(clean(text[:CHARACTERS], marked_up=False), url, question)


class Reading(NamedTuple):
    """A page of HTML before it is cut."""

    about: "PageMetadata"
    text: str
    """The whole main text."""
    shown: str
    """All that the page shows."""
    notices: str
    """What it tells browsers without JavaScript."""


def read_html(html: str, url: str) -> Reading | None:
    """The whole main text of a page and what it says of itself; None when there is no HTML in it."""
    from runtime.crawl.extract.main_text import describe, main_text, notices, parse, sanitize_html, visible

    safe = sanitize_html(html)
    root = parse(safe)
    if root is None:
        return None
    about, shown = describe(root, safe, url), visible(root)
    text = clean(main_text(safe, url, shown=len(shown), forum=about.forum)[:CHARACTERS], about.title)
    return Reading(about, text, shown, notices(root))


def _html(html: str, url: str, question: str) -> Extracted:
    read = read_html(html, url)
    if read is None:
        return _describe(_title_of(url), "", question, shown=0)
    about = read.about
    blocked = find_bot_challenge(about.title, f"{read.shown} {read.notices[:_NOTICES]}", html[:_GATE_MARKUP])
    walled = "" if blocked else find_paywall(read.text, read.shown, paid=about.paid)
    return _describe(
        about.title or _title_of(url), read.text, question, shown=len(read.shown), blocked=blocked or walled,
        paywall=bool(walled), canonical=about.canonical, published=about.published, language=about.language,
    )  # fmt: skip


def _plain(text: str, url: str, question: str) -> Extracted:
    found = _MARKDOWN_TITLE.search(text[:4_000])
    title = found.group(1).strip(" #") if found else _title_of(url)
    blocked = find_bot_challenge(title, text, "")
    walled = "" if blocked else find_paywall(text, text, paid=False)
    return _describe(title, text, question, shown=len(text), blocked=blocked or walled, paywall=bool(walled))


def _describe(title: str, text: str, question: str, *, shown: int, **known: Any) -> Extracted:
    """What is kept of a whole text, and what is known of it."""
    large = len(text) * 4 > COMPRESSED_BYTES and len(text.encode("utf-8", "replace")) > COMPRESSED_BYTES
    return Extracted(
        title=title, text=essential(text, question) if large else cut_at_paragraph(text, PAGE_CHARACTERS),
        full_length=len(text),
        sha256=hash_of(text), sketch=sketch_of(text), summary=summary(text), key_points=key_points(text, question),
        entities=entities(text), compressed=large, thin=find_shortage(text, shown), **known,
    )  # fmt: skip


def _title_of(url: str) -> str:
    """A title for what has none: the last part of its path, else its host."""
    parts = split(url)
    if parts is None:
        return "Untitled"
    last = unquote(parts.path.rstrip("/").rpartition("/")[2])
    name = re.sub(r"\.\w{2,5}$", "", last).replace("-", " ").replace("_", " ").strip()
    return name[:TITLE_CHARACTERS] or parts.hostname or "Untitled"
