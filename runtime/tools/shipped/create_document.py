"""A document, made from a template and what the person said: nothing is invented into a blank."""

import functools
from typing import Annotated

import msgspec
from msgspec import Meta

from actors.documents.field_values import stands_in
from actors.documents.fill import ask_for, fill
from actors.documents.template import Document, Template
from runtime.documents.template_folder import load_templates
from runtime.settings import DocumentsSettings, Settings
from runtime.tools.tool import InvalidArguments, Tool, ToolContext, ToolResult

VALUES = 200


class Value(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    field: Annotated[str, Meta(description="Its name.")]
    value: Annotated[str, Meta(description="As the person wrote it, letter by letter.")]
    quote: Annotated[str, Meta(description="The sentence of the person that says it, letter by letter.")]


class Order(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The arguments."""

    template: Annotated[str, Meta(description="Its name or its title; an unknown one: the call says which there are.")]
    values: tuple[Value, ...] = ()


async def create(asked: Order, own: ToolContext, within: float) -> ToolResult:  # noqa: ARG001 - it waits for nobody
    """The document, or what is missing for it."""
    templates = list_templates(own.ports.settings.documents)
    template = next((each for each in templates if asked.template in (each.name, each.title)), None)
    if template is None:
        raise InvalidArguments(
            "its template is one of " + ", ".join(f"{each.name} ({each.title})" for each in templates)
        )
    known = check_values(asked.values[:VALUES], template, own.said)
    made = fill(template, known)
    if isinstance(made, Document):
        return ToolResult(made.markdown, document=made)
    wanted = "\n".join(
        f"- {each.name}{' (may stay blank)' if each.optional else ''}: {each.ask}"
        for each in ask_for(template, made, known)
    )
    return ToolResult(f"No document was made. The person has to say:\n{wanted}")


def check_values(values: tuple[Value, ...], template: Template, said: str) -> dict[str, str]:
    """
    The values by the names of their fields.

    :raises InvalidArguments: there is no such field, or the person did not say so.
    """
    names = [each.name for each in template.fields]
    for each in values:
        if each.field not in names:
            raise InvalidArguments(f"it has no field {each.field}; its fields are {', '.join(names)}")
        if each.value.strip() and not stands_in(each.value, each.quote, said):
            raise InvalidArguments(
                f"the person did not write what stands for {each.field}, or its quote does not say it: leave it out"
            )
    return {each.field: each.value for each in values if each.value.strip()}


@functools.lru_cache(maxsize=4)
def list_templates(settings: DocumentsSettings) -> tuple[Template, ...]:
    """All that this process has, read once."""
    return tuple(load_templates(Settings(documents=settings)).values())


TOOL = Tool(
    "create_document", "Make a legal document from a template. Only what the person wrote may be filled in.", Order,
    create, title="document_creation",
)  # fmt: skip
