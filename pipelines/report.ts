/** Draws the report of a snapshot: one HTML page that loads nothing from the network. */

import { createHash } from 'node:crypto';
import { Printer } from './report/figure.ts';
import { type Election, readElection } from './report/election.ts';
import { readLists, readNation, readWithoutCode } from './report/figures.ts';
import { readDistricts, readProvinces, readRanking, readRegencies } from './report/places.ts';
import { RekapError } from '../src/errors.ts';
import { Html, html } from '../src/runtime/html.ts';
import type { Page } from './report/page.ts';
import { readChains, readLinks, readProblems, readRestated } from './report/problem-figures.ts';
import { anchorsOf, problemsSection } from './report/problems-section.ts';
import { script } from './report/page-script.ts';
import { regenciesSection } from './report/regencies-section.ts';
import { style } from './report/style.ts';
import { carriedNote, methodSection, restatedSection, sumsSection, trustSection } from './report/trust-section.ts';
import { districtsSection, findings, listsSection, nationSection, provincesSection } from './report/turnout-section.ts';
import { english, type Words } from './report/words-english.ts';
import { indonesian } from './report/words-indonesian.ts';
import type { Language } from '../src/project/sql-file.ts';
import type { ReportFacts } from '../src/report/own-sections.ts';

const words: Readonly<Record<Language, Words>> = { en: english, id: indonesian };

/** Returns the page; null if the snapshot has no regencies. Throws `usage` if another release made the snapshot. */
export async function drawReport(facts: ReportFacts): Promise<string | null> {
  const { project, database, manifest, responses, language } = facts;
  const [view] = await database.rows("SELECT 1 FROM duckdb_views() WHERE view_name = 'turnout_sums'");
  if (view === undefined)
    throw new RekapError(
      'usage',
      `Snapshot ${manifest.snapshot} was built by another release of rekap, with views that this report does not support.`,
      `Roll back to another snapshot. The report.html in its folder is still valid.`,
    );
  const election = await readElection(database);
  if (election === null) return null;
  const page: Page = { own: words[language], print: new Printer(language), election, manifest, responses, project };
  const pin = facts.pinned === null ? null : pinNotice(page, facts.pinned);
  return frame(page, language, html`${pin}${await sections(page, facts, election)}`).text;
}

function pinNotice({ own, manifest }: Page, pinned: string): Html {
  return html`<p>
    <strong>${pinned === manifest.snapshot ? own.pinned : own.otherPinned(html`<code>${pinned}</code>`)}</strong>
  </p>`;
}

async function sections(page: Page, { database, manifest, language }: ReportFacts, election: Election): Promise<Html> {
  const { project } = page;
  const { snapshot } = manifest;
  const nation = await readNation(database, election);
  const provinces = await readProvinces(database, election);
  const regencies = await readRegencies(database, election);
  const problems = await readProblems(database, project, election, { snapshot, language });
  const rankings = {
    highest: await readRanking(database, election, 'DESC'),
    lowest: await readRanking(database, election, 'ASC'),
  };
  const links = await readLinks(database, project, election);
  const left = { name: 'finding.regencies_left', count: nation.both.regencies.count! - BigInt(regencies.length) };
  return html`${findings(page, nation, provinces, problems)} ${nationSection(page, nation)}
  ${provincesSection(page, provinces, rankings)}
  ${regenciesSection(page, regencies, { left, anchors: anchorsOf(problems) })}
  ${districtsSection(page, await readDistricts(database, election), problems)}
  ${listsSection(page, await readLists(database, election), await readChains(database, election, links))}
  ${problemsSection(page, problems)} ${sumsSection(page, links)}
  ${restatedSection(page, await readRestated(database, election, snapshot))} ${trustSection(page)}
  ${methodSection(page, await readWithoutCode(database, election))}`;
}

/** Says in a chart that is taken away where it is from. */
function chartSource({ own, manifest }: Page, title: string): string {
  const isSample = manifest.source === 'sample';
  return `${isSample ? `${own.sample}. ` : ''}${title}. ${isSample ? '' : `${manifest.source}, `}${own.snapshot} ${manifest.snapshot}`;
}

function frame(page: Page, language: Language, content: Html): Html {
  const { own, election, manifest } = page;
  const isSample = manifest.source === 'sample';
  const title = `${own.title}: ${election.title}`;
  const scriptHash = createHash('sha256').update(script).digest('base64');
  const policy = `default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${scriptHash}'; img-src data:; base-uri 'none'; form-action 'none'`;
  return html`<!doctype html>
<html lang="${language}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${new Html(policy)}">
<title>${title}</title><link rel="icon" href="data:,"><style>${new Html(style)}</style></head>
<body${isSample ? html` class="made-up" data-mark="${own.mark}"` : null}>
<a class="skip" href="#figures">${own.skip}</a>
<header>${isSample ? html`<p class="sample">${own.sample}</p>` : null}
<h1>${title}</h1>
<p class="quiet">${own.read(isSample ? html`${own.madeUp}` : html`<code>${manifest.source}</code>`, page.print.time(manifest.created_at))}</p>
${carriedNote(page)}
${election.others.length === 0 ? null : html`<p class="quiet">${own.otherElections(election.others.join(', '))}</p>`}
<label class="controls quiet"><input type="checkbox" id="print-all"> ${own.printAll}</label></header>
<main id="figures" data-source="${chartSource(page, title)}">
${content}
</main>
<footer class="quiet"><p>${own.snapshot} <code>${manifest.snapshot}</code>, <code>rekap ${manifest.tool.version}</code></p></footer>
<script>${new Html(script)}</script>
</body></html>
`;
}
