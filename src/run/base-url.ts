/** What is wrong with the base URL of a service, or may be, before anything is asked of it. */

import { RekapError } from '../errors.ts';
import { hideCredentials } from '../runtime/text.ts';

type Endpoints = readonly { readonly endpoint: string }[];

const asWritten = 'Write it as https://host or https://host/path.';

/**
 * The base URL of a service as requests and the warehouse's memory go by it: without a slash at its end. An endpoint is refused: whoever
 * copies an address from the service's own pages copies it too, and every request would be "not found".
 *
 * @throws `usage` where it is none.
 */
export function readBaseUrl(given: string, endpoints: Endpoints): string {
  if (!URL.canParse(given))
    throw new RekapError(
      'usage',
      `The base URL ${JSON.stringify(hideCredentials(given))} (--base-url) is no URL.`,
      asWritten,
    );
  const url = new URL(given);
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new RekapError(
      'usage',
      given.startsWith(`${url.protocol}//`)
        ? `The base URL (--base-url) begins with ${url.protocol}//.`
        : 'The base URL (--base-url) begins with neither https:// nor http://.',
      asWritten,
    );
  if (url.username !== '' || url.password !== '')
    throw new RekapError(
      'usage',
      'The base URL (--base-url) holds a user name or a password.',
      'Leave them out; the key goes into REKAP_API_KEY.',
    );
  if (url.search !== '' || url.hash !== '')
    throw new RekapError(
      'usage',
      'The base URL (--base-url) holds a query or a fragment.',
      'Give the part before the first ? or #.',
    );
  const baseUrl = url.origin + url.pathname.replace(/\/+$/, '');
  const found = endpoints.find(({ endpoint }) => baseUrl.endsWith(endpoint));
  if (found !== undefined)
    throw new RekapError(
      'usage',
      `The base URL (--base-url) ends with the endpoint ${found.endpoint}.`,
      `Leave it out, for it is added: --base-url ${baseUrl.slice(0, -found.endpoint.length)}`,
    );
  return baseUrl;
}

/** What to say of a base URL that may not be meant so. */
export function warningsOfBaseUrl(baseUrl: string, endpoints: Endpoints): string[] {
  return [warnOfPlainHttp(baseUrl), warnOfFolder(baseUrl, endpoints)].filter((warning) => warning !== null);
}

/** Whether a host name, or an address with or without brackets, leads to this machine alone. */
export function isLoopback(host: string): boolean {
  return /^(localhost|.*\.localhost|127(\.\d+){3}|\[?::1\]?|(0+:){7}0*1|::ffff:127(\.\d+){3})$/i.test(host);
}

/** A key that would travel unencrypted; null where it is encrypted or does not leave the machine. */
function warnOfPlainHttp(baseUrl: string): string | null {
  const { protocol, hostname } = new URL(baseUrl);
  if (protocol === 'https:' || isLoopback(hostname)) return null;
  return `The API key goes to ${hostname} unencrypted, for --base-url begins with http; whoever is on the way can read it and change the figures. Use https where the service has it.`;
}

/** The folder of the endpoints, which would then be asked for twice. */
function warnOfFolder(baseUrl: string, endpoints: Endpoints): string | null {
  for (const { endpoint } of endpoints) {
    const folder = endpoint.slice(0, endpoint.lastIndexOf('/'));
    if (folder !== '' && baseUrl.endsWith(folder))
      return `--base-url ends with ${folder}, as every endpoint begins: ${baseUrl}${endpoint} is what will be asked. Leave ${folder} out unless that is meant.`;
  }
  return null;
}
