"""What texts from outside go through: each door takes one text, whatever it is, and may refuse it in words."""

import contextlib
import functools
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.hostile.growth import Growth, measure

SIZES = (2_000, 8_000, 32_000, 64_000)
SIZES_OF_FILES = (1_000, 2_000, 4_000)
"""DOCX and PDF are laid out letter by letter, by libraries."""
FILES = frozenset({"a report in DOCX", "a report in PDF"})
MIDDLES = {
    "letters": "a",
    "long words": "verylongword" * 20 + " ",
    "blanks": " ",
    "line ends": "\n",
    "blanks and line ends": " \n",
    "dashes": "-",
    "lines of dashes": "-----------\n",
    "underlines": "_",
    "dots": ".",
    "a word a line": "a\n",
    "sentences": "It is so. ",
    "questions": "how do I reset it and what is it? ",
    "comparisons": "compare A and B on price with C vs D, ",
    "commas": "a, ",
    "and": "and ",
    "brackets": "[",
    "closed brackets": "[1] ",
    "parentheses": "(",
    "braces": "{{",
    "quotes": '"',
    "quote marks": "> ",
    "angles": "<",
    "tags": "<b>",
    "back-ticks": "`",
    "stars": "*a ",
    "bars": "|a",
    "links": "[a](http://a.b/",
    "addresses": "a@a.",
    "hosts": "a.b-",
    "slashes": "/a",
    "numbers": "1",
    "numbers and points": "1.",
    "numbers and commas": "1, ",
    "money": "$1,000 ",
    "dates": "2024-01-01 ",
    "headers": "From: a\n",
    "names": "Ann Lee ",
    "capitals": "A",
    "Han": "第一条和",
    "Han questions": "如何比较甲和乙的区别，",
    "articles": "第1条、",
    "Hangul": "비교하는 방법을 ",
    "U+FDFA": "\ufdfa",
    "squares": "\u3316",
    "combining marks": "e\u0301\u0302\u0303\u0304",
    "bidi marks": "\u202e\u2066a",
    "controls": "\0\x01\x1b[31m",
    "surrogates": "\ud800",
    "emoji": "\U0001f468\u200d\U0001f469\u200d",
}
"""What hostile texts repeat, by what they are called."""
ENDS = ("", "!x")


class Door(NamedTuple):
    name: str
    enter: Callable[[str], object]
    most: float
    """Milliseconds of CPU that the longest of these texts may take."""


def _read_mail(text: str) -> object:
    from email.message import EmailMessage

    from runtime.intake.mail.mail_text import read_mail_text

    mail = EmailMessage()
    mail.set_content("x")
    mail.set_payload(text.encode("utf-8", "replace"))
    mail.replace_header("Content-Type", 'text/plain; charset="utf-8"')
    return read_mail_text(mail)


def _read_html_mail(text: str) -> object:
    from runtime.intake.html_text import read_text, write_html

    return read_text(text), write_html(text)


def _read_question(text: str) -> object:
    from actors.helpdesk import triage
    from actors.text.languages import guess_language

    asked = triage.question(text)
    return asked, triage.urgency(asked), guess_language(text)


def _plan_research(text: str) -> object:
    from actors.research.comparison import find_compared
    from actors.research.planning import in_task, list_questions
    from actors.text.keywords import keywords

    return [in_task(each, text) for each in list_questions(text)], keywords(text), find_compared(text)


def _classify_law(text: str) -> object:
    from actors.legal.classification import classify

    return classify(text), classify(text, "zh"), classify(text, "ko")


def _read_contract(text: str) -> object:
    from actors.legal.contract_clauses import list_articles, read_contract, show_clauses

    contracts = [read_contract(text, language) for language in ("en", "zh", "ko")]
    return [(list_articles(each), show_clauses(each)) for each in contracts if each]


