/** What is wrong with a base URL, or may be, before anything is asked of it. */

import { UsageError } from '../errors.ts';

type Endpoints = readonly { readonly endpoint: string }[];

/** Refuses an endpoint: whoever copies an address from the service's own pages copies it too, and every request would be "not found". */
export function refuseEndpoint(baseUrl: string, endpoints: Endpoints): void {
  const found = endpoints.find(({ endpoint }) => baseUrl.endsWith(endpoint));
  if (found === undefined) return;
  throw new UsageError(
    `--base-url ends with the endpoint ${found.endpoint}.`,
    `Leave it out, for it is added: --base-url ${baseUrl.slice(0, -found.endpoint.length)}`,
  );
}

/** What to say of a base URL that may not be meant so. */
export function warningsOfBaseUrl(baseUrl: string, endpoints: Endpoints): string[] {
  return [warnOfPlainHttp(baseUrl), warnOfFolder(baseUrl, endpoints)].filter((warning) => warning !== null);
}

/** A key that would travel unencrypted; null where it is encrypted or does not leave the machine. */
function warnOfPlainHttp(baseUrl: string): string | null {
  const { protocol, hostname } = new URL(baseUrl);
  const isHere = /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
  if (protocol === 'https:' || isHere) return null;
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
