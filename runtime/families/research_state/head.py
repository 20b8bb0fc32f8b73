"""The frontmatter of a research's state file: what is ordered and how far it is."""

import msgspec

from actors.research.models import ResearchOptions
from runtime.families.research_state.project import Project, Status
from runtime.state_files import frontmatter
from runtime.state_files.parser import Unreadable


class Head(msgspec.Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """The keys of the frontmatter, in their order."""

    project_id: str
    title: str
    status: Status
    progress: int = 0
    progress_message: str = ""
    created_at: str
    updated_at: str
    workflow: str = "research"
    run: str = ""
    question: str
    breadth: int = ResearchOptions().breadth
    depth: int = ResearchOptions().depth
    round: int = 1
    rounds: int = 1
    """The deepest that was begun."""
    direction: str = ""
    """What this round explores."""
    sources: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    is_complete: bool = False


def head_of(project: Project) -> Head:
    """What the frontmatter of a project says."""
    case, brief = project.case, project.case.brief
    return Head(
        project_id=project.id, title=project.title, status=project.status, progress=project.progress,
        progress_message=project.message, created_at=project.created, updated_at=project.updated, run=project.run,
        question=case.text, rounds=case.rounds, is_complete=case.is_complete, **msgspec.structs.asdict(brief),
    )  # fmt: skip


def options_of(head: Head) -> ResearchOptions:
    """What is ordered."""
    return ResearchOptions(**{name: getattr(head, name) for name in ResearchOptions.__struct_fields__})


def split(text: str) -> tuple[Head, list[str], bool]:
    """
    The frontmatter, all lines of the file, those of the frontmatter blank, and whether the checksum fits.

    :raises Unreadable: the frontmatter is not what Terminus writes.
    """
    values, lines, sound = frontmatter.split(text)
    try:
        return msgspec.convert(values, Head, strict=False), lines, sound
    except msgspec.ValidationError as error:
        raise Unreadable(2, f"the frontmatter says something else than it should: {error}.") from None
