/** The style of the page. It works from 320 pixels, in light and dark mode, and on paper. */
export const PAGE_STYLE = `
:root{color-scheme:light dark;--bg:#f7f7f5;--card:#fff;--ink:#1d1e20;--dim:#5d6269;--line:#dfe1e4;--ok:#1a7f37;--bad:#c0281f;--warn:#8a5a00;
--run:#3d7bd9;--wait:#d8a31a;--queue:#b9bec6;--add:#e4f5e8;--del:#fde9ea;--mark:#ffe9a8;--focus:#0b5fff}
@media(prefers-color-scheme:dark){:root{--bg:#141517;--card:#1c1e21;--ink:#e6e7e9;--dim:#9ba1a9;--line:#32363b;--ok:#52c878;--bad:#ff8178;--warn:#e6b450;
--run:#5f97e8;--wait:#c9962a;--queue:#5a6068;--add:#15321f;--del:#3d1d20;--mark:#554300;--focus:#8ab4ff}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
main,header,footer{max-width:76rem;margin:0 auto;padding:0 1rem}
header{padding-top:1.5rem}
h1{font-size:1.35rem;line-height:1.3;margin:.1rem 0;overflow-wrap:anywhere}
h2{font-size:1.05rem;margin:2rem 0 .6rem}
h3{font-size:.95rem;margin:0;font-weight:600;overflow-wrap:anywhere}
p{margin:.3rem 0;overflow-wrap:anywhere}
.dim,header p,figcaption,footer{color:var(--dim)}
code,pre,.what b{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.86em}
pre{margin:.3rem 0 0;padding:.5rem .65rem;background:var(--bg);border:1px solid var(--line);border-radius:6px;white-space:pre-wrap;overflow-wrap:anywhere;
max-height:32rem;overflow:auto;unicode-bidi:plaintext;tab-size:4}
a{color:inherit}
ul,ol{list-style:none;margin:0;padding:0}
:focus-visible{outline:2px solid var(--focus);outline-offset:2px;border-radius:4px}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(8.5rem,1fr));gap:.6rem;margin:1rem 0 0}
.tiles div{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:.55rem .75rem}
.tiles dt{color:var(--dim);font-size:.85rem}
.tiles dd{margin:0;font-size:1.25rem;font-weight:600;font-variant-numeric:tabular-nums}
.tiles small{display:block;font-size:.8rem;font-weight:400;color:var(--dim)}
.tiles .bad dd{color:var(--bad)}
.tiles .wait dd{color:var(--warn)}
.list{background:var(--card);border:1px solid var(--line);border-radius:8px}
.list>li+li,.calls>li+li{border-top:1px solid var(--line)}
.problems a{display:grid;grid-template-columns:1.5rem 1fr;gap:0 .4rem;padding:.5rem .75rem;text-decoration:none}
.problems a:hover,.row:hover{background:color-mix(in srgb,var(--run) 7%,transparent)}
.problems p{grid-column:2;margin:0;color:var(--bad);font-size:.9em}
.wait p{color:var(--warn)}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{text-align:right;padding:.35rem .75rem;white-space:nowrap}
th{color:var(--dim);font-weight:500;font-size:.85rem}
td{border-top:1px solid var(--line)}
th:first-child,td:first-child{text-align:left;white-space:normal;overflow-wrap:anywhere;min-width:8rem}
.activity{margin:1rem 0 0;padding:.6rem .75rem;background:var(--card);border:1px solid var(--line);border-radius:8px}
.activity svg{display:block;width:100%;height:60px}
figcaption{display:flex;flex-wrap:wrap;justify-content:space-between;gap:0 1rem;font-size:.8rem;margin-top:.3rem}
.choice{position:absolute;opacity:0;width:1px;height:1px}
.choices{display:flex;flex-wrap:wrap;gap:.4rem;margin:0 0 .6rem}
.choices label{border:1px solid var(--line);border-radius:99px;padding:.15rem .75rem;background:var(--card);cursor:pointer;font-size:.9rem}
.choices:has(#all:checked) [for=all],.choices:has(#bad:checked) [for=bad],.choices:has(#asked:checked) [for=asked],
.choices:has(#change:checked) [for=change]{background:var(--ink);color:var(--bg);border-color:var(--ink)}
.choices:has(:focus-visible) label{outline:2px solid transparent}
.choice:focus-visible+label{outline:2px solid var(--focus);outline-offset:2px}
body:has(#bad:checked) :is(.call,.batch):not(.bad),body:has(#asked:checked) :is(.call,.batch):not(.asked),
body:has(#change:checked) :is(.call,.batch):not(.change){display:none}
.batch{margin:0 0 1rem;background:var(--card);border:1px solid var(--line);border-radius:8px;content-visibility:auto;contain-intrinsic-size:auto 8rem}
.batch>.head{padding:.6rem .75rem;border-bottom:1px solid var(--line)}
.batch>.head p{font-size:.88rem}
.call{content-visibility:auto;contain-intrinsic-size:auto 2.4rem}
.row{display:grid;grid-template-columns:1.5rem minmax(0,1fr) 12rem 5.5rem;gap:.1rem .5rem;align-items:center;padding:.4rem .75rem}
summary{cursor:pointer}
summary.row{list-style:none}
summary.row::-webkit-details-marker{display:none}
.call>details[open]>.row{background:color-mix(in srgb,var(--run) 7%,transparent)}
.what{overflow-wrap:anywhere;min-width:0}
.what bdi{color:var(--dim)}
.call>details:not([open])>.row .what{display:-webkit-box;-webkit-line-clamp:2;-webkit-box-orient:vertical;overflow:hidden}
.why{font-size:.85em;color:var(--bad)}
.sign{font-weight:700;text-align:center}
.sign.ok{color:var(--ok)}.sign.failed,.sign.unknown{color:var(--bad)}.sign.not-run,.sign.waits{color:var(--warn)}.sign.running,.sign.queued{color:var(--dim)}
.ms{text-align:right;color:var(--dim);font-variant-numeric:tabular-nums;font-size:.9em;white-space:nowrap}
.bar{display:block;width:100%;height:10px;background:color-mix(in srgb,var(--queue) 22%,transparent);border-radius:3px}
span.bar{background:none}
rect.w{fill:var(--wait)}rect.q{fill:var(--queue)}rect.r{fill:var(--run)}rect.f{fill:var(--bad)}
.legend{display:flex;flex-wrap:wrap;gap:.1rem 1rem;font-size:.85rem;color:var(--dim);margin:0 0 .6rem}
.legend svg{width:1.4rem;height:8px;margin-right:.35rem}
.detail{padding:.2rem .75rem .9rem 2.75rem;scroll-margin-top:1rem}
.call:has(:target),.call:target{box-shadow:inset 3px 0 var(--focus)}
.part{margin:.5rem 0}
.part>summary{font-weight:500;overflow-wrap:anywhere}
.error{border-left:3px solid var(--bad);padding:.1rem .6rem;white-space:pre-wrap}
.bad>p,p.bad{color:var(--bad)}
.warn li{color:var(--bad);overflow-wrap:anywhere}
.warn li::before{content:"⚠ "}
mark{background:var(--mark);color:inherit}
.diff{padding:.3rem 0}
.diff span{display:block;padding:0 .65rem}
.add{background:var(--add)}.del{background:var(--del)}.at{color:var(--dim)}
.effects{display:flex;flex-wrap:wrap;gap:.3rem;margin:.5rem 0}
.effects li{border:1px solid var(--line);border-radius:5px;padding:0 .45rem;font-size:.82rem;overflow-wrap:anywhere}
.effects .high{color:var(--bad);border-color:currentColor}.effects .medium{color:var(--warn);border-color:currentColor}
.changes li{overflow-wrap:anywhere}
.facts{display:flex;flex-wrap:wrap;gap:.1rem 1.2rem;margin:.5rem 0 0;font-size:.82rem;color:var(--dim)}
.facts div{display:flex;gap:.4rem;min-width:0}
.facts dd{margin:0;overflow-wrap:anywhere}
footer{padding:1.5rem 1rem 2.5rem;font-size:.85rem}
@media(max-width:46rem){.row{grid-template-columns:1.4rem minmax(0,1fr) auto}.row .bar{grid-column:2/-1;grid-row:2}.row span.bar{display:none}.detail{padding-left:.75rem}th,td{padding:.35rem .5rem}
main,header,footer{padding-left:.6rem;padding-right:.6rem}}
@media print{body{background:#fff}.choices,.choice{display:none}.batch,.call{content-visibility:visible}pre{max-height:none}}
`;
