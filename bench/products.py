"""
What a research says of a product: invented ones, in folders and on a site, in three languages, asked in nine ways.

    python -m bench.products [--products N] [--json]

Pages are made of the data below, in several layouts: under headings that say what stands there and such that do not,
as tables, lists and prose. It is counted which of the facts that a wording asks for stand in its report, and under
their part: without a model, with a scripted one that answers from the pages, and with one that also lies.
"""

import asyncio
import contextlib
import re
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import structlog
from aiohttp import web

from actors.reporting.markdown import render_markdown
from actors.reporting.report import Report, body
from actors.research.models import ResearchOptions
from actors.research.product import QUADRANTS
from actors.text.catalogue import every_form
from actors.text.languages import guess_language
from actors.text.normalize import normalize
from bench.measure import Figures, NotMeasured, arguments, report, table
from runtime.engine.node import Node
from runtime.settings import EmbeddingsSettings, FetchSettings, ModelSettings, Settings, StorageSettings
from runtime.tickets import Ticket
from tests.fake_openai import FakeOpenAI
from tests.thinking import Asked, claim, thinks

LANGUAGES = ("en", "de", "zh")
NAMES = (
    ("Trackline", "quillbase", "Harrow Point", "Lumenta"),
    ("Werkbuch", "Taktgeber", "Lagerfuchs", "norvik"),
    ("云梭", "栈桥", "Mingo排班", "青禾记"),
)
"""By language; some in small letters, some of two words."""
RIVALS = (
    ("Beaconry", "Millboard", "Oakdesk", "Fernway", "Pinwheel", "Dockyard"),
    ("Stahlblick", "Planwerk", "Kontorio", "Meistermann", "Zettelhelm", "Ordnix"),
    ("飞页", "蓝杉", "拾光簿", "木星台", "Hualing", "白鹭通"),
)
Said = tuple[str, str, str]
"""The same in English, German and Chinese. {p} is the product, {r} a rival."""
FEATURES: tuple[Said, ...] = (
    ("offline mode", "Offline-Betrieb", "离线模式"), ("barcode scanning", "Barcode-Erfassung", "条码扫描"),
    ("shift reports", "Schichtberichte", "班次报表"), ("audit trail", "Änderungsprotokoll", "审计日志"),
    ("spare part lists", "Ersatzteillisten", "备件清单"), ("photo notes", "Fotonotizen", "照片备注"),
    ("single sign-on", "Einmalanmeldung", "单点登录"), ("voice input", "Spracheingabe", "语音输入"),
)  # fmt: skip
STRENGTHS: tuple[Said, ...] = (
    ("Crews find that {p} starts in seconds on old tablets.",
     "{p} startet auf alten Tablets in Sekunden, wie Teams berichten.", "班组反映{p}在旧平板上几秒就能启动。"),
    ("New staff learn {p} within one shift.", "Neue Leute lernen {p} in einer Schicht.", "新员工一个班次就能学会{p}。"),
    ("The help desk of {p} answers on the same day.", "Der Kundendienst von {p} antwortet am selben Tag.",
     "{p}的客服当天就会答复。"),
    ("Updates of {p} have never lost a record.", "Updates von {p} haben noch nie einen Datensatz verloren.",
     "{p}的更新从未丢失过记录。"),
)  # fmt: skip
WEAKNESSES: tuple[Said, ...] = (
    ("Machine data cannot flow into {p}, since an interface is missing.",
     "Maschinendaten gelangen nicht in {p}, weil eine Schnittstelle fehlt.", "由于缺少接口，机器数据无法进入{p}。"),
    ("Large sites wait minutes for the lists of {p}.", "Große Werke warten minutenlang auf die Listen von {p}.",
     "大型工厂要等好几分钟才能打开{p}的列表。"),
    ("The manual of {p} covers only half of the menus.", "Das Handbuch von {p} erklärt nur die Hälfte der Menüs.",
     "{p}的手册只讲了一半菜单。"),
    ("Exports of {p} drop the photos.", "Exporte von {p} lassen die Fotos weg.", "{p}导出时会丢掉照片。"),
)  # fmt: skip
OPPORTUNITIES: tuple[Said, ...] = (
    ("From 2027 on food plants must keep digital maintenance logs, which {p} already writes.",
     "Ab 2027 müssen Lebensmittelwerke digitale Wartungsbücher führen, die {p} schon schreibt.",
     "自2027年起食品厂必须保存电子维护记录，{p}已经能够生成。"),
    ("Clinics have begun to ask for {p}.", "Kliniken fragen inzwischen nach {p}.", "诊所已开始询问{p}。"),
)  # fmt: skip
THREATS: tuple[Said, ...] = (
    ("Makers of big planning suites now give away what {p} sells.",
     "Hersteller großer Planungspakete verschenken inzwischen, was {p} verkauft.",
     "大型计划套件的厂商如今免费赠送{p}所卖的东西。"),
    ("A patent suit may stop {p} in two countries.", "Ein Patentstreit könnte {p} in zwei Ländern stoppen.",
     "一场专利诉讼可能使{p}在两个国家停售。"),
)  # fmt: skip
RIVALRY: tuple[Said, ...] = (
    ("Those who leave {p} mostly end up with {r}.", "Wer {p} verlässt, landet meist bei {r}.",
     "离开{p}的人大多转到了{r}。"),
    ("{r} competes with {p} in every tender.", "{r} konkurriert in jeder Ausschreibung mit {p}.",
     "{r}在每次招标中都与{p}竞争。"),
    ("{r} is the cheaper alternative to {p}.", "{r} ist die billigere Alternative zu {p}.",
     "{r}是{p}更便宜的替代品。"),
)  # fmt: skip
LACKS: Said = ("{r} has no {f}.", "{r} hat keine Funktion {f}.", "{r}没有{f}。")
IS: Said = (
    "{p} is a logbook for repair crews.", "{p} ist ein Betriebsbuch für Instandhalter.",
    "{p}是维修班组使用的日志软件。",
)  # fmt: skip
PRICE: Said = ("{p} costs {n} euros a month.", "{p} kostet {n} Euro im Monat.", "{p}每月收费{n}欧元。")
DATES: tuple[Said, ...] = (
    ("{p} was founded in {n}.", "{p} wurde im Jahr {n} gegründet.", "{p}创立于{n}年。"),
    ("Its second version was released in {n}.", "Die zweite Fassung erschien im Jahr {n}.", "第二版于{n}年发布。"),
    ("The app for phones followed in {n}.", "Die App für Telefone folgte im Jahr {n}.", "手机应用于{n}年推出。"),
)  # fmt: skip
OFFERS: Said = (
    "With {p} there is {f} for all of the crew.", "Mit {p} gibt es {f} für alle im Team.", "{p}为全体成员提供{f}。",
)  # fmt: skip
HEADINGS: dict[str, tuple[Said, Said]] = {
    "competitor": (("Competitors", "Wettbewerber", "竞争对手"), ("On the same shelf", "Im selben Regal", "同一货架")),
    "feature": (("Features", "Funktionen", "功能"), ("In the box", "Was drin ist", "盒子里有")),
    "strength": (("Strengths", "Stärken", "优势"), ("Good days", "Gute Tage", "顺心的日子")),
    "weakness": (("Weaknesses", "Schwächen", "劣势"), ("Bad days", "Schlechte Tage", "糟心的日子")),
    "opportunity": (("Opportunities", "Chancen", "机会"), ("Tailwind", "Rückenwind", "顺风")),
    "threat": (("Threats", "Risiken", "威胁"), ("Headwind", "Gegenwind", "逆风")),
    "history": (("History", "Geschichte", "历史"), ("How it came about", "Wie es dazu kam", "来历")),
    "voices": (
        ("What crews say", "Was Teams sagen", "班组怎么说"),
        ("From the workshop", "Aus der Werkstatt", "车间见闻"),
    ),
}
"""Those that say what stands below, and those that do not."""
YES_NO: tuple[Said, Said] = (("yes", "ja", "有"), ("no", "nein", "无"))
ALL = ("competitor", "feature", "strength", "weakness", "opportunity", "threat", "price", "date")
PARTS = {"competitor": "competitors", "feature": "features", "strength": "strengths", "weakness": "weaknesses",
         "opportunity": "opportunities", "threat": "threats"}  # fmt: skip
