/** Where a source wants its secret: in a header, or in a parameter of the query. It goes nowhere else. */

import type { Secret } from './secret.ts';
import type { Auth } from '../project/declaration.ts';

export interface Credentials {
  readonly headers: Readonly<Record<string, string>>;
  /** Added to the query of each request as it is sent, and to nothing that is kept or told. */
  readonly query: string | null;
}

/** @param auth Null for a source that needs no secret. */
export function credentialsOf(auth: Auth | null, secret: Secret): Credentials {
  const headers = (values: Record<string, string>): Credentials => ({ headers: values, query: null });
  if (auth === null) return headers({});
  if ('header' in auth) return headers({ [auth.header.toLowerCase()]: secret.reveal() });
  if ('bearer' in auth) return headers({ authorization: `Bearer ${secret.reveal()}` });
  if ('basic' in auth) return headers({ authorization: `Basic ${encodeBasic(secret.reveal())}` });
  return { headers: {}, query: `${encodeURIComponent(auth.query)}=${encodeURIComponent(secret.reveal())}` };
}

/** `user:password` as RFC 7617 sends it. */
export function encodeBasic(userAndPassword: string): string {
  return Buffer.from(userAndPassword).toString('base64');
}
