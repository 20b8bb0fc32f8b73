"""Fills a template with what is known, or says what is missing. Nothing is ever made up for a place."""

from collections.abc import Mapping
from typing import NamedTuple

from actors.documents.field_values import check_value, clean_value, escape_value
from actors.documents.template import Document, Field, Template
from actors.documents.template_body import write_body
from actors.workflow.outcome import Question


class MissingField(NamedTuple):
    """A field that a document cannot do with as it is."""

    field: Field
    problem: str = ""
    """Why what was given cannot stand there; empty where nothing was."""


def fill(template: Template, known: Mapping[str, str]) -> Document | tuple[MissingField, ...]:
    """
    The document, or what is missing for it.

    :param known: values by the names of fields, as a person gave them or as their ticket says; others are left out.
    """
    values, missing = dict[str, str](), list[MissingField]()
    for field in template.fields:
        value = clean_value(field, known.get(field.name, ""))
        problem = check_value(field, value, template.language) if value else ""
        if problem or (field.required and not value):
            missing.append(MissingField(field, problem))
        elif value:
            values[field.name] = value
    if missing:
        return tuple(missing)
    title = " ".join(values.get(template.heading, template.title).split())
    return Document(
        title=title, markdown=f"# {escape_value(title)}\n\n{write_body(template.body, values).strip()}\n",
        language=template.language, template=template.name,
        blanks=tuple(field.name for field in template.fields if field.name not in values),
    )  # fmt: skip


def ask_for(template: Template, missing: tuple[MissingField, ...], known: Mapping[str, str]) -> tuple[Question, ...]:
    """
    What a person is asked: what is missing, and below it what may stay blank and is not known yet.

    A value that cannot stand there is asked for again, with the reason.
    """
    asked = [_make_question(each.field, each.problem) for each in missing]
    over = {each.field.name for each in missing} | {name for name, value in known.items() if value.strip()}
    return (*asked, *(_make_question(each) for each in template.fields if not each.required and each.name not in over))


def _make_question(field: Field, problem: str = "") -> Question:
    return Question(
        name=field.name, ask=f"{problem} {field.ask}".strip(), example=field.example, choices=field.choices,
        optional=not field.required,
    )  # fmt: skip