WORDINGS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Product analysis of {p}: competitors, features and SWOT", ALL),
    ("Who are the competitors of {p}?", ("competitor",)),
    ("SWOT {l}", ("strength", "weakness", "opportunity", "threat")),
    ("what do people say against {l}, and who else is there?", ("weakness", "competitor")),
    ("compare “{p}” with its rivals", ("competitor",)),
    ("Produktanalyse von {p}", ALL),
    ("Was kann „{p}“, und welche Schwächen hat es?", ("feature", "weakness")),
    ("{p} 的竞品分析", ALL),
    ("{p}有哪些功能和优缺点？还有谁在做同类产品？", ("feature", "strength", "weakness", "competitor")),
)
"""What is asked, and which facts that asks for."""
FILLER: Said = (
    (
        "The works lies by the river, and its halls were built of brick. On weekdays the gate opens at six. "
        "Visitors ask at the porter's lodge for a badge and wait below the clock until somebody fetches them."
    ),
    (
        "Das Werk liegt am Fluss, und seine Hallen sind aus Backstein. An Werktagen öffnet das Tor um sechs. "
        "Besucher holen sich beim Pförtner einen Ausweis und warten unter der Uhr, bis jemand sie abholt."
    ),
    (
        "工厂坐落在河边，厂房都是砖砌的。工作日早上六点开门。访客先到门房领取胸牌，把外套挂在走廊里，然后在大钟下面等候。"
        "走廊尽头挂着一幅旧地图，上面画着从前的码头、铁路和渡口，冬天下雪的时候，河面上会结一层薄薄的冰。"
        "食堂的窗户朝着院子，院子中央有一棵老槐树，树下摆着几张长椅，天气好的时候工人们在那里吃午饭、下棋、晒太阳。"
        "傍晚汽笛响过以后，自行车一辆接一辆地穿过大桥，桥头的小店亮起灯，卖热豆浆和刚出锅的烧饼。"
    ),
)
"""What stands on pages of a site besides."""
CANTEEN = "# Canteen\n\nThe canteen opens at 11 and closes at 14. A meal costs 6 euros.\n"
LIES = ("Zorvex", "9999", "Quantum steering")
"""In every lie that is nothing but invented."""


