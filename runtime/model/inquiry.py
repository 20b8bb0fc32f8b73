"""The model without key and network, for research: plans by rules, answers in verbatim quotes. Deterministic."""

from actors.evidence import Claim, Findings
from actors.ports import Task
from actors.research.drafts import Answer, PlanDraft

QUOTES = 4


def plan(task: Task) -> PlanDraft:
    """The questions in a task, and what to search for."""
    material = dict(task.material)
    explored = material.get("direction") or material["question"]
    return PlanDraft((explored,), (explored,))


def answer(task: Task) -> Answer:
    """The sentences that bear on a question, and the headings that lead on."""
    findings = task.findings or Findings()
    if findings.abstain:
        return Answer()
    quotes = [(s.score, n, s.of(p)) for n, p in enumerate(findings.passages, 1) for s in p.quotes]
    quotes.sort(key=lambda each: (-each[0], each[1]))
    claims = tuple(Claim(text, number, text) for _, number, text in quotes[:QUOTES])
    headings = dict.fromkeys(each.heading.rpartition(" > ")[2] for each in findings.passages if each.heading)
    return Answer(claims, tuple(headings)[:3], bool(claims))
