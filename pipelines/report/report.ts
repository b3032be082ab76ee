/** The report of a snapshot: one HTML page that asks the network for nothing. Takes what is known of the snapshot, gives the page. */

import { readFigures } from './figures.ts';
import { Html, html } from '../../src/runtime/html.ts';
import { minute, type Page } from './page.ts';
import { style } from './style.ts';
import { trust } from './trust-section.ts';
import { districts, lists, nation, places } from './turnout-section.ts';
import { words } from './words.ts';
import type { Project, ReportFacts } from '../../src/pipeline.ts';

export async function makeReport(project: Project, facts: ReportFacts): Promise<string | null> {
  const { database, manifest, answers, language } = facts;
  const figures = await readFigures(database, project, { snapshot: manifest.snapshot, language });
  if (figures === null) return null;
  const locale = language === 'en' ? 'en-US' : 'id-ID';
  const decimals = new Intl.NumberFormat(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
  const whole = new Intl.NumberFormat(locale);
  return render({
    own: words[language],
    language,
    figures,
    manifest,
    answers,
    project,
    number: (value) => whole.format(value),
    percent: (value) => (value === null ? '–' : `${decimals.format(value)} %`),
  }).text;
}

function render(page: Page): Html {
  const { own, language, figures, manifest } = page;
  const isSample = manifest.source === 'sample';
  const title = `${own.title}: ${figures.election}`;
  const policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";
  return html`<!doctype html>
<html lang="${language}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${new Html(policy)}">
<title>${title}</title><link rel="icon" href="data:,"><style>${new Html(style)}</style></head>
<body${isSample ? html` class="made-up" data-mark="${own.mark}"` : null}>
<a class="skip" href="#figures">${own.skip}</a>
<header>${isSample ? html`<p class="sample">${own.sample}</p>` : null}
<h1>${title}</h1>
<p class="quiet">${own.read(isSample ? own.madeUp : manifest.source, minute(manifest.created_at))}</p></header>
<main id="figures">
${nation(page)}
${places(page)}
${districts(page)}
${lists(page)}
${trust(page)}
</main>
<footer class="quiet"><p>${own.snapshot} <code>${manifest.snapshot}</code>, rekap ${manifest.tool.version}</p></footer>
</body></html>
`;
}
