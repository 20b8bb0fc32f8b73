"""Tickets by rules, in English, German, Chinese and Korean: intent, urgency, and the question that is asked. Pure."""

import re
from collections.abc import Sequence

from actors.helpdesk.output_schemas import Urgency
from actors.roster import OTHER, Intent
from actors.text.keywords import share, terms
from actors.text.sentences import split_requests
from actors.text.tokenizer import list_own_terms
from actors.text.truncate import shorten
from actors.text.word_patterns import compile_words
from actors.workflow.tables import NEXT_MESSAGE, EarlierMessage

CHARACTERS, MOST_LINES = 20_000, 2000
"""So much of a ticket is looked at."""
QUESTION_CHARACTERS = 2000
SIGNATURE_LINES = 8
PLEASANTRIES = 3
OWN_WORDS = 2
"""With so many words that are not of everyday talk a follow-up can be looked for by itself, unless it points back."""
SUBJECT_CHARACTERS = 120
OWN_SHARE = 1 / 3
"""Of the words of weight in a question as a model puts it so many are the ticket's."""

_REPLY = compile_words(
    r"^\s*(?:-{2,}\s*(?:original message|forwarded message|原始邮件|转发的邮件|원본 메일|original nachricht).*|"
    r"on .{4,120} wrote:|am .{4,120} schrieb .{1,80}:|.{4,80}写道[:：]|.{4,80}님이 (?:작성|쓴 글).*|_{20,})\s*$",
    re.IGNORECASE,
)
_HEADER = compile_words(
    r"^\s*(?:from|sent|to|cc|date|von|gesendet|an|datum|发件人|发送时间|收件人|보낸 ?사람|받는 ?사람|날짜)\s*[:：]",
    re.IGNORECASE,
)
_SUBJECT = compile_words(r"^\s*(?:#+\s*)?(?:subject|title|betreff|主题|제목)\s*[:：]\s*", re.IGNORECASE)
_REPLY_MARKS = compile_words(r"^(?:(?:re|fwd?|aw|wg|回复|转发)\s*[:：]\s*)+", re.IGNORECASE)
_GREETING = compile_words(
    r"^\s*(?:(?:hi|hello|hey|dear|greetings|good (?:morning|afternoon|evening|day)|hallo|moin|servus|"
    r"guten (?:tag|morgen|abend)|liebe[rs]?|sehr geehrte[rs]?)\b[^,.!?\n]{0,40}(?:[,.!:]+|$)|"
    r"(?:你好|您好|大家好|各位好|尊敬的[^，,。\n]{0,20})[，,。！!：:\s]*|안녕하세요[^.,!?\n]{0,20}?[.,!~\s]+)\s*",
    re.IGNORECASE,
)
_PLEASANTRY = compile_words(
    r"^\s*(?:(?:i |we )?(?:hope|trust) (?:that )?(?:(?:(?:this|my) )?(?:e-?mail |mail |message |note )?finds you|"
    r"you(?:'re| are| had| have had)|your|all is|everything is|everyone is)\b[^.!?\n]{0,60}"
    r"\b(?:well|fine|good|great|nice|ok|okay|weekend|week|day|time)\b[^.!?,\n]{0,20}(?:[.!,]+|$)|"
    r"how are you[^.!?\n]{0,30}[.!?]+|"
    r"(?:i have |we have |just )?(?:an? |one |two |three |some |few )*(?:quick |short |small |little )?"
    r"(?:questions?|things?|issues?|problems?)(?: for you| today)?:|"
    r"(?:希望|祝)(?:您|你|大家)[^。！\n]{0,20}[。！]|잘 지내(?:시|셨)[^.!?\n]{0,15}[.!?])\s*",
    re.IGNORECASE | re.MULTILINE,
)
_CLOSING = compile_words(
    r"^\s*(?:--\s*|(?:best|kind|warm)?\s*regards\b.*|cheers\b.*|sincerely\b.*|yours\b.*|(?:many )?thanks\b.{0,40}|"
    r"thank you\b.{0,60}|thx\b.{0,20}|sent from my .*|"
    r"(?:mit )?(?:freundliche[nm]?|viele[nr]?|beste[nr]?|liebe[nr]?|schöne[nr]?) gr(?:uß|üßen?|uss|üssen?)\b.{0,40}|"
    r"(?:mfg|lg|vg)\b.{0,20}|gruß\b.{0,20}|(?:vielen |besten |herzlichen )?dank\b.{0,40}|danke\b.{0,40}|"
    r"此致.*|敬礼.*|祝好.*|谢谢[！!。，,]?.{0,10}|多谢.{0,10}|"
    r"감사합니다[.!]?.{0,10}|수고하세요.{0,10}|.{1,20} 드림)\s*$",
    re.IGNORECASE,
)
_POLITE_END = compile_words(
    r"\s*(?:(?:many )?thanks(?: in advance| a lot)?|thank you(?: very much| in advance)?|"
    r"(?:vielen |besten |herzlichen )dank(?: im voraus)?|danke(?: schön| sehr| im voraus)?|谢谢(?:大家|您)?|多谢|"
    r"감사합니다|고맙습니다)[.!。！~]*\s*$",
    re.IGNORECASE,
)
_SIGNED_END = compile_words(
    r"(?<=[.!?,;\n])\s*(?i:(?:many )?thanks(?: in advance| a lot)?|thank you(?: very much| in advance)?|cheers|"
    r"(?:(?:best|kind|warm) )?regards)(?:[,.!\s]+[A-Z][\w.'-]{0,20}){1,3}\s*$"
)
"""Thanks and a name behind the last sentence, on one line with it."""


