/** Style sheet of the report, for light and dark screens of any size, and for print. */

export const style = `
:root { color-scheme: light dark; --paper: #fbfaf7; --card: #fff; --ink: #1d1d1b; --quiet: #5d5b55; --line: #d9d5cb; --men: #0b6e8f; --women: #b8480f;
  --bad: #a3201a; --good: #256b2f; --accent: #0b6e8f;
  --step-none: #e6e3da; --step-0: #d7e8ec; --step-1: #aed4dd; --step-2: #79b8c8; --step-3: #23809c; --step-4: #0f5f7a; --step-5: #0a4257;
  --ink-none: #1d1d1b; --ink-0: #1d1d1b; --ink-1: #1d1d1b; --ink-2: #1d1d1b; --ink-3: #fff; --ink-4: #fff; --ink-5: #fff; }
@media (prefers-color-scheme: dark) { :root { --paper: #16181a; --card: #1f2225; --ink: #ecebe6; --quiet: #aba79d; --line: #3a3e42; --men: #5cc1de; --women: #f39a63;
  --bad: #ff9a8f; --good: #8fd39a; --accent: #5cc1de;
  --step-none: #33373a; --step-0: #17313a; --step-1: #1c4652; --step-2: #22616f; --step-3: #2f8ba3; --step-4: #63b9cf; --step-5: #a7dfec;
  --ink-none: #ecebe6; --ink-0: #fff; --ink-1: #fff; --ink-2: #fff; --ink-3: #111; --ink-4: #111; --ink-5: #111; } }
* { box-sizing: border-box; }
html { font: 16px/1.5 system-ui, "Segoe UI", Roboto, Helvetica, Arial, sans-serif; background: var(--paper); color: var(--ink); -webkit-text-size-adjust: 100%; }
body { margin: 0 auto; max-width: 1160px; padding: 1.5rem 1rem 4rem; }
h1 { font-size: clamp(1.7rem, 5vw, 2.6rem); line-height: 1.15; margin: 0 0 .25rem; letter-spacing: -.02em; text-wrap: balance; }
h2 { font-size: 1.35rem; margin: 0 0 .75rem; letter-spacing: -.01em; } h3 { font-size: 1.05rem; margin: 0 0 .5rem; }
p { margin: 0 0 .75rem; max-width: 68ch; text-wrap: pretty; } a { color: var(--accent); }
.quiet { color: var(--quiet); } small { display: block; color: var(--quiet); font-size: .78rem; line-height: 1.35; }
.skip { position: absolute; left: -999px; } .skip:focus { left: 1rem; top: .5rem; background: var(--card); padding: .5rem; }
section { margin-top: 2.5rem; padding-top: 1.25rem; border-top: 3px solid var(--ink); }
data { font-variant-numeric: tabular-nums; }
.findings { margin: 1.25rem 0 0; padding: 0; list-style: none; font-size: 1.12rem; max-width: 62ch; }
.findings li { margin: 0 0 .6rem; text-wrap: pretty; } .findings li:first-child { font-size: 1.25rem; font-weight: 600; }
.big { display: grid; gap: 1.25rem 2rem; margin: 1.75rem 0 1.25rem; padding: 0; list-style: none; }
.big strong { display: block; font-size: 1.75rem; line-height: 1.15; letter-spacing: -.02em; } .big .lead strong { color: var(--accent); } .big span { color: var(--quiet); }
@media (min-width: 440px) { .big { grid-template-columns: repeat(2, 1fr); } .big .lead { grid-column: 1 / -1; } }
@media (min-width: 1050px), print { .big { grid-template-columns: repeat(5, 1fr); } .big .lead { grid-column: auto; } }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 420px), 1fr)); gap: 1.75rem 3rem; align-items: start; } .columns > * { min-width: 0; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 200px), 1fr)); gap: 1rem 2rem; margin-top: 1.75rem; } .pair > * { min-width: 0; }
figure { margin: 0; } figcaption { color: var(--quiet); font-size: .875rem; margin-bottom: .5rem; }
.dots { list-style: none; margin: 0; padding: 0; font-size: .82rem; }
.dots li { display: grid; grid-template-columns: minmax(0, 10.5rem) minmax(0, 1fr) 3.4rem; gap: .6rem; align-items: center; line-height: 1.25; padding: .14rem 0; break-inside: avoid; }
.dots .name { text-wrap: balance; text-align: right; overflow-wrap: anywhere; } .dots li > data { text-align: right; }
.track { position: relative; height: 1.1rem; background: repeating-linear-gradient(to right, var(--line) 0 1px, transparent 1px calc(100% / var(--tenths))), linear-gradient(var(--line), var(--line)) right / 1px 100% no-repeat; }
.track i { position: absolute; top: 50%; } .track .line { height: 2px; margin-top: -1px; background: var(--quiet); opacity: .5; }
.track .men, .track .women { width: .55rem; height: .55rem; margin: -.275rem 0 0 -.275rem; background: var(--men); border-radius: 50%; }
.track .women { background: var(--women); border-radius: 0; rotate: 45deg; width: .5rem; height: .5rem; margin: -.25rem 0 0 -.25rem; }
.dots li, .map li { position: relative; } .dots li:focus-visible, .map li:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
.tip { position: absolute; z-index: 3; right: 0; top: 100%; width: max-content; max-width: 15rem; padding: .25rem .6rem; border-radius: 4px; background: var(--ink); color: var(--paper); font-size: .8rem; line-height: 1.35; pointer-events: none; clip-path: inset(50%); } .tip::after { content: attr(data-note); } .map .tip data { display: inline; font-size: 1em; }
.map .tip { right: auto; left: 0; text-align: left; } .map li:nth-child(n+20) .tip { left: auto; right: 0; } li:hover > .tip, li:focus > .tip { clip-path: none; } .map li:hover, .map li:focus { overflow: visible; z-index: 3; }
.take { margin: .5rem 0 0; display: flex; gap: .75rem; font-size: .8rem; } .take button { all: unset; cursor: pointer; color: var(--accent); text-decoration: underline; }
.axis .track { grid-column: 2; background: none; } .axis .track span { position: absolute; translate: -50%; color: var(--quiet); font-size: .75rem; }
.map { display: grid; grid-template-columns: repeat(14, 1fr); gap: 2px; list-style: none; margin: 0; padding: 0; font-size: clamp(.5rem, 2.1vw, .68rem); line-height: 1.2; }
.map li { aspect-ratio: 1; display: flex; flex-direction: column; align-items: center; justify-content: center; border-radius: 3px; overflow: hidden; } .map data { font-size: .9em; } .map .partial, .legend .partial { outline: 2px dashed currentColor; outline-offset: -3px; }
@media (min-width: 900px) { .map { font-size: .62rem; } }
.map li, .legend i, .track i, .bars i { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.step-none { background: var(--step-none); color: var(--ink-none); } .step-0 { background: var(--step-0); color: var(--ink-0); } .step-1 { background: var(--step-1); color: var(--ink-1); }
.step-2 { background: var(--step-2); color: var(--ink-2); } .step-3 { background: var(--step-3); color: var(--ink-3); } .step-4 { background: var(--step-4); color: var(--ink-4); } .step-5 { background: var(--step-5); color: var(--ink-5); }
.legend, .key { display: flex; flex-wrap: wrap; gap: .25rem .9rem; list-style: none; padding: 0; margin: .5rem 0 0; font-size: .85rem; color: var(--quiet); } .key { columns: 3 9rem; display: block; }
.legend i { display: inline-block; width: .9em; height: .9em; border-radius: 2px; margin-right: .35em; vertical-align: -.08em; border: 1px solid var(--line); }
.bars { margin: 0; } .bars dt { font-weight: 600; } .bars dd { margin: 0 0 .9rem; } .bars ul { list-style: none; margin: 0; padding: 0; } .bars li { display: flex; flex-wrap: wrap; align-items: center; gap: 0 .5rem; font-size: .875rem; }
.bars i { height: .9rem; flex: none; border-radius: 2px; background: var(--men); } .bars i.women { background: var(--women); }
.scroll { overflow-x: auto; margin-bottom: 1rem; } .tall { max-height: 38rem; overflow-y: auto; border-bottom: 1px solid var(--line); }
table { border-collapse: collapse; width: 100%; font-size: .875rem; }
caption { text-align: left; font-weight: 600; padding: .25rem 0; } th, td { text-align: left; padding: .3rem .9rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; font-weight: 400; }
th:last-child, td:last-child { padding-right: .15rem; }
thead th { color: var(--quiet); font-size: .8rem; border-bottom: 1px solid var(--quiet); vertical-align: bottom; } .tall thead th { position: sticky; top: 0; background: var(--paper); } .number { text-align: right; } td.number { white-space: nowrap; }
thead button { all: unset; cursor: pointer; } thead button:hover { color: var(--accent); } [aria-sort=ascending] button::after { content: " ↑"; } [aria-sort=descending] button::after { content: " ↓"; }
.controls { display: flex; flex-wrap: wrap; gap: .6rem 1rem; align-items: center; margin: 0 0 .75rem; font-size: .9rem; } .controls[hidden] { display: none; }
.controls input[type=search], .controls select { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--quiet); border-radius: 4px; padding: .35rem .5rem; min-width: 0; max-width: 100%; }
details { margin: .75rem 0; } summary { cursor: pointer; color: var(--accent); font-size: .9rem; }
summary:focus-visible, .scroll:focus-visible, a:focus-visible, button:focus-visible, input:focus-visible, select:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.doubts { list-style: none; padding: 0; margin: 1rem 0 0; } .doubts > li { overflow-wrap: anywhere; padding: .8rem 0; border-bottom: 1px solid var(--line); scroll-margin-top: 3rem; } .doubts > li:target { background: var(--card); }
.doubts ul { margin: 0; padding: 0; list-style: none; } .doubts ul li { margin-bottom: .35rem; max-width: 80ch; } .doubts details { margin: .3rem 0 0; }
.tag { display: inline-block; font-size: .75rem; font-weight: 600; padding: .05rem .45rem; border-radius: 99px; border: 1px solid currentColor; margin-right: .35rem; }
.error { color: var(--bad); } .warning { color: var(--women); } .new { background: var(--bad); color: var(--card); border-color: var(--bad); }
code, samp { font: .84em ui-monospace, SFMono-Regular, Consolas, monospace; overflow-wrap: anywhere; } #reconciliation code { overflow-wrap: break-word; }
.sample { position: sticky; top: 0; z-index: 2; margin: -1.5rem -1rem 1.25rem; max-width: none; padding: .45rem 1rem; background: var(--bad); color: var(--card); font-weight: 700; text-align: center; }
.made-up::after { content: attr(data-mark); position: fixed; inset: 0; z-index: 1; pointer-events: none; display: grid; place-items: center; font-size: min(11vw, 9rem); font-weight: 800; letter-spacing: .1em; color: var(--bad); opacity: .06; transform: rotate(-24deg); white-space: nowrap; }
@media (max-width: 480px) { .map data { display: none; } .map { font-size: .62rem; } .dots li { grid-template-columns: 7.5rem minmax(0, 1fr) 3.2rem; } .findings { font-size: 1.05rem; } .findings li:first-child { font-size: 1.15rem; } #all th:first-child { position: sticky; left: 0; background: var(--paper); z-index: 1; max-width: 8.5rem; } }
@page { size: A4; margin: 14mm 13mm 16mm; @bottom-right { content: counter(page) " / " counter(pages); font: 9px system-ui, sans-serif; color: #5d5b55; } }
@media print { :root { color-scheme: light; --paper: #fff; } html { font-size: 10.5px; background: #fff; } body { padding: 0; max-width: none; } .skip, .controls, .take, .tip { display: none; } .sample { position: static; margin: 0 0 1rem; }
  .tall { max-height: none; } .tall thead th { position: static; } thead { display: table-header-group; break-inside: avoid; } tr, .doubts > li, figure, .bars, .map { break-inside: avoid; } h2, h3, h2 + p, caption { break-after: avoid; } .columns table { break-inside: avoid; } section { margin-top: 1.5rem; padding-top: .75rem; }
  .columns { grid-template-columns: repeat(2, 1fr); gap: 1rem 1.5rem; } .pair { grid-template-columns: 1fr 1fr; gap: 1rem; margin-top: 1rem; font-size: .9em; } .scroll { overflow: visible; } .scroll:focus-visible { outline: none; }
  body:not(:has(#print-all:checked)) :is(#regencies, details:not([open])) { display: none; } details > summary { display: none; } #problems > details:not([open]), details.always { display: block !important; } #problems > details:not([open]) > summary, details.always > summary { display: block; } p:has(+ .columns) { break-after: avoid; } #districts .columns { break-inside: avoid; } body:has(#print-all:checked) details::details-content, details.always::details-content { content-visibility: visible; height: auto; } }
`;
