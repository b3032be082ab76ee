/** Warns of a key that would travel unencrypted. */

/** What to say of a base URL over which the key can be read on its way; null where it is encrypted or does not leave the machine. */
export function warnOfPlainHttp(baseUrl: string): string | null {
  const { protocol, hostname } = new URL(baseUrl);
  const isHere = /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
  if (protocol === 'https:' || isHere) return null;
  return `The API key goes to ${hostname} unencrypted, for --base-url begins with http; whoever is on the way can read it and change the figures. Use https where the service has it.`;
}
