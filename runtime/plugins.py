"""
What others add to Terminus: records in a file that `[plugins] modules` names, or at an entry point of their package.

A kind of plugin is a class below `Plugin`. Whoever takes such ones in asks `find_plugins` for its kind, in whichever
process it needs them: those that a process starts to work for it know the same files.
"""

import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

import msgspec

from runtime.settings import ConfigError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

MODULE = "terminus_own"
REASON_CHARACTERS = 200

_files: tuple[str, ...] = ()
_loaded: dict[tuple[str, int], ModuleType] = {}


class Plugin(msgspec.Struct, frozen=True):
    """What a module may offer; each kind has a class below this one."""


P = TypeVar("P", bound=Plugin)


class Found(NamedTuple, Generic[P]):
    """The plugins of a kind, each with where it stands, and a sentence for each module that cannot be used."""

    plugins: tuple[tuple[str, P], ...]
    broken: tuple[str, ...]


class ModuleError(ConfigError):
    """A file of the user's cannot be used. One sentence: where, and what is wrong."""

    def __init__(self, file: Path, line: int, sentence: str) -> None:
        super().__init__(f"{file}, line {line}: {sentence}")


def use_files(files: Sequence[str]) -> None:
    """Say which files `[plugins] modules` names, for this process and those that it starts from now on."""
    global _files
    _files = tuple(str(Path(file).absolute()) for file in files)


def files_in_use() -> tuple[str, ...]:
    return _files


def find_plugins(kind: type[P], group: str) -> Found[P]:
    """
    Every plugin of a kind. A module that cannot be loaded is told, and stops nothing.

    :param group: of entry points; what one of them names is a plugin of this kind.
    """
    return _find(kind, group, _files)


@cache
def _find(kind: type[P], group: str, files: tuple[str, ...]) -> Found[P]:
    from importlib.metadata import entry_points  # costs more than most commands take

    found, broken = list[tuple[str, P]](), list[str]()
    for file in files:
        try:
            offered = [each for each in vars(load_module(Path(file))).values() if isinstance(each, Plugin)]
        except ConfigError as error:
            broken.append(str(error))
            continue
        if not offered:
            broken.append(f"{file} offers no plugin. See docs/readers.md for what it may hold.")
        found += [(file, each) for each in offered if isinstance(each, kind)]
    for point in entry_points(group=group):
        package = point.dist.name if point.dist else point.value
        try:
            found.append((package, _load_point(point, kind)))
        except (Exception, SystemExit) as error:
            broken.append(f"{point.value} of the package {package} cannot be used ({_explain(error)}).")
    return Found(tuple(found), tuple(broken))


def _load_point(point: "EntryPoint", kind: type[P]) -> P:
    found = point.load()
    if not isinstance(found, kind):
        raise TypeError(f"it is no {kind.__name__}")
    return found


def load_module(file: Path, setting: str = "[plugins] modules") -> ModuleType:
    """
    The module of a file, carried out once as long as it stays as it is.

    :param setting: which names the file, as a message says it.
    :raises ConfigError: it cannot be loaded.
    """
    try:
        key = (str(file.absolute()), file.stat().st_mtime_ns)
        if key not in _loaded:
            _loaded[key] = _carry_out(file)
    except OSError as error:
        why = f" ({error.strerror})" if error.strerror else ""
        raise ConfigError(f"The module that {setting} names, {file}, cannot be read{why}. Check the name.") from None
    return _loaded[key]


def _carry_out(file: Path) -> ModuleType:
    source = file.read_bytes()
    name = f"{MODULE}_{len(_loaded)}"
    module = ModuleType(name)
    module.__file__ = str(file.absolute())
    sys.modules[name] = module  # types look there for what their annotations name
    try:
        exec(compile(source, module.__file__, "exec"), module.__dict__)  # noqa: S102 - it is the user's own program
    except SyntaxError as error:
        raise ModuleError(file, error.lineno or 1, f"this is not Python ({error.msg}).") from None
    except (Exception, SystemExit) as error:
        line = _find_line(error, module.__file__)
        raise ModuleError(file, line, f"it cannot be loaded ({_explain(error)}).") from None
    return module


def _explain(error: BaseException) -> str:
    return " ".join(str(error).split())[:REASON_CHARACTERS] or type(error).__name__


def _find_line(error: BaseException, file: str) -> int:
    """Where in a file something was raised, the innermost place."""
    line, step = 1, error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == file:
            line = step.tb_lineno
        step = step.tb_next
    return line
