"""Reports to be written: one as it should be, and one each text of which wants to break the document."""

import msgspec

from actors.evidence.sources import FailedSource
from actors.reporting.report import Chart, Report, ReportSection, ReportSentence, SourceEntry, Table
from tests.actors.research import cases
from tests.actors.research.cases import compose

EVIL = (
    "<script>alert(1)</script><img src=https://evil.example/x.png onerror=alert(1)> \"quoted\" 'single' ]]> &lt;b&gt; "
    '<a href="javascript:alert(1)">go</a> </style><style>*{background:url(//evil.example)}</style> {{x}} %s \x1b[31m'
)
URLS = (
    "javascript:alert(1)", 'https://a.example/"onmouseover="alert(1)', "https://bank.example@evil.example/",
    "data:text/html,<script>alert(1)</script>", "https://a.example/<script>",
)  # fmt: skip
SCRIPTS = "Привет Ελληνικά 中文标题 한국어 日本語かな naïve Łódź 😀"


def plain() -> Report:
    """Every part of a report, with nothing strange in it."""
    report = compose(cases.case())
    first, *others = report.charts
    bar = Chart("bar", "How often each source is cited", (("[1]", 5), ("[2]", 2)))
    return msgspec.structs.replace(report, charts=(first, bar, *others))


def hostile(said: str = EVIL) -> Report:
    """Every text of every part is this one."""
    line = ReportSentence(said, (1, 2), said, said)
    block = ReportSection(
        said,
        (line, ReportSentence(f"```\n{said}\n```", (1,)), ReportSentence(f"{said}\n- {said}\n- {said}", (3,))),
        said,
    )
    sources = tuple(SourceEntry(n, said, url, said, said, said, 1, 2, said, 1) for n, url in enumerate(URLS, 1))
    return msgspec.structs.replace(
        plain(),
        title=said,
        question=f"{said}?",
        overview=(line,),
        sections=(block,),
        comparison=Table(("", said, said), ((ReportSentence(said), line, ReportSentence("—")),)),
        competitors=(block,),
        features=block,
        swot=(block,),
        contradictions=((line, line),),
        unanswered=(said,),
        further=(said,),
        missed=(FailedSource(said, "dead", said),),
        sources=sources,
        partial=said,
        notes=(said,),
        charts=(
            Chart("pie", said, ((said, 1), ("b", 2))),
            Chart("bar", said, ((said, 1),)),
            Chart("timeline", said, ((said, 2020),)),
            Chart("pie", "one", (("whole", 1),)),
        ),
    )
