/** The look of the report: light and dark, on paper, on a telephone and on a desk. */

export const style = `
:root { color-scheme: light dark; --paper: #fbfaf7; --card: #fff; --ink: #1d1d1b; --quiet: #5d5b55; --line: #d9d5cb; --men: #0b6e8f; --women: #b8480f;
  --bad: #a3201a; --good: #256b2f; --accent: #0b6e8f; --none: #e6e3da; --ink-none: #1d1d1b;
  --step-none: #e6e3da; --step-0: #d7e8ec; --step-1: #aed4dd; --step-2: #79b8c8; --step-3: #23809c; --step-4: #0f5f7a; --step-5: #0a4257;
  --ink-0: #1d1d1b; --ink-1: #1d1d1b; --ink-2: #1d1d1b; --ink-3: #fff; --ink-4: #fff; --ink-5: #fff; }
@media (prefers-color-scheme: dark) { :root { --paper: #16181a; --card: #1f2225; --ink: #ecebe6; --quiet: #aba79d; --line: #3a3e42; --men: #5cc1de; --women: #f39a63;
  --bad: #ff9a8f; --good: #8fd39a; --accent: #5cc1de; --none: #33373a; --ink-none: #ecebe6;
  --step-none: #33373a; --step-0: #17313a; --step-1: #1c4652; --step-2: #22616f; --step-3: #2f8ba3; --step-4: #63b9cf; --step-5: #a7dfec;
  --ink-0: #fff; --ink-1: #fff; --ink-2: #fff; --ink-3: #111; --ink-4: #111; --ink-5: #111; } }
* { box-sizing: border-box; }
html { font: 16px/1.5 system-ui, "Segoe UI", Roboto, Helvetica, Arial, sans-serif; background: var(--paper); color: var(--ink); -webkit-text-size-adjust: 100%; }
body { margin: 0 auto; max-width: 1368px; padding: 1.5rem 1rem 4rem; }
h1 { font-size: clamp(1.7rem, 5vw, 2.6rem); line-height: 1.15; margin: 0 0 .25rem; letter-spacing: -.02em; }
h2 { font-size: 1.35rem; margin: 0 0 .75rem; letter-spacing: -.01em; } h3 { font-size: 1.05rem; margin: 0 0 .5rem; }
p { margin: 0 0 .75rem; max-width: 68ch; } a { color: var(--accent); }
.quiet { color: var(--quiet); } .skip { position: absolute; left: -999px; } .skip:focus { left: 1rem; top: .5rem; background: var(--card); padding: .5rem; }
section { margin-top: 2.5rem; padding-top: 1.25rem; border-top: 3px solid var(--ink); }
.big { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 235px), 1fr)); gap: 1rem 1.5rem; margin: 1.5rem 0; padding: 0; list-style: none; }
.big strong { display: block; font-size: clamp(1.9rem, 6vw, 2.35rem); line-height: 1.1; letter-spacing: -.03em; font-variant-numeric: tabular-nums; }
.big .lead strong { color: var(--accent); } .big span { color: var(--quiet); }
.men { color: var(--men); } .women { color: var(--women); }
.columns > * { min-width: 0; } .columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 400px), 1fr)); gap: 1.75rem 2.5rem; align-items: start; }
figure { margin: 0; } figcaption { color: var(--quiet); font-size: .875rem; margin-bottom: .5rem; }
.chart { display: block; width: 100%; max-width: 480px; height: auto; font-family: inherit; font-variant-numeric: tabular-nums; }
.legend { display: flex; flex-wrap: wrap; gap: .25rem .9rem; list-style: none; padding: 0; margin: .5rem 0 0; font-size: .85rem; color: var(--quiet); }
.legend i { display: inline-block; width: .9em; height: .9em; border-radius: 2px; margin-right: .35em; vertical-align: -.08em; border: 1px solid var(--line); }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .875rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: .25rem 0; } th, td { text-align: left; padding: .3rem .75rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; font-weight: 400; }
thead th { color: var(--quiet); font-size: .8rem; border-bottom: 1px solid var(--quiet); white-space: nowrap; } .number { text-align: right; white-space: nowrap; }
details { margin: .75rem 0; } summary { cursor: pointer; color: var(--accent); font-size: .9rem; } summary:focus-visible, .scroll:focus-visible, a:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.doubts { list-style: none; padding: 0; margin: 0; } .doubts > li { overflow-wrap: anywhere; padding: .6rem 0; border-bottom: 1px solid var(--line); }
.tag { display: inline-block; font-size: .75rem; font-weight: 600; padding: .05rem .45rem; border-radius: 99px; border: 1px solid currentColor; margin-right: .35rem; }
.error { color: var(--bad); } .warning { color: var(--women); } .new { background: var(--bad); color: var(--card); border-color: var(--bad); } .good { color: var(--good); }
code { font: .82em ui-monospace, SFMono-Regular, Consolas, monospace; overflow-wrap: anywhere; }
.sample { position: sticky; top: 0; z-index: 2; margin: -1.5rem -1rem 1.25rem; max-width: none; padding: .45rem 1rem; background: var(--bad); color: var(--card); font-weight: 700; text-align: center; }
.made-up::after { content: attr(data-mark); position: fixed; inset: 0; z-index: 1; pointer-events: none; display: grid; place-items: center; font-size: min(11vw, 9rem); font-weight: 800; letter-spacing: .1em; color: var(--bad); opacity: .07; transform: rotate(-24deg); white-space: nowrap; }
@media print { :root { color-scheme: light; --paper: #fff; } html { font-size: 11px; background: #fff; } body { padding: 0; max-width: none; } .skip { display: none; } .sample { position: static; margin: 0 0 1rem; }
  section { break-inside: auto; } figure, tr, .doubts > li { break-inside: avoid; } h2, h3 { break-after: avoid; } .columns { grid-template-columns: repeat(2, 1fr); gap: 1rem 1.5rem; } summary { display: none; } .scroll { overflow: visible; } }
`;
