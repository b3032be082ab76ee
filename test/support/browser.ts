/** A real browser for tests of pages; a test that finds none is skipped and says so. */

import { existsSync } from 'node:fs';
import axe from 'axe-core';
import { chromium, type Browser, type Page } from 'playwright-core';

const programs = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The Chromium of this machine; null where there is none. */
export const chromiumProgram =
  [process.env['REKAP_CHROMIUM'] ?? '', ...programs].find((path) => path !== '' && existsSync(path)) ?? null;

export const openBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: chromiumProgram!, args: ['--no-sandbox', '--disable-gpu'] });

/** What a page does that nobody sees: requests, errors, and what axe-core finds serious. */
export interface Behaviour {
  readonly requests: readonly string[];
  readonly errors: readonly string[];
  readonly faults: readonly string[];
  /** Pixels by which it is wider than the window. */
  readonly tooWide: number;
}

export interface Look {
  readonly width: number;
  readonly colorScheme: 'light' | 'dark';
}

interface AxeResult {
  violations: { id: string; impact: string | null; nodes: { target: string[] }[] }[];
}

/** Opens an address and looks at it as one who cannot see it, and as the network does. */
export async function behaviourOf(browser: Browser, address: string, { width, colorScheme }: Look): Promise<Behaviour> {
  const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
  const requests: string[] = [];
  const errors: string[] = [];
  page.on('request', (request) => {
    const url = request.url();
    if (url !== address && !url.startsWith('data:')) requests.push(url);
  });
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(error.message));
  try {
    await page.goto(address);
    const tooWide = await evaluate<number>(page, 'document.documentElement.scrollWidth - innerWidth');
    await evaluate(page, axe.source);
    const { violations } = await evaluate<AxeResult>(page, 'axe.run()');
    const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
    return {
      requests,
      errors,
      faults: serious.map(({ id, nodes }) => `${id}: ${nodes[0]?.target.join(' ')}`),
      tooWide: Math.max(0, tooWide),
    };
  } finally {
    await page.close();
  }
}

function evaluate<Value>(page: Page, script: string): Promise<Value> {
  return page.evaluate(script);
}
