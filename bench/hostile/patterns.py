"""
Every regular expression of the product: compiled at import, inside of functions, given to `re`, or standing in data.

`re` is watched while all modules are imported and all that reads patterns from data is called. What is compiled only
when a function runs is taken from the syntax tree. A place that gives no pattern to either is an error, not a gap.
"""

import ast
import builtins
import importlib
import pkgutil
import re
import sys
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any, NamedTuple

from bench.hostile.growth import QUICK, Growth, find_worst
from bench.hostile.strings import list_recipes

ROOT = Path(__file__).resolve().parent.parent.parent
LAYERS = ("bus", "actors", "runtime")
GIVEN = frozenset({"compile", "search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn"})
AT_ONE_PLACE = frozenset({"match", "fullmatch"})
"""A pattern that is used by nothing else is tried at the beginning of a text alone."""
OF_PERSONS = frozenset({"actors/text/safe_patterns.py"})
"""Patterns that a person wrote come here; what is let in is tried with patterns of its own."""
WRAPPER = "actors/text/word_patterns.py"
"""Compiles for others: a pattern's place is where it is called."""
FINDITER = frozenset({"finditer"})
"""It holds what search, sub, split and findall do."""
USES: dict[str, Callable[[re.Pattern[Any]], Callable[[Any], object]]] = {
    "match": lambda pattern: pattern.match,
    "fullmatch": lambda pattern: pattern.fullmatch,
    "finditer": lambda pattern: lambda text: deque(pattern.finditer(text), 0),
}
NOT_IMPORTED = frozenset({"runtime.__main__"})


class Pattern(NamedTuple):
    """A regular expression, where it stands, and how it is used there."""

    place: str
    """File and line."""
    text: str | bytes
    flags: int
    uses: frozenset[str]
    """`match` and `fullmatch` where it is used by nothing else; `finditer`, which holds all others, where it is."""


class Site(NamedTuple):
    file: str
    line: int


class Unseen(Exception):
    """Places whose patterns nobody found: give their data to `read_data`, or their words to the syntax tree."""


def find_patterns() -> list[Pattern]:
    """
    All of them; call it in a process that is used for nothing else, for it watches `re`.

    :raises Unseen: of a place no pattern was found.
    """
    seen = _watch()
    modules = _import_all()
    _read_data()
    uses = _find_uses(modules)
    found = {
        (site, text, flags): uses.get(site, frozenset()) | ({how} if how != "compile" else set())
        for (site, how), patterns in list(seen.items())
        for text, flags in patterns
    }
    found = {key: how for key, how in found.items() if key[0].file not in OF_PERSONS}
    unseen = []
    for module in modules:
        for site, how, words, flags in _read_syntax(module):
            if not any(key[0] == site for key in found):
                if words is None and site.file not in (*OF_PERSONS, WRAPPER):
                    unseen.append(f"{site.file}:{site.line}")
                elif words is not None:
                    found[site, words, flags] = uses.get(site, frozenset()) | ({how} if how != "compile" else set())
    if unseen:
        raise Unseen(", ".join(sorted(unseen)))
    return [
        Pattern(f"{site.file}:{site.line}", text, flags, how if how and how <= AT_ONE_PLACE else FINDITER)
        for (site, text, flags), how in sorted(found.items(), key=lambda item: (item[0][0], str(item[0][1])))
    ]


def _watch() -> dict[tuple[Site, str], set[tuple[str | bytes, int]]]:
    """From now on, what any module of the product gives to `re`, by place and function."""
    seen = defaultdict[tuple[Site, str], set[tuple[str | bytes, int]]](set)
    compile_it = re._compile  # type: ignore[attr-defined]

    def watched(pattern: Any, flags: Any) -> Any:
        frame: FrameType | None = sys._getframe(1)
        how = frame.f_code.co_name if frame is not None else ""
        frame = frame.f_back if frame is not None else None
        if frame is not None and frame.f_code.co_filename.endswith(WRAPPER):
            frame = frame.f_back
        if frame is not None and (site := _site(frame.f_code, frame.f_lineno)) and isinstance(pattern, str | bytes):
            seen[site, how].add((pattern, int(flags)))
        return compile_it(pattern, flags)

    re._compile = watched  # type: ignore[attr-defined]
    return seen


def _site(code: CodeType, line: int) -> Site | None:
    path = Path(code.co_filename)
    if path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in LAYERS:
        return Site(str(path.relative_to(ROOT)), line)
    return None


def _import_all() -> list[ModuleType]:
    names = list(LAYERS)
    for layer in LAYERS:
        package = importlib.import_module(layer)
        names += [each.name for each in pkgutil.walk_packages(package.__path__, f"{layer}.")]
    return [importlib.import_module(name) for name in names if name not in NOT_IMPORTED]