class Fact(NamedTuple):
    """Something that a page says of a product."""

    kind: str
    said: Said
    """The sentence in each language."""
    key: Said
    """What a report must hold of it, in the language of its task or of the page."""
    rival: str = ""
    feature: Said = ("", "", "")


class Product(NamedTuple):
    name: str
    language: int
    number: int
    facts: tuple[Fact, ...]
    lacking: tuple[tuple[str, Said], ...]
    """(rival, feature) that the rival does not have."""

    @property
    def on_site(self) -> bool:
        return self.number % 2 == 1


def make_products() -> list[Product]:
    """All of them, the languages in turns."""
    return [_make_product(number) for number in range(sum(map(len, NAMES)))]


def _make_product(number: int) -> Product:
    language, place = number % 3, number // 3
    name = NAMES[language][place]
    rivals = [RIVALS[language][(place + n) % 6] for n in (0, 2, 3)]
    features = [FEATURES[(number + n) % len(FEATURES)] for n in (0, 1, 3, 5)]

    def fill(said: Said, **more: Any) -> Said:
        def one(n: int) -> str:
            values = {key: value[n] if isinstance(value, tuple) else value for key, value in more.items()}
            return said[n].format(p=name, **values)

        return one(0), one(1), one(2)

    def whole(kind: str, pool: Sequence[Said], count: int) -> Iterator[Fact]:
        for n in range(count):
            sentence = fill(pool[(number + n) % len(pool)])
            yield Fact(kind, sentence, sentence)

    facts = [
        Fact("competitor", fill(RIVALRY[(number + n) % 3], r=rival), (rival,) * 3, rival)
        for n, rival in enumerate(rivals)
    ]
    facts += (Fact("feature", fill(OFFERS, f=each), each, feature=each) for each in features)
    facts += whole("strength", STRENGTHS, 2)
    facts += whole("weakness", WEAKNESSES, 2)
    facts += whole("opportunity", OPPORTUNITIES, 1)
    facts += whole("threat", THREATS, 1)
    facts.append(Fact("price", fill(PRICE, n=13 + 4 * number), (str(13 + 4 * number),) * 3))
    years = (1998 + number, 2010 + number, 2013 + number)
    facts += (Fact("date", fill(each, n=year), (str(year),) * 3) for each, year in zip(DATES, years, strict=True))
    lacking = tuple((rival, features[n]) for n, rival in enumerate(rivals[:2]))
    return Product(name, language, number, tuple(facts), lacking)


