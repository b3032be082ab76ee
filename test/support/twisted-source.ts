/** A source that knows its records and answers as a test will; and the ways in which it may write a word. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import { startFaultServer, type FaultServer } from './fault-server.ts';
import type { SourceData } from './served-source.ts';

/** What a source does with one request: `honest` is the body of the answer that an honest one would give. */
export type Twist = (response: ServerResponse, honest: string, request: IncomingMessage) => void;

/** Listens until the present test is over. */
export async function startTwistedSource(nation: SourceData, twist: Twist): Promise<FaultServer> {
  const source = await openTwistedSource(nation, twist);
  onTestFinished(() => source.close());
  return source;
}

/** Listens until it is closed. */
export function openTwistedSource(nation: SourceData, twist: Twist): Promise<FaultServer> {
  return startFaultServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://source.test');
    const records = nation[pathname.replace('/api/', '') as keyof SourceData] ?? [];
    const partition = searchParams.get('id_dapil');
    const ofPartition = partition === null ? records : records.filter((record) => record['IdDapil'] === partition);
    const offset = Number(searchParams.get('offset'));
    const page = ofPartition.slice(offset, offset + Number(searchParams.get('limit')));
    twist(response, JSON.stringify({ count: page.length, data: page }), request);
  });
}

/** A word in every form in which a source could hand it back inside a JSON string. */
export function formsOf(word: string): string[] {
  const hex = (character: string): string => character.charCodeAt(0).toString(16);
  const each = (write: (character: string) => string): string => Array.from(word, write).join('');
  return [
    word,
    word.replaceAll('/', '\\/'),
    each((character) => `\\u00${hex(character)}`),
    each((character) => `\\u00${hex(character).toUpperCase()}`),
    encodeURIComponent(word),
    each((character) => `%${hex(character)}`),
    each((character) => `&#x${hex(character)};`),
  ];
}