def _read_data() -> None:
    """Reads what holds patterns and ships as data: countries, intents, domains, contracts, agents."""
    from actors.documents.find_fields import find_fields
    from actors.documents.find_template import find_templates
    from actors.evidence.claims import Resolution
    from actors.evidence.earlier_answers import retell
    from actors.legal.case_criteria import load_criteria
    from actors.legal.contract_terms import load_terms
    from actors.legal.intent_rules import languages, load_rules
    from actors.statutes.jurisdiction import load_jurisdictions
    from runtime.agent_folder import load_roster
    from runtime.documents.template_folder import load_templates
    from runtime.settings import Settings

    for language in languages():
        for load in (load_rules, load_terms, load_criteria):
            load(language)
    for jurisdiction in load_jurisdictions():
        for table in (jurisdiction.numerals, jurisdiction.citations, jurisdiction.layout):
            for name in table.__struct_fields__:
                if isinstance(words := getattr(table, name), str):
                    jurisdiction.compile(words, re.MULTILINE)
    for spec in load_roster(Settings()).specs.values():
        for intent in spec.intents:
            _ = intent.pattern
    templates = load_templates(Settings()).values()
    find_templates("a lease", tuple(templates))
    for template in templates:
        find_fields(template, " ".join(f"{label}: x" for field in template.fields for label in field.labels))
    retell(Resolution("As told [1]."), "en")


def _read_syntax(module: ModuleType) -> Iterator[tuple[Site, str, str | bytes | None, int]]:
    """Each call of `re` in a module, with the words of the pattern where they can be told without a run."""
    file = str(Path(module.__file__ or "").relative_to(ROOT))
    for node in ast.walk(ast.parse(Path(module.__file__ or "").read_text(encoding="utf-8"))):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=how), args=[first, *others]) if how in GIVEN:
                words = _evaluate(first, module)
                after = {"compile": 0, "sub": 2, "subn": 2}.get(how, 1)
                named = [each.value for each in node.keywords if each.arg == "flags"]
                flags = _evaluate(named[0] if named else others[after], module) if named or len(others) > after else 0
                known = isinstance(words, str | bytes) and isinstance(flags, int)
                yield Site(file, node.lineno), how, words if known else None, int(flags) if known else 0
            case ast.Call(func=ast.Name(id="compile_words")):
                yield Site(file, node.lineno), "compile", None, 0
            case ast.Call(func=ast.Name(id="Meta"), keywords=keywords):
                for each in keywords:
                    if each.arg == "pattern":
                        yield Site(file, node.lineno), "search", _evaluate(each.value, module), 0


class _Names(dict[str, Any]):
    """A module's names; any other one, which only a run would know, is a word."""

    def __missing__(self, name: str) -> Any:
        if hasattr(builtins, name):
            return getattr(builtins, name)
        return _Word("word")


class _Word(str):  # noqa: SLOT000 - a handful, for a moment
    """Stands for a value from outside in a pattern: its attributes are words, too."""

    def __getattr__(self, name: str) -> "_Word":
        return self


def _evaluate(node: ast.expr, module: ModuleType) -> Any:
    if isinstance(node, ast.Name) and not hasattr(module, node.id):
        return None  # a parameter: it is not known where it comes from
    try:
        return eval(compile(ast.Expression(node), "pattern", "eval"), {}, _Names(vars(module)))  # noqa: S307 - our own source
    except Exception:
        return None


def _find_uses(modules: list[ModuleType]) -> dict[Site, frozenset[str]]:
    """Of each pattern that has a name: the methods that are called of it; `finditer` where it goes elsewhere."""
    trees = {module: ast.parse(Path(module.__file__ or "").read_text(encoding="utf-8")) for module in modules}
    used = defaultdict[str, set[str]](set)
    for module, tree in trees.items():
        called = set[int]()
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and (name := _name(node.func.value)):
                used[_key(module, name)].add(node.func.attr)
                called.add(id(node.func.value))
        for node in ast.walk(tree):
            is_load = isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load)
            if is_load and id(node) not in called and (name := _name(node)):
                used[_key(module, name)].add("finditer")
    found = {}
    for module, tree in trees.items():
        file = str(Path(module.__file__ or "").relative_to(ROOT))
        for node in tree.body:
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                methods = frozenset(used[_key(module, node.targets[0].id)])
                for call in ast.walk(node.value):
                    if isinstance(call, ast.Call) and call is node.value:
                        found[Site(file, call.lineno)] = methods or FINDITER
    return found


def _name(node: ast.expr | ast.AST) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _key(module: ModuleType, name: str) -> str:
    """A private name is its module's; a public one may be anybody's."""
    return f"{module.__name__}.{name}" if name.startswith("_") else name


def try_pattern(pattern: Pattern) -> tuple[int, Growth]:
    """How many texts were tried with a pattern, and what the worst of them costs."""
    compiled = re.compile(pattern.text, pattern.flags)
    recipes = list_recipes(pattern.text, pattern.flags)
    worst = QUICK
    for use in pattern.uses:
        call = USES[use](compiled)
        makes = {repr(each): each.cook if isinstance(pattern.text, str) else each.cook_bytes for each in recipes}
        worst = max(worst, find_worst(call, makes))
    return len(recipes), worst