def _fold_text(text: str) -> object:
    from actors.text.keywords import terms
    from actors.text.normalize import casefold, normalize, sanitize_line, sanitize_markdown
    from actors.text.tokenizer import tokens

    return terms(text), casefold(text), normalize(text), sanitize_markdown(text), sanitize_line(text), tokens(text)


def _split_text(text: str) -> object:
    from actors.text.markdown_blocks import segments
    from actors.text.sentences import sentences, split_requests, split_sentences
    from actors.text.source_text import pieces

    cut = list(sentences(text, 0, len(text))), split_requests(text), split_sentences(text, lines=True)
    return cut, pieces(text), list(segments(text))


def _check_claim(text: str) -> object:
    from actors.evidence.claims import Claim, check
    from actors.evidence.grounding import Shown, adds
    from actors.evidence.passages import Passage

    passage = Passage("a#1", "a", text[:300], text[:300], text, 0, len(text))
    claim = Claim(text[:2000], 1, text[-2000:])
    return check(claim, (passage,), text), adds(claim, (passage,), Shown((passage,), text))


def _redact(text: str) -> object:
    from actors.text.redaction import redact
    from runtime.llm.openai_model import remove_addresses

    return redact(text), remove_addresses({"text": text}, ())


def _remember(text: str) -> object:
    from runtime.memory import ticket_text

    return ticket_text.digest(text), ticket_text.script(text), ticket_text.terms(text)