def _rule(english: str, others: str) -> re.Pattern[str]:
    """One pattern of English expressions, which stand at word boundaries, and of others, which may stand anywhere."""
    parts = [" ".join(part.split()) for part in english.split(";")]
    return re.compile(rf"\b(?:{'|'.join(part for part in parts if part)})\b|{'|'.join(others.split())}", re.IGNORECASE)


_URGENT: tuple[tuple[Urgency, re.Pattern[str]], ...] = (
    ("low", _rule(
        """no (?:rush|hurry); not (?:urgent|critical);
        when(?:ever)? you (?:have|get|find) (?:a )?(?:time|chance|moment);
        low priority; just curious; nicht (?:dringend|eilig); keine eile; es eilt nicht;
        wenn (?:sie|ihr|du) zeit (?:haben|habt|hast)""",
        r"不急 不着急 有空(?:的时候)? 급하지\s않 천천히 시간\s?(?:나|되)(?:실|면)")),
    ("critical", _rule(
        r"""production\b.{0,40}\b(?:down|outage|stopped); ransomware; hacked; emergency; critical;
        (?:everyone|everybody|all users|whole (?:company|office|team)|entire)\b.{0,60}
        \b(?:down|can(?:no|')t|unable|affected|stopped|lost); data (?:loss|breach|leak); security (?:breach|incident);
        (?:complete|total|major) outage; (?:site|system|server)s? (?:is|are) down;
        (?:alle|ganze[ns]?) (?:kollegen|mitarbeiter|nutzer|firma|büro|abteilung)\b.{0,60}
        \b(?:nicht|kein\w*|ausgefallen);
        totalausfall; datenverlust; datenleck; gehackt; notfall""",
        r"""全公司 所有(?:人|用户).{0,12}(?:无法|不能|打不开|连不上) 生产环境.{0,12}(?:故障|宕机|中断|崩溃)
        宕机 数据泄露 数据丢失 被黑
        전사 모든\s(?:사용자|직원).{0,20}(?:못|안|불가) 서버.{0,6}다운 데이터\s유출 해킹 랜섬웨어""")),
    ("high", _rule(
        """urgent(?:ly)?; asap; as soon as possible; immediately; right away; deadline;
        high priority; can(?:no|')t work;
        block(?:ed|er|ing) (?:me|us|my|our); dringend; eilig; sofort; umgehend; schnellstmöglich;
        (?:by|before) (?:noon|today|tonight|tomorrow)""",
        "紧急 尽快 马上 立刻 立即 急[！!，,。] 很急 긴급 급합니다 빨리 즉시 당장 시급")),
)  # fmt: skip