def write_pages(product: Product) -> list[str]:
    """The pages of a product as Markdown: home, rivals, voices, outlook. The layout goes by its number."""
    n, plain = product.language, product.number // 3 % 2
    facts = {kind: [each for each in product.facts if each.kind == kind] for kind in (*ALL,)}
    space = "" if n == 2 else " "

    def heading(kind: str) -> str:
        return f"## {HEADINGS[kind][plain][n]}"

    def prose(kind: str) -> str:
        return space.join(each.said[n] for each in facts[kind])

    def listed(kind: str) -> str:
        return "\n".join(f"- {each.said[n]}" for each in facts[kind])

    home = [f"# {product.name}", IS[n].format(p=product.name) + space + prose("price"), heading("feature")]
    home.append(listed("feature") if product.number % 2 else prose("feature"))
    home += [heading("history"), prose("date")]
    others = [f"# {HEADINGS['competitor'][plain][n]}: {product.name}", prose("competitor"), _matrix(product)]
    if plain:  # some have two kinds below one heading, which says neither
        voices = [f"# {HEADINGS['voices'][1][n]}: {product.name}", prose("strength"), prose("weakness")]
    else:
        voices = [f"# {HEADINGS['voices'][0][n]}: {product.name}"]
        for kind in ("strength", "weakness"):
            voices += [heading(kind), listed(kind)]
    outlook = [f"# {product.name} 2030"]
    for kind in ("opportunity", "threat"):
        outlook += [heading(kind), prose(kind)]
    besides = [FILLER[n]] * 2 if product.on_site else []
    return ["\n\n".join((*page, *besides)) + "\n" for page in (home, others, voices, outlook)]


