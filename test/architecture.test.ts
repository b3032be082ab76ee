/** Imports go downward only, stages don't import each other, and src/ names nothing of the bundled project. */

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pipelines } from './support/bundled.ts';

const root = join(import.meta.dirname, '..');
const stages = new Set(['extract', 'land', 'transform', 'load']);
/** Floors from the ground up. Below them is the ground, such as `project`, `kinds`, `source`, `warehouse` and `runtime`. */
const floors: readonly (readonly string[])[] = [
  [...stages],
  ['publish'],
  ['run', 'snapshots'],
  ['sync.ts', 'replay.ts', 'share', 'notify', 'serve'],
  ['diagnose'],
  // What a person or a program calls.
  ['cli', 'testing', 'index.ts'],
];

const files = ['src', 'pipelines'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => join(folder, path)),
);

/** Folders that contain folders. Imports between their files are checked like imports between folders. */
const parents = new Set(files.map((file) => dirname(dirname(file))));

/** Files of the project that a file imports, at load time or later. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(/(?:from|import|import\(|require\()\s*'(\.[^']+)'/g)].map(([, path]) =>
    relative(root, join(root, dirname(file), path!)),
  );
}

function stageOf(file: string): string | null {
  const [top, folder, rest] = file.split('/');
  return top === 'src' && rest !== undefined && stages.has(folder!) ? folder! : null;
}

/** Returns the number of the floor; 0 is the ground. */
function floorOf(file: string): number {
  return floors.findIndex((rooms) => rooms.includes(file.split('/')[1]!)) + 1;
}

describe('the import map', () => {
  const sources = files.filter((file) => file.startsWith('src/'));

  it('goes downward: no file imports from a higher floor', () => {
    const upward = sources.flatMap((file) =>
      importsOf(file)
        .filter((imported) => imported.startsWith('src/') && floorOf(imported) > floorOf(file))
        .map((imported) => `${file} -> ${imported}`),
    );
    expect(upward).toEqual([]);
  });

  it.each([
    ['file', (file: string) => file],
    ['folder', (file: string) => (parents.has(dirname(file)) ? file : dirname(file))],
    ['stage', (file: string) => file.split('/').slice(0, 2).join('/')],
  ] as const)('has no cycles between %ss, not even of types', (_what, roomOf) => {
    const ways = new Map<string, Set<string>>();
    for (const file of files) {
      const room = roomOf(file);
      const targets = importsOf(file)
        .map(roomOf)
        // Between the files of one folder it is the other case that looks.
        .filter((target) => target !== room || target === file);
      ways.set(room, new Set([...(ways.get(room) ?? []), ...targets]));
    }
    const done = new Set<string>();
    const circles: string[] = [];
    const visit = (room: string, way: readonly string[]): void => {
      if (way.includes(room)) circles.push([...way.slice(way.indexOf(room)), room].join(' -> '));
      else if (!done.has(room)) for (const next of ways.get(room) ?? []) visit(next, [...way, room]);
      done.add(room);
    };
    for (const room of ways.keys()) visit(room, []);
    expect(circles).toEqual([]);
  });

  it('has no import between stages', () => {
    const sideways = sources.flatMap((file) =>
      importsOf(file)
        .filter(
          (imported) => stageOf(file) !== null && stageOf(imported) !== null && stageOf(imported) !== stageOf(file),
        )
        .map((imported) => `${file} -> ${imported}`),
    );
    expect(sideways).toEqual([]);
  });

  it('imports no pipeline', () => {
    const named = sources.filter((file) => importsOf(file).some((imported) => imported.startsWith('pipelines/')));
    expect(named).toEqual([]);
  });

  it('has no folder for miscellaneous code', () => {
    expect(files.filter((file) => /(^|\/)(utils?|common|helpers?|core)(\/|\.ts$)/.test(file))).toEqual([]);
  });
});

describe('src/', () => {
  it('names no endpoint, field, table or subject of the bundled project', () => {
    const names = pipelines.flatMap(({ path, columns, table }) => [
      path,
      table,
      ...Object.values(columns).map(({ field }) => field),
    ]);
    const exact = new RegExp(`(?<![\\w/])(?:${[...new Set(names)].join('|')})(?!\\w)`);
    // Within a name of several words too; "selection" has none of them.
    const words = /(?<![a-z])(?:dapils?|elections?|regenc(?:y|ies)|voters?)(?![a-z])/i;
    const named = files
      .filter((file) => file.startsWith('src/'))
      .flatMap((file) =>
        readFileSync(join(root, file), 'utf8')
          .split('\n')
          .flatMap((line, place) =>
            exact.test(line) || words.test(line) ? [`${file}:${place + 1}: ${line.trim()}`] : [],
          ),
      );
    expect(named).toEqual([]);
  });

  it('has a comment at the top of each file', () => {
    const silent = files.filter((file) => !/^(#!.*\n)?\/\*\*/.test(readFileSync(join(root, file), 'utf8')));
    expect(silent).toEqual([]);
  });
});

describe('the SQL files', () => {
  it.each(['models', 'checks'])('of %s each begin with a comment', (folder) => {
    const found = readdirSync(join(root, 'pipelines', folder));
    expect(found).not.toEqual([]);
    for (const file of found) {
      expect(file).toMatch(/\.sql$/);
      expect(readFileSync(join(root, 'pipelines', folder, file), 'utf8'), file).toMatch(/^-- .+\n/);
    }
  });
});

it('reads `process` only in the command line, with the exceptions of CONTRIBUTING.md', () => {
  const readers = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.startsWith('cli'))
    .filter((path) =>
      /\bprocess\./.test(readFileSync(join(root, 'src', path), 'utf8').replaceAll(/^ *(\*|\/\/|\/\*\*).*$/gm, '')),
    );
  expect(readers.toSorted()).toEqual(['runtime/database.ts', 'snapshots/query/write-aside.ts']);
});

it('names every export of the public API', () => {
  expect(readFileSync(join(root, 'src/index.ts'), 'utf8')).not.toMatch(/^export \*/m);
});

describe('the tests', () => {
  it('share their modules, except those that replace one', () => {
    const replacing = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.test.ts'))
      .filter((path) =>
        /^ *(vi\.(do)?[mM]ock|syncBuiltinESMExports)\(/m.test(readFileSync(join(root, 'test', path), 'utf8')),
      );
    const config = readFileSync(join(root, 'vitest.config.ts'), 'utf8');
    const alone = [...config.matchAll(/'test\/([^'*]+\.test\.ts)'/g)].map(([, path]) => path!);
    expect(alone.toSorted()).toEqual(replacing.toSorted());
  });
});
