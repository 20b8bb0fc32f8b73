"""Agents as they are declared in `actors/prompts/`: frontmatter says who they are, the body is their system prompt."""

from pathlib import Path

import msgspec

import actors

FOLDER = Path(actors.__file__).parent / "prompts"


class AgentSpec(msgspec.Struct, frozen=True):
    """One agent's Markdown file."""

    name: str
    description: str
    tools: tuple[str, ...]
    instructions: str


def load() -> dict[str, AgentSpec]:
    """All declared agents by name. These files ship with the product, so a fault in one is a programmer's."""
    import frontmatter  # brings a YAML parser: only where agents are needed

    declared = {}
    for path in sorted(FOLDER.glob("*.md")):
        post = frontmatter.load(str(path))
        agent = msgspec.convert({**post.metadata, "instructions": post.content}, AgentSpec)
        declared[agent.name] = agent
    return declared