def _matrix(product: Product) -> str:
    """Which rival lacks what: a table, or a sentence each."""
    n = product.language
    if product.number % 3 == 1 or product.number // 3 % 2:
        return "\n".join(LACKS[n].format(r=rival, f=feature[n]) for rival, feature in product.lacking)
    names = [product.name, *(rival for rival, _ in product.lacking)]
    rows = [f"| | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    for _, feature in product.lacking:
        cells = [YES_NO[(name, feature) in product.lacking][n] for name in names]
        rows.append(f"| {feature[n]} | {' | '.join(cells)} |")
    return "\n".join(rows)


class Model:
    """A model that reads well: of each fact that stands in a passage it makes a point in the language of the task."""

    def __init__(self, product: Product, language: int, *, lies: bool) -> None:
        self._product, self._language, self._lies = product, language, lies

    def points(self, it: Asked) -> Any:
        wanted, made = it.material["wanted"].split("\n"), list[dict[str, Any]]()
        for number, text in enumerate(it.passages, 1):
            for fact in self._product.facts:
                quote = fact.said[self._product.language]
                if fact.kind in wanted and quote in text:
                    said = claim(fact.said[self._language], number, quote)
                    made.append(
                        {**said, "kind": fact.kind, "product": fact.rival, "feature": fact.feature[self._language]}
                    )
            for rival, feature in self._product.lacking:
                quote = LACKS[self._product.language].format(r=rival, f=feature[self._product.language])
                if "lacks" in wanted and quote in text:
                    name = feature[self._language]
                    said = claim(LACKS[self._language].format(r=rival, f=name), number, quote)
                    made.append({**said, "kind": "lacks", "product": rival, "feature": name})
        return {"claims": [*made, *self._lie(made)] if self._lies else made}

    def _lie(self, made: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Invented rivals and figures, cells and quadrants turned round, a quote that stands nowhere."""
        contrary = {"strength": "weakness", "weakness": "strength", "has": "lacks", "lacks": "has"}
        for each in made:
            yield {**each, "text": f"{each['text']} 9999"}
            if each["kind"] == "competitor":
                yield {**each, "product": "Zorvex", "text": f"Zorvex: {each['text']}"}
            if other := contrary.get(each["kind"]):
                yield {**each, "kind": other}
            yield {**each, "quote": "Quantum steering is built in.", "text": "Quantum steering is built in."}

    def answer(self, it: Asked) -> Any:
        claims = [
            claim(fact.said[self._language], number, fact.said[self._product.language])
            for number, text in enumerate(it.passages, 1)
            for fact in self._product.facts
            if fact.kind in {"price", "date"} and fact.said[self._product.language] in text
        ]
        return {"claims": claims, "directions": [], "answered": bool(claims)}

    def read(self, it: Asked) -> Any:
        """A second reader, who knows what each sentence says and what kind of thing that is."""
        verdicts = []
        for block in it.material["statements"].split("number: ")[1:]:
            number, _, rest = block.partition("\n")
            said, quote = (_line_of(rest, name) for name in ("statement", "quote"))
            verdict = "entailed" if self._is_true(said, quote) else "not_said"
            verdicts.append({"number": int(number), "verdict": verdict, "answers": True})
        return {"verdicts": verdicts}

    def _is_true(self, said: str, quote: str) -> bool:
        if any(lie in said for lie in LIES):
            return False
        for rival, feature in self._product.lacking:
            if quote == LACKS[self._product.language].format(r=rival, f=feature[self._product.language]):
                return rival in said and said.rstrip().endswith(tuple(every_form("no")))
        fact = next((each for each in self._product.facts if each.said[self._product.language] == quote), None)
        if fact is None or not any(each in said for each in fact.said):
            return False
        above = said.partition(":")[0]
        part = next((part for part in QUADRANTS if above in every_form(part)), "")
        return not part or PARTS.get(fact.kind) == part


def _line_of(text: str, name: str) -> str:
    found = re.search(rf"^{name}: (.*)$", text, re.MULTILINE)
    return found[1] if found else ""


class Counted(NamedTuple):
    """One report."""

    wording: str
    expected: int
    held: int
    """Of the facts that were asked for: how many the report holds,"""
    placed: int
    """and how many it holds under their part; prices and dates have none."""
    in_parts: int
    reached: bool
    """Each part that the wording asks for has its heading, and something below it, were it an honest word."""
    filled: bool
    """Each has sentences below it."""
    untrue: tuple[str, ...]
    diagrams: frozenset[str]


def count_facts(product: Product, wording: str, kinds: Sequence[str], made: Report) -> Counted:
    whole = _fold(render_markdown(made))
    parts = dict.fromkeys(PARTS.values(), "")
    parts["competitors"] = _text(made.competitors)
    parts["features"] = _text([made.features] if made.features else [])
    swot = _text(made.swot)
    facts = [each for each in product.facts if each.kind in kinds]
    held = [each for each in facts if any(_fold(key) in whole for key in each.key)]
    of_part = [each for each in facts if each.kind in PARTS]
    below = {kind: parts[part] or (swot if part in QUADRANTS else "") for kind, part in PARTS.items()}
    placed = [each for each in of_part if any(_fold(key) in below[each.kind] for key in each.key)]
    asked_for = {PARTS[kind] for kind in kinds if kind in PARTS}
    there = {"competitors": bool(made.competitors), "features": bool(made.features)}
    there |= dict.fromkeys(QUADRANTS, bool(made.swot))
    filled = all(parts[part] if part not in QUADRANTS else swot for part in asked_for)
    return Counted(
        wording, len(facts), len(held), len(placed), len(of_part), all(there[part] for part in asked_for), filled,
        tuple(_find_untrue(product, made)),
        frozenset(re.findall(r"```mermaid\n(\w+)", render_markdown(made))),
    )  # fmt: skip


def _text(blocks: Sequence[Any]) -> str:
    return _fold(
        "\n".join(f"{block.title}\n" + "\n".join(line.text for line in block.lines) for block in blocks if block.lines)
    )


def _find_untrue(product: Product, made: Report) -> Iterator[str]:
    """What no page says of the product: lies, sentences on another or in the wrong quadrant, cells turned round."""
    yield from (line.text for line in body(made) if any(lie in line.text for lie in LIES))
    others = {name for names in NAMES for name in names} - {product.name}
    for block in (*made.competitors, *([made.features] if made.features else ()), *made.swot):
        yield from (line.text for line in block.lines if any(name in line.text for name in others))
    for block in made.swot:
        part = next((part for part in QUADRANTS if block.title in every_form(part)), "")
        for line in block.lines if part else ():
            kinds = {fact.kind for fact in product.facts if any(said in line.text for said in fact.said)}
            if any(PARTS.get(kind, part) != part for kind in kinds):
                yield f"{block.title}: {line.text}"
    if made.comparison:
        no = set(YES_NO[1]) | every_form("no")
        for row in made.comparison.rows:
            for side, cell in zip(made.comparison.head[1:], row[1:], strict=True):
                lacks = any(side == rival and row[0].text in feature for rival, feature in product.lacking)
                if cell.numbers and lacks != (cell.short in no):
                    yield f"{side}: {row[0].text}: {cell.short}"


def _fold(text: str) -> str:
    return normalize(text.replace("\\", ""))[0]


@contextlib.asynccontextmanager
async def serve(products: Sequence[Product]) -> AsyncIterator[str]:
    """A stand-in site with the pages of those that have one; yields its address."""
    pages = {f"/{each.number}/{n}": text for each in products for n, text in enumerate(write_pages(each))}

    async def show(request: web.Request) -> web.Response:
        if request.path not in pages:
            return web.Response(status=404)
        return web.Response(text=render_html(pages[request.path]), content_type="text/html")

    app = web.Application()
    app.router.add_get("/{rest:.*}", show)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def render_html(markdown: str) -> str:
    """A page of a site: what `write_pages` writes, between a menu and a foot."""
    blocks, title = list[str](), ""
    for block in markdown.strip().split("\n\n"):
        lines = block.split("\n")
        if block.startswith("#"):
            level, _, text = block.partition(" ")
            title = title or text
            blocks.append(f"<h{len(level)}>{text}</h{len(level)}>")
        elif block.startswith("- "):
            blocks.append("<ul>" + "".join(f"<li>{line[2:]}</li>" for line in lines) + "</ul>")
        elif block.startswith("|"):
            rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in (lines[0], *lines[2:])]
            blocks.append(
                "<table>" + "".join(f"<tr>{''.join(f'<td>{c}</td>' for c in row)}</tr>" for row in rows) + "</table>"
            )
        else:
            blocks.append(f"<p>{block}</p>")
    menu = "<nav><a href='/'>Home</a> <a href='/shop'>Shop</a></nav>"
    return (
        f"<!doctype html><html><head><meta charset='utf-8'><title>{title}</title></head><body>{menu}"
        f"<main><article>{''.join(blocks)}</article></main><footer>Imprint</footer></body></html>"
    )


async def _research(node: Node, product: Product, wording: str, kinds: Sequence[str], site: str) -> Counted:
    text = wording.format(p=product.name, l=product.name.lower())
    urls = tuple(f"{site}/{product.number}/{n}" for n in range(4)) if product.on_site else ()
    ticket = Ticket(text=text, workflow="research", options=ResearchOptions(urls=urls))
    async with asyncio.timeout(120):
        outcome = await (await node.submit(ticket)).outcome()
    if outcome.why != "completed":
        raise NotMeasured(f"{text!r} ended as {outcome.why}: {outcome.detail}")
    return count_facts(product, wording, kinds, await node.report(outcome.run))


def _language_of(task: str) -> int:
    """What a model answers in: the language of the task, where it can be told."""
    told = guess_language(task)
    return LANGUAGES.index(told) if told in LANGUAGES else 0


async def run(products: Sequence[Product], folder: Path, mode: str, site: str) -> list[Counted]:
    """All wordings of all products. `mode`: places, reads or lies."""
    thinker: list[Model] = []
    step = thinks(
        PlanDraft=lambda it: {"questions": [it.material["question"]], "queries": [it.material["question"]], "sides": [],
                              "criteria": []},
        Answer=lambda it: thinker[-1].answer(it), Points=lambda it: thinker[-1].points(it),
        Overview=lambda it: thinker[-1].answer(it) | {"directions": []}, SecondReading=lambda it: thinker[-1].read(it),
    )  # fmt: skip
    counted = list[Counted]()
    async with contextlib.AsyncExitStack() as stack:
        model = ModelSettings()
        if mode != "places":
            server = await stack.enter_async_context(FakeOpenAI(step))
            model = ModelSettings(base_url=server.url, name="fake")
        settings = Settings(
            storage=StorageSettings(folder=str(folder / mode)), embeddings=EmbeddingsSettings(provider="none"),
            fetch=FetchSettings(allow=("127.0.0.0/8",), robots=False), model=model,
        )  # fmt: skip
        node = await stack.enter_async_context(Node.open(settings))
        await node.index([str(folder / "docs")], lambda _: None)
        for product in products:
            for wording, kinds in WORDINGS:
                task = wording.format(p=product.name, l=product.name.lower())
                thinker.append(Model(product, _language_of(task), lies=mode == "lies"))
                counted.append(await _research(node, product, wording, kinds, site))
                if counted[-1].untrue or not counted[-1].reached or (mode != "places" and not counted[-1].filled):
                    print(f"  {mode}: {wording.format(p=product.name, l=product.name)}: {counted[-1]}", file=sys.stderr)
    return counted


def write_folder(products: Sequence[Product], folder: Path) -> None:
    folder.mkdir()
    (folder / "canteen.md").write_text(CANTEEN, encoding="utf-8")
    for product in products:
        for n, text in enumerate(write_pages(product) if not product.on_site else ()):
            (folder / f"{product.number}-{n}.md").write_text(text, encoding="utf-8")


async def measure(count: int) -> Figures:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    products = make_products()[:count]
    figures: Figures = {"products": len(products), "wordings": len(WORDINGS)}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_folder(products, folder / "docs")
        async with serve(products) as site:
            for mode in ("places", "reads", "lies"):
                figures[mode] = _sum_up(await run(products if mode != "lies" else products[:3], folder, mode, site))
    return figures


def _sum_up(counted: Sequence[Counted]) -> Figures:
    reached = {wording: all(each.reached for each in counted if each.wording == wording) for wording, _ in WORDINGS}
    filled = {wording: all(each.filled for each in counted if each.wording == wording) for wording, _ in WORDINGS}
    expected, in_parts = sum(each.expected for each in counted), sum(each.in_parts for each in counted)
    return {
        "reports": len(counted),
        "facts": round(sum(each.held for each in counted) / expected, 3),
        "facts under their part": round(sum(each.placed for each in counted) / in_parts, 3),
        "untrue": sum(len(each.untrue) for each in counted),
        "wordings that reach every part": sum(reached.values()),
        "wordings that fill every part": sum(filled.values()),
        "reports that fill every part": sum(each.filled for each in counted),
        "reports with a diagram": sum(bool(each.diagrams) for each in counted),
        "kinds of diagrams": sorted(frozenset().union(*(each.diagrams for each in counted))),
    }


def show(figures: Mapping[str, Any]) -> str:
    modes = ("places", "reads", "lies")
    rows = [[key, *(_write(figures[mode][key]) for mode in modes)] for key in figures["places"]]
    return table((f"{figures['products']} products", "no model", "a model", "a liar"), rows)


def _write(figure: Any) -> str:
    return " ".join(figure) if isinstance(figure, list) else str(figure)


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--products", type=int, default=12, help="so many of them")
    given = parser.parse_args()
    return report(given, lambda: measure(given.products), show)


if __name__ == "__main__":
    sys.exit(main())