_POINTS_BACK = re.compile(
    r"\b(?:it|its|this|that|these|those|they|them|their|there|same|again|afterwards|instead|es|das|diese[rsnm]?|dort|"
    r"davon|damit|danach)\b|[它这那此]|그것|이것|그거|이거|거기",
    re.IGNORECASE,
)
"""What stands for something that was said before."""


def add_context(text: str, said_before: Sequence[EarlierMessage]) -> str:
    """
    A follow-up as it is looked for: below the subject of the first question where it does not say enough by itself.

    That subject is its first line: the ticket's own, where it has one. Nothing else is taken from before, or the first
    answer would be found again.
    """
    asking = " ".join(each for each in split_requests(text) if each.endswith(("?", "？"))) or text
    own = list_own_terms(asking)
    if not said_before or (len(own) >= OWN_WORDS and not _POINTS_BACK.search(asking)):
        return text
    first = next((each for each in said_before if each.role == "customer"), said_before[0])
    return f"{shorten(question(first.text).partition(chr(10))[0], SUBJECT_CHARACTERS)}\n\n{text}"


def is_of_ticket(asked: str, text: str, said_before: Sequence[EarlierMessage]) -> bool:
    """
    Whether what a model takes for the question has words of the ticket, or of what was said before it.

    A model that understands nothing repeats its prompt, or what a field is to hold, and neither is to be looked for.
    """
    said = "\n".join((question(text), *(question(each.text) for each in said_before)))
    return share(terms(asked), terms(said)) >= OWN_SHARE


def question(ticket: str) -> str:
    """The ticket without headers, quoted replies, greetings, signatures and thanks, in the person's own words."""
    lines = ticket[:CHARACTERS].replace("\r\n", "\n").split("\n")[:MOST_LINES]
    messages = "\n".join(lines).split(NEXT_MESSAGE)
    text = "\n\n".join(filter(None, map(_find_question, messages)))
    return (text or ticket.strip())[:QUESTION_CHARACTERS]


def _find_question(message: str) -> str:
    lines: list[str] = []
    for raw in message.split("\n"):
        line = _SUBJECT.sub("", raw)
        if line != raw:
            line = _REPLY_MARKS.sub("", line)
        if _REPLY.match(line):
            break
        if not (line.lstrip().startswith(">") or _HEADER.match(line)):
            lines.append(line.rstrip())
    kept = _without_greeting(_without_signature(lines))
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()[: 2 * QUESTION_CHARACTERS]  # that much is left at most
    text = _POLITE_END.sub("", _SIGNED_END.sub("", text)).strip()
    for _ in range(PLEASANTRIES):
        text = _PLEASANTRY.sub("", text, count=1) or text
    return text


def intent(text: str, intents: Sequence[Intent]) -> str:
    """The kind of ticket that most of its words speak for."""
    text = text[:QUESTION_CHARACTERS]
    scores = {each.name: each.weight * min(2, len(each.pattern.findall(text))) for each in intents}
    best = max(scores, key=lambda name: scores[name], default=OTHER)
    return best if scores.get(best) else OTHER


def urgency(text: str) -> Urgency:
    """How urgent the words are; a person who says that it can wait is believed."""
    return next((level for level, words in _URGENT if words.search(text[:QUESTION_CHARACTERS])), "normal")


def _without_signature(lines: list[str]) -> list[str]:
    """Cut from a closing line on, if no more than a few short lines follow it and something stands before it."""
    filled = [i for i, line in enumerate(lines) if line.strip()]
    for i in filled[1:][-SIGNATURE_LINES - 1 :]:
        rest = [line for line in lines[i + 1 :] if line.strip()]
        if _CLOSING.match(lines[i]) and all(len(line) < 80 for line in rest):
            return lines[:i]
    return lines


def _without_greeting(lines: list[str]) -> list[str]:
    for i, line in enumerate(lines):
        if line.strip():
            rest = _GREETING.sub("", line, count=1)
            others = any(each.strip() for each in lines[i + 1 :])
            return [*lines[:i], rest, *lines[i + 1 :]] if rest.strip() or others else lines
    return lines
