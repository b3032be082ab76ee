/** Stylesheet of the default report, for light and dark screens and for print. */

export const style = `
:root { color-scheme: light dark; --paper: #fbfaf7; --ink: #1d1d1b; --quiet: #5d5b55; --line: #d9d5cb; --bad: #a3201a; --accent: #0b6e8f; }
@media (prefers-color-scheme: dark) { :root { --paper: #16181a; --ink: #ecebe6; --quiet: #aba79d; --line: #3a3e42; --bad: #ff9a8f; --accent: #5cc1de; } }
* { box-sizing: border-box; }
html { font: 16px/1.5 system-ui, "Segoe UI", Roboto, Helvetica, Arial, sans-serif; background: var(--paper); color: var(--ink); }
body { margin: 0 auto; max-width: 1080px; padding: 1.5rem 1rem 4rem; }
h1 { font-size: clamp(1.7rem, 5vw, 2.4rem); line-height: 1.15; margin: 0 0 .25rem; text-wrap: balance; }
h2 { font-size: 1.35rem; margin: 0 0 .75rem; }
p { margin: 0 0 .75rem; max-width: 68ch; text-wrap: pretty; }
.quiet { color: var(--quiet); }
section { margin-top: 2.5rem; padding-top: 1.25rem; border-top: 3px solid var(--ink); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); gap: 1.25rem 2rem; margin: 1.75rem 0; padding: 0; list-style: none; }
.tiles strong { display: block; font-size: 1.75rem; line-height: 1.15; color: var(--accent); font-variant-numeric: tabular-nums; } .tiles span { color: var(--quiet); }
.scroll { overflow-x: auto; margin-bottom: 1rem; }
table { border-collapse: collapse; width: 100%; font-size: .875rem; }
caption { text-align: left; font-weight: 600; padding: .25rem 0; }
th, td { text-align: left; padding: .3rem .9rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; font-weight: 400; overflow-wrap: anywhere; }
thead th { color: var(--quiet); font-size: .8rem; border-bottom-color: var(--quiet); overflow-wrap: normal; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td > code { white-space: nowrap; }
details { margin: .75rem 0; } summary { cursor: pointer; color: var(--accent); font-size: .9rem; }
summary:focus-visible, .scroll:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
code, samp { font: .9em ui-monospace, SFMono-Regular, Consolas, monospace; overflow-wrap: anywhere; }
.sample { margin: -1.5rem -1rem 1.25rem; max-width: none; padding: .45rem 1rem; background: var(--bad); color: var(--paper); font-weight: 700; text-align: center; }
@media print { :root { color-scheme: light; --paper: #fff; } html { font-size: 11px; } body { padding: 0; max-width: none; } tr { break-inside: avoid; } .scroll { overflow: visible; } }
`;
