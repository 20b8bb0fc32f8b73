"""How a report looks in a browser and on paper."""

CSS = """
:root{color-scheme:light dark;--ink:#1d2126;--paper:#fff;--faint:#5d6670;--line:#d9dde2;
--link:#1a5fa8;--soft:#f4f6f8;--warn:#8a4b00;--warned:#fff4e2}
@media (prefers-color-scheme:dark){:root{--ink:#e4e7ea;--paper:#16191d;--faint:#9ba4ae;--line:#343a41;
--link:#7db7f2;--soft:#20252b;--warn:#ffc27a;--warned:#33260f}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);
font:16px/1.6 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
main{max-width:46rem;margin:0 auto;padding:2rem 1.25rem 4rem;overflow-wrap:anywhere}
h1{font-size:1.8rem;line-height:1.25;margin:0 0 .75rem}
h2{font-size:1.25rem;line-height:1.3;margin:2.25rem 0 .6rem;padding-top:.5rem;border-top:1px solid var(--line)}
h3{font-size:1.02rem;margin:1.4rem 0 .4rem}
p,ul,ol,figure,table,pre,details{margin:.6rem 0}
ul,ol{padding-left:1.4rem}
li{margin:.35rem 0}
a{color:var(--link);text-decoration:none}
a:hover,a:focus{text-decoration:underline}
code,pre{font:.88em/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;
background:var(--soft);border-radius:4px}
code{padding:.1em .3em}
pre{padding:.7rem .9rem;overflow-x:auto;white-space:pre-wrap}
.n{font-size:.75em;line-height:0;vertical-align:super;white-space:nowrap}
.note,small,figcaption,summary{color:var(--faint)}
small{font-size:.85em}
.note{font-style:italic}
.warns{background:var(--warned);color:var(--warn);border-left:4px solid currentColor;
padding:.6rem .9rem;border-radius:0 4px 4px 0}
nav{background:var(--soft);border-radius:6px;padding:.6rem 1rem;margin:1.25rem 0;font-size:.92rem}
nav ul{margin:.2rem 0;padding-left:1.1rem;columns:2;column-gap:2rem}
nav li{break-inside:avoid}
blockquote{margin:.4rem 0;padding-left:.9rem;border-left:3px solid var(--line);color:var(--faint)}
details{font-size:.88rem;margin:.2rem 0 .5rem}
summary{cursor:pointer}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.93rem}
th,td{text-align:left;vertical-align:top;padding:.5rem .65rem;border:1px solid var(--line)}
th{background:var(--soft)}
.works>li{margin:.9rem 0}
.works>li:target,a:target{background:var(--warned)}
.hash{font-size:.78em;color:var(--faint);background:none;padding:0}
figure{border:1px solid var(--line);border-radius:6px;padding:.8rem 1rem}
svg{max-width:100%;height:auto;display:block;font:12px system-ui,sans-serif}
figure svg{min-width:26rem}
svg text{fill:var(--ink)}
svg .b{font-weight:600}
.pair{border-left:3px solid var(--warn);padding-left:.9rem;margin:.9rem 0}
@media (max-width:34rem){nav ul{columns:1}}
@media print{
:root{--ink:#000;--paper:#fff;--faint:#444;--line:#bbb;--link:#000;--soft:#f2f2f2;--warn:#000;--warned:#fff}
main{max-width:none;padding:0}
nav{display:none}
body{font-size:10.5pt}
h2,h3{break-after:avoid}
li,figure,tr,.pair{break-inside:avoid}
details::details-content{content-visibility:visible;block-size:auto}
}
""".strip()
