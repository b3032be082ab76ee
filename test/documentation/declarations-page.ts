/** Makes docs/reference/declarations.md from the types of a project and the helpers that write it. */

/** What the page shows, by its heading: exported types of declaration.ts and source-declaration.ts. */
const sections: Readonly<Record<string, readonly string[]>> = {
  Project: [
    'ProjectDeclaration',
    'SourceSettings',
    'Auth',
    'OAuth2',
    'Paging',
    'NextPage',
    'AllowedOrigin',
    'SqlValues',
  ],
  Dataset: [
    'DeclaredPipeline',
    'PipelineDeclaration',
    'PostRequest',
    'Partition',
    'PartitionParameter',
    'PartitionValues',
    'ClosedPartitions',
    'Incremental',
    'ChildTable',
  ],
  Columns: ['ColumnDefinition'],
  Checks: ['SumCheck', 'RangeCheck', 'PatternCheck', 'ReferenceCheck'],
  Report: ['ReportSection', 'ReaderSheet'],
};

interface Declared {
  readonly name: string;
  readonly comment: string;
  readonly text: string;
}

/**
 * @param declaration Text of these files.
 * @param helpers Text of src/project/define.ts.
 */
export function describeDeclarations(declaration: string, helpers: string): string[] {
  const types = new Map(exportsOf(declaration, 'interface|type').map((found) => [found.name, found]));
  const parts = Object.entries(sections).flatMap(([heading, names]) => [
    `## ${heading}`,
    ...names.flatMap((name) => {
      const found = types.get(name);
      if (found === undefined) throw new Error(`no declaration has the type ${name}.`);
      return [`### ${name}`, found.comment, `\`\`\`ts\n${found.text}\n\`\`\``];
    }),
  ]);
  const functions = exportsOf(helpers, 'function').map(({ name, comment }) => `- \`${name}\`: ${comment}`);
  return [...parts, '## Helpers', 'A file imports these functions from `rekap`.', functions.join('\n')];
}

/** The exported declarations of a module, each with its comment, as they stand there without \`readonly\`. */
function exportsOf(source: string, kind: string): Declared[] {
  const pattern = new RegExp(`/\\*\\*((?:(?!\\*/)[\\s\\S])*)\\*/\\nexport (?:${kind}) (\\w+)`, 'g');
  return [...source.matchAll(pattern)].map((match) => {
    const begin = match.index + match[0].indexOf('\nexport ') + 1;
    const rest = source.slice(begin);
    // A declaration ends where a line begins with a closing bracket, or before the first empty line.
    const end = /\n[})].*|\n(?=\n)/.exec(rest);
    const text = rest.slice(0, end === null ? undefined : end.index + end[0].length).trim();
    return {
      name: match[2]!,
      comment: match[1]!
        .split('\n')
        .map((line) => line.replace(/^\s*\*?\s?/, ''))
        .join(' ')
        .trim(),
      text: text.replaceAll('readonly ', '').replace(/^export /, ''),
    };
  });
}
