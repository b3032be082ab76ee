/** Checks the base URL of a service before any request. */

import { RekapError } from '../errors.ts';
import { hideCredentials } from '../runtime/text.ts';

type Endpoints = readonly { readonly path: string }[];

const asWritten = 'Use a URL such as https://host or https://host/path.';

/**
 * Returns a base URL without a trailing slash. Refuses a URL with an endpoint, which is easily copied from the pages of a service: every
 * request would be "not found".
 *
 * @throws `usage` if it isn't a base URL.
 */
export function readBaseUrl(given: string, endpoints: Endpoints): string {
  const refuse = (what: string, next = asWritten) => new RekapError('usage', `The base URL ${what}`, next);
  if (!URL.canParse(given)) throw refuse(`${JSON.stringify(hideCredentials(given))} (--base-url) is not a URL.`);
  const url = new URL(given);
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw refuse(
      given.startsWith(`${url.protocol}//`)
        ? `(--base-url) starts with ${url.protocol}//.`
        : '(--base-url) does not start with https:// or http://.',
    );
  if (url.username !== '' || url.password !== '')
    throw refuse(
      '(--base-url) contains a user name or a password.',
      'Remove them, and set the API key in REKAP_API_KEY.',
    );
  if (url.search !== '' || url.hash !== '')
    throw refuse('(--base-url) contains a query or a fragment.', 'Use only the part before the first ? or #.');
  const baseUrl = url.origin + url.pathname.replace(/\/+$/, '');
  const found = endpoints.find(({ path }) => baseUrl.endsWith(path));
  if (found === undefined) return baseUrl;
  throw refuse(
    `(--base-url) ends with the endpoint ${found.path}.`,
    `rekap adds the endpoint. Remove it: --base-url ${baseUrl.slice(0, -found.path.length)}`,
  );
}

export function warningsOfBaseUrl(baseUrl: string, endpoints: Endpoints): string[] {
  return [warnOfPlainHttp(baseUrl), warnOfFolder(baseUrl, endpoints)].filter((warning) => warning !== null);
}

/** Returns whether a host name, or an address with or without brackets, is this machine. */
export function isLoopback(host: string): boolean {
  return /^(localhost|.*\.localhost|127(\.\d+){3}|\[?::1\]?|(0+:){7}0*1|::ffff:127(\.\d+){3})$/i.test(host);
}

function warnOfPlainHttp(baseUrl: string): string | null {
  const { protocol, hostname } = new URL(baseUrl);
  if (protocol === 'https:' || isLoopback(hostname)) return null;
  return `The API key is sent to ${hostname} without encryption, because --base-url starts with http. Others on the network can read the key and change the figures. Use https if the service supports it.`;
}

function warnOfFolder(baseUrl: string, endpoints: Endpoints): string | null {
  for (const { path } of endpoints) {
    const folder = path.slice(0, path.lastIndexOf('/'));
    if (folder !== '' && baseUrl.endsWith(folder))
      return `--base-url ends with ${folder}, and every endpoint starts with it, so rekap requests ${baseUrl}${path}. If that is wrong, remove ${folder}.`;
  }
  return null;
}
