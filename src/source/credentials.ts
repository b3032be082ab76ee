/** Puts the secret where the source expects it: in a header or in a query parameter. */

import type { Client } from './oauth.ts';
import { Secret } from './secret.ts';
import type { AnyPipeline, Auth } from '../project/declaration.ts';

export interface Credentials {
  readonly headers: Readonly<Record<string, string>>;
  /** Puts the key into the path or the query of a request when it is sent. It is never stored or printed there. */
  place(path: string): string;
}

export function credentialsOf(auth: Auth | null, secret: Secret): Credentials {
  const headers = (values: Record<string, string>): Credentials => ({ headers: values, place: (path) => path });
  if (auth === null) return headers({});
  if ('header' in auth) return headers({ [auth.header.toLowerCase()]: `${auth.prefix ?? ''}${secret.reveal()}` });
  // Without a colon, the key is a token already.
  if ('bearer' in auth || 'oauth2' in auth) return headers({ authorization: `Bearer ${secret.reveal()}` });
  if ('basic' in auth) return headers({ authorization: `Basic ${encodeBasic(secret.reveal())}` });
  const value = encodeURIComponent(secret.reveal());
  const slot = `{${auth.query}}`;
  return {
    headers: {},
    place: (path) =>
      path.includes(slot)
        ? path.replaceAll(slot, () => value)
        : `${path}${path.includes('?') ? '&' : '?'}${encodeURIComponent(auth.query)}=${value}`,
  };
}

/** Returns the declared headers, in lower case. Those from a variable go only with the secret. */
export function declaredHeaders(declared: AnyPipeline['headers'] = {}, secret: Secret | null): Record<string, string> {
  return Object.fromEntries(
    Object.entries(declared).flatMap(([name, given]) => {
      const value = typeof given === 'string' ? given : secret?.variables[given.variable];
      return value === undefined ? [] : [[name.toLowerCase(), value]];
    }),
  );
}

/**
 * Returns the key of a source with its other forms: encoded for basic authentication, and the password alone.
 * @param variables Secrets of declared headers, by the name of their variable.
 */
export function keyOf(key: string, auth: Auth | null, variables: Readonly<Record<string, string>> = {}): Secret {
  const also = Object.values(variables).flatMap((value) => [value, ...afterScheme(value)]);
  if (auth === null || !('basic' in auth || 'oauth2' in auth))
    return new Secret(key, [...also, ...afterScheme(key)], variables);
  const password = key.slice(key.indexOf(':') + 1);
  // A short one could occur in the data by chance.
  const own = [encodeBasic(key), ...(/^.{8,}$/.test(password) && !/^\d+$/.test(password) ? [password] : [])];
  return new Secret(key, [...also, ...own], variables);
}

/** Returns what follows the name of a scheme, such as "Token". */
function afterScheme(value: string): string[] {
  const [, token] = /^\S+ (\S{8,})$/.exec(value) ?? [];
  return token === undefined ? [] : [token];
}

function encodeBasic(userAndPassword: string): string {
  return Buffer.from(userAndPassword).toString('base64');
}

/** Returns the client whose tokens authorize requests; null if the key itself does. */
export function clientOf(auth: Auth | null, secret: Secret): Client | null {
  const [, id, password] = /^([^:]+):(.+)$/.exec(secret.reveal()) ?? [];
  if (auth === null || !('oauth2' in auth) || id === undefined || password === undefined) return null;
  const { tokenUrl: url, scope, audience } = auth.oauth2;
  return { id, secret: new Secret(password), url, scope, audience };
}
