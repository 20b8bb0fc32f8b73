"""Invented pages of the web, the questions that each answers, and those that none does."""

from actors.evidence.dedup import hash_of
from actors.evidence.sources import Page

HARBOUR = """# The tidal mill of Orrin Harbour

The tidal mill of Orrin Harbour was built in 1743 by Maren Tollefsen, a widow who had inherited the quay.

## How it works

At high tide the sea fills a pond of nine acres through a gate that closes by itself. Four hours later the miller opens
the sluice, and the water drives an undershot wheel of five metres.

## Restoration

The mill burned down in 1911. A trust rebuilt it between 1998 and 2004 for 2.3 million crowns, most of which came from
the county. It is open to visitors from May to September, on Tuesdays and Sundays.
"""
TOLLEFSEN = """# Maren Tollefsen

Maren Tollefsen (1702-1781) was a merchant and shipowner. She was born in Stavik as the daughter of a cooper.

Her fleet of seven ships traded timber for salt with Portugal.
"""
COFFEE = """# Storing roasted coffee

Roasted coffee keeps its aroma for about four weeks. Light, heat, air and moisture spoil it.

- Keep the beans in an opaque container that closes tightly.
- Do not put them into the refrigerator: moisture condenses on the cold beans.
- Grind only what you need within fifteen minutes.

## Freezing

Beans in a sealed bag may be frozen for three months. Let them reach room temperature before the bag is opened.
"""
BATTERY = """# Sodium-ion batteries

Sodium-ion cells store between 100 and 160 watt hours per kilogram, less than lithium cells, but they need neither
cobalt nor nickel.

## Advantages

They can be discharged to zero volts for transport, and they still deliver 85 percent of their capacity at -20 °C.

## Limitations

Their cycle life is shorter: most makers warrant 3,000 cycles.
"""
CHINESE = """# 古桥修缮

## 历史

这座石桥建于明代，全长八十二米，由当地商人出资修建。

## 修缮

二〇一九年，文物局用糯米灰浆修补了桥墩，工程历时十四个月。
"""

PAGES = {
    "https://harbour.example/mill": ("The tidal mill of Orrin Harbour", HARBOUR),
    "https://people.example/tollefsen": ("Maren Tollefsen", TOLLEFSEN),
    "https://kitchen.example/coffee": ("Storing roasted coffee | Kitchen", COFFEE),
    "https://energy.example/sodium": ("Sodium-ion batteries explained", BATTERY),
    "https://bridge.example/zh": ("古桥修缮", CHINESE),
}
ANSWERED = [
    ("Who built the tidal mill of Orrin Harbour?", "https://harbour.example/mill", "Maren Tollefsen, a widow"),
    ("How does the tidal mill work?", "https://harbour.example/mill", "closes by itself"),
    ("How much did the restoration of the mill cost?", "https://harbour.example/mill", "2.3 million crowns"),
    ("When can visitors see the mill?", "https://harbour.example/mill", "May to September"),
    ("How long does roasted coffee keep its aroma?", "https://kitchen.example/coffee", "four weeks"),
    ("Can I freeze coffee beans?", "https://kitchen.example/coffee", "frozen for three months"),
    (
        "Why should coffee beans not be kept in the refrigerator?",
        "https://kitchen.example/coffee",
        "moisture condenses",
    ),
    ("What is the energy density of sodium-ion cells?", "https://energy.example/sodium", "watt hours per kilogram"),
    ("What are the limitations of sodium-ion batteries?", "https://energy.example/sodium", "3,000 cycles"),
    ("What did Maren Tollefsen trade with Portugal?", "https://people.example/tollefsen", "timber for salt"),
    ("石桥建于哪个朝代？", "https://bridge.example/zh", "明代"),
    ("修缮工程用了多长时间？", "https://bridge.example/zh", "十四个月"),
]
UNANSWERED = [
    "How do I reset my Netflix password?",
    "Who won the football world cup?",
    "What is the capital of Mongolia?",
    "How do I deploy Kubernetes with Helm?",
    "怎么安装数据库？",
    "서버 백업은 어떻게 하나요?",
]


def page(key: str, title: str, text: str, source: str = "web") -> Page:
    """A page as it is after reading."""
    return Page(key, key, title, source, text, len(text), hash_of(text), "2026-11-22T10:00:00+00:00")


def pages(*keys: str) -> list[Page]:
    """The invented pages, all or some of them."""
    return [page(key, *PAGES[key]) for key in keys or PAGES]
