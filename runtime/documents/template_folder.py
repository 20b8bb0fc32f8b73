"""The templates of this process: those that ship with the product, and those of the user's own folder."""

from pathlib import Path

import actors
from actors.documents.template import Template
from runtime.documents.template_file import TemplateFileError, read_template
from runtime.settings import ConfigError, Settings
from runtime.user_text import display

FOLDER = Path(actors.__file__).parent / "documents" / "templates"
MOST_TEMPLATES = 200


def load_templates(settings: Settings) -> dict[str, Template]:
    """
    All templates by name; one of the user's takes the place of that of the same name.

    :raises ConfigError: a file of the user's cannot be used; the sentence names file and line.
    """
    found = {each.name: each for each in map(read_template, sorted(FOLDER.glob("*.md")))}
    own: dict[str, Path] = {}
    for file in _find_own(settings.documents.templates):
        template = read_template(file)
        if template.name in own:
            raise TemplateFileError(file, 1, f"{own[template.name]} has the name {display(template.name)}, too.")
        own[template.name], found[template.name] = file, template
    return found


def _find_own(folder: str) -> list[Path]:
    """The user's files, in the order of their names."""
    if not folder:
        return []
    try:
        found = sorted(each for each in Path(folder).iterdir() if each.suffix == ".md")
    except OSError as error:
        raise ConfigError(
            f"The folder [documents] templates names, {folder}, cannot be read ({error.strerror})."
        ) from None
    if len(found) > MOST_TEMPLATES:
        raise ConfigError(f"{folder} has {len(found)} templates, and there may be {MOST_TEMPLATES}. Take some out.")
    return found