def _learn_and_recall(text: str) -> object:
    """What the memory's model learns with a ticket among others, and what it then says of it."""
    import numpy as np

    from runtime.memory.neighbours import arrange
    from runtime.memory.ticket_text import terms

    said = [terms(f"My VPN drops for the {number}. time today") for number in range(20)]
    said += [terms(text), terms(text[len(text) // 2 :])]
    answer = np.arange(len(said), dtype=np.int32) // 2
    _, model = arrange(said, answer, len(said), np.zeros((len(said), 0), np.int8))
    ticket = model.see(terms(text), b"")
    return model.weigh(ticket), model.most_alike(ticket) if terms(text) else None


def _cite_law(text: str) -> object:
    from actors.statutes.jurisdiction import load_jurisdictions
    from actors.statutes.question_day import find_question_day
    from actors.statutes.references import find_references

    return [find_references(text, each) for each in load_jurisdictions()], find_question_day(text, "2026-01-01")


def _find_fields(text: str) -> object:
    from actors.documents.find_fields import find_fields
    from runtime.documents.template_folder import load_templates
    from runtime.settings import Settings

    templates = load_templates(Settings()).values()
    prose = [each for each in templates if any(field.phrases or field.story for field in each.fields)]
    return [find_fields(each, text) for each in (*prose, *list(templates)[:3])]  # the others have labels, too


def _write_body(text: str) -> object:
    from actors.documents.template_body import InvalidBody, check_body, write_body

    with contextlib.suppress(InvalidBody):
        check_body(text, ("name",))
    return write_body("{{ name }}", {"name": text})


def _query_payload(text: str) -> object:
    from runtime.intake.adapter_file import AdapterError, explain

    with contextlib.suppress(AdapterError):
        explain(text, {"a": text})
    return explain("join_on(a, b, 'id', 'id') || cut(plain(c), `100`)", {"a": [], "b": [], "c": text})


def _read_adapter(text: str) -> object:
    from runtime.intake.adapter_file import AdapterError, read_adapter

    try:
        return read_adapter({"system": {"name": text}, "ticket": {text[:60]: text}}, "hostile")
    except AdapterError:
        return None


def _read_model(text: str) -> object:
    from actors.text.quote_matching import find_quote
    from runtime.llm.output_schema import objects_in

    return find_quote(text[:2000], text + "."), list(objects_in(text)), list(objects_in('{"a": "' + text))


def _read_documents(text: str) -> object:
    from runtime.knowledge.readers.parsed_document import Unreadable
    from runtime.knowledge.readers.reader import read

    found = list[object]()
    for name in ("a.md", "a.rst", "a.txt", "a.html"):
        with contextlib.suppress(Unreadable):
            found.append(read(name, text.encode("utf-8", "replace")))
    return found


@functools.cache
def _index_law() -> str:
    from runtime.knowledge.law_reader import STATUTES

    folder = tempfile.mkdtemp()
    laws = Path(folder) / "laws"
    laws.mkdir()
    body = "---\nlaw: 租赁法\nversion: 2001-03-01\n---\n## 第二条\n\n出租人应当提前十日通知承租人收回房屋。\n"
    (laws / "a.md").write_text(body, encoding="utf-8")
    STATUTES.take(Path(folder), laws)
    return folder


def _search_law(text: str) -> object:
    from runtime.knowledge.statute_search import search

    return search(_index_law(), text, "", "2026-01-01", 5, {})


def _report(text: str) -> object:
    from actors.reporting.report import Chart, Report, ReportSection, ReportSentence, SourceEntry

    line = ReportSentence(text, (1,), text[:400])
    source = SourceEntry(1, text[:300], "https://example.org/", "web", "0" * 64, "2026-01-01T00:00:00Z", 1, 1)
    return Report(
        title=text, question=text, overview=(line,), sections=(ReportSection(text[:500], (line,)),), sources=(source,),
        charts=(Chart("bar", text[:300], ((text[:100], 1.0), ("b", 2.0))), Chart("pie", "P", ((text[:100], 1.0),))),
        language="en",
    )  # fmt: skip


def _render(text: str, suffix: str) -> object:
    from runtime.reports import render

    return render(_report(text), suffix)  # type: ignore[arg-type]


DOORS = (
    Door("a mail", _read_mail, 500),
    Door("a mail or a ticket in HTML", _read_html_mail, 1000),
    Door("a ticket's question, parts, language", _read_question, 500),
    Door("a research's questions", _plan_research, 1000),
    Door("a question of law", _classify_law, 5000),
    Door("words, folded, made safe", _fold_text, 1500),
    Door("sentences and blocks", _split_text, 1500),
    Door("a claim against its passage", _check_claim, 3000),
    Door("secrets and addresses taken out", _redact, 1500),
    Door("a ticket as the memory sees it", _remember, 1000),
    Door("the memory's model", _learn_and_recall, 1000),
    Door("articles of laws", _cite_law, 1000),
    Door("a search of the laws", _search_law, 2000),
    Door("a contract's clauses", _read_contract, 5000),
    Door("fields of documents", _find_fields, 3000),
    Door("a template's body and a value in it", _write_body, 1000),
    Door("JMESPath, and what it reads", _query_payload, 1000),
    Door("an adapter file", _read_adapter, 500),
    Door("what a model answers", _read_model, 2000),
    Door("a document that is read", _read_documents, 5000),
    Door("a report in HTML, with its SVG", functools.partial(_render, suffix=".html"), 5000),
    Door("a report in Markdown", functools.partial(_render, suffix=".md"), 5000),
    Door("a report in DOCX", functools.partial(_render, suffix=".docx"), 20000),
    Door("a report in PDF", functools.partial(_render, suffix=".pdf"), 60000),
)


def try_door(door: str, middle: str, sizes: Sequence[int] = ()) -> Growth:
    """What one kind of text costs a door, of so many characters; none: of as many as it is worth to wait for."""
    enter, sizes = _open(door), sizes or (SIZES_OF_FILES if door in FILES else SIZES)
    return max(measure(enter, functools.partial(_repeat, MIDDLES[middle], end), middle, sizes) for end in ENDS)


@functools.cache
def _open(door: str) -> Callable[[str], object]:
    enter = next(each.enter for each in DOORS if each.name == door)
    enter("Hello there.")  # what is read once, is read
    return enter


def _repeat(middle: str, end: str, characters: int) -> str:
    return middle * (characters // len(middle)) + end
