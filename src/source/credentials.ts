/** Puts the secret where the source expects it: in a header or in a query parameter. */

import type { Secret } from './secret.ts';
import type { Auth } from '../project/declaration.ts';

export interface Credentials {
  readonly headers: Readonly<Record<string, string>>;
  /** Added to each request when it is sent, but never stored or printed. */
  readonly query: string | null;
}

export function credentialsOf(auth: Auth | null, secret: Secret): Credentials {
  const headers = (values: Record<string, string>): Credentials => ({ headers: values, query: null });
  if (auth === null) return headers({});
  if ('header' in auth) return headers({ [auth.header.toLowerCase()]: secret.reveal() });
  if ('bearer' in auth) return headers({ authorization: `Bearer ${secret.reveal()}` });
  if ('basic' in auth) return headers({ authorization: `Basic ${encodeBasic(secret.reveal())}` });
  return { headers: {}, query: `${encodeURIComponent(auth.query)}=${encodeURIComponent(secret.reveal())}` };
}

export function encodeBasic(userAndPassword: string): string {
  return Buffer.from(userAndPassword).toString('base64');
}
