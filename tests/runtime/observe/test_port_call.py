"""What a port answered is what a replay reads of it."""

import msgspec
import pytest

from actors.documents.template import Document
from actors.ports import Completion, Model
from runtime.observe.recording import find_method


class Draft(msgspec.Struct, frozen=True):
    text: str


@pytest.mark.parametrize(
    "document",
    [
        None,
        Document(title="起诉状", markdown="# 起诉状\n\n原告：张三", language="zh", template="complaint", blanks=("a",)),
    ],
)
def test_the_document_that_a_tool_made_for_a_model_is_read_as_it_was(document: Document | None) -> None:
    method = find_method(Model, "fill")
    completion = Completion(Draft("Here it is."), judged=True, document=document)

    assert method.decode(method.encode(completion), (Draft,)) == completion
