/** Makes docs/reference/program.md: every name that a program can import, with its comment and its declaration. */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';

const root = dirname(createRequire(import.meta.url).resolve('rekap/package.json'));

export interface ExportedName {
  readonly name: string;
  /** Whether it exists only as a type. */
  readonly isType: boolean;
  /** File that declares it, relative to the project. */
  readonly file: string;
}

/** The names that `rekap` or `rekap/testing` exports. */
export function exportedNames(entry: string): ExportedName[] {
  const text = readFileSync(join(root, entry), 'utf8');
  const named = [...text.matchAll(/export (type )?\{([^}]*)\} from '([^']+)'/g)].flatMap(([, type, names, from]) =>
    names!
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '')
      .map((name) => ({
        name: name.replace(/^type /, ''),
        isType: type !== undefined || name.startsWith('type '),
        file: resolveFrom(entry, from!),
      })),
  );
  const whole = [...text.matchAll(/export type \* from '([^']+)'/g)].flatMap(([, from]) => {
    const file = resolveFrom(entry, from!);
    return [...readFileSync(join(root, file), 'utf8').matchAll(/^export (?:interface|type) (\w+)/gm)].map(
      ([, name]) => ({
        name: name!,
        isType: true,
        file,
      }),
    );
  });
  return [...named, ...whole].toSorted((a, b) => (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1));
}

function resolveFrom(entry: string, from: string): string {
  return relative(root, join(root, dirname(entry), from));
}

/** @throws If an exported name has no comment. */
export function describeProgram(): string[] {
  return [
    'Every name that a program can import. [Use from a program](../how-to/use-from-a-program.md) shows how to use them.',
    ...sectionsOf('rekap', 'src/index.ts'),
    ...sectionsOf('rekap/testing', 'src/testing/index.ts'),
  ];
}

function sectionsOf(module: string, entry: string): string[] {
  const names = exportedNames(entry);
  const partOf = (title: string, isType: boolean): string[] => {
    const own = names.filter((one) => one.isType === isType);
    return own.length === 0 ? [] : [`### ${title} of ${module}`, ...own.flatMap(describe)];
  };
  return [`## ${module}`, ...partOf('Functions and values', false), ...partOf('Types', true)];
}

function describe({ name, file, isType }: ExportedName): string[] {
  const text = readFileSync(join(root, file), 'utf8');
  const found = new RegExp(
    `(?:/\\*\\*((?:(?!\\*/)[\\s\\S])*)\\*/\\n)?^export (?:async )?(?:function|interface|type|class|const) ${name}\\b`,
    'm',
  ).exec(text);
  if (found === null) throw new Error(`${file} does not declare ${name}.`);
  const comment = (found[1] ?? '')
    .split('\n')
    .map((line) => line.replace(/^\s*\*?\s?/, '').trimEnd())
    .join(' ')
    .replaceAll(/\s*@(param|returns|throws) /g, (_all, tag: string) => ` **${tag}** `)
    .trim();
  if (comment === '') throw new Error(`${file}: ${name} is exported, but has no comment.`);
  const begin = found.index + found[0].lastIndexOf('\nexport ') + (found[0].startsWith('export ') ? 0 : 1);
  return [
    `#### ${name}`,
    comment,
    `\`\`\`ts\n${declarationAt(text.slice(found[0].startsWith('export ') ? found.index : begin), isType)}\n\`\`\``,
  ];
}

/** The head of a function or a class, or a whole type. */
function declarationAt(rest: string, isType: boolean): string {
  const showsBody = isType || rest.startsWith('export const');
  const end = showsBody ? /\n[})\]].*|\n(?=\n)|;\n(?=\S|\n)/.exec(rest) : / \{\n/.exec(rest);
  return rest
    .slice(0, end === null ? undefined : end.index + (showsBody ? end[0].length : 0))
    .trim()
    .replaceAll('readonly ', '')
    .replace(/^export /, '');
}
