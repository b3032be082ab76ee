/** Reads the blocks of a page that a reader types into a terminal, and what the page promises that they print. */

/** A block of a page, with the prose before it. */
export interface Block {
  readonly language: string;
  readonly content: string;
  /** What the page says between the block before and this one. */
  readonly prose: string;
}

/** One command, and the output that the page shows; null where it shows none. */
export interface Step {
  readonly command: string;
  readonly promised: string | null;
}

/** Returns every fenced block of a page in its order. The last one has no content and holds the prose at the end. */
export function readBlocks(page: string): Block[] {
  const blocks: Block[] = [];
  let end = 0;
  for (const match of page.matchAll(/^( *)```(\w*)\n([\s\S]*?)^ *```$/gm)) {
    const [whole, indent = '', language = '', content = ''] = match;
    const lines = content.split('\n').map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line));
    blocks.push({ language, content: lines.join('\n'), prose: page.slice(end, match.index) });
    end = match.index + whole.length;
  }
  return [...blocks, { language: '', content: '', prose: page.slice(end) }];
}

/** Splits a console block at its prompts. A command goes on while a quote is open or a line ends with a backslash. */
export function readSteps({ language, content }: Block): Step[] {
  if (language === 'sh') return splitCommands(content).map((command) => ({ command, promised: null }));
  return content
    .split(/^\$ /m)
    .slice(1)
    .map((text) => {
      const [command = ''] = splitCommands(text);
      const promised = text.slice(command.length + 1).trimEnd();
      return { command, promised: promised === '' ? null : promised };
    });
}

function splitCommands(text: string): string[] {
  const commands: string[] = [];
  let open = '';
  for (const line of text.split('\n')) {
    open += open === '' ? line : `\n${line}`;
    const quotes = open.replaceAll(/\\.|#.*$/gm, '');
    const isOpen = ['"', "'"].some((quote) => isQuoteOpen(quotes, quote)) || line.endsWith('\\');
    if (isOpen) continue;
    if (open.trim() !== '') commands.push(open);
    open = '';
  }
  return commands;
}

/** Whether a text ends inside quotes of this kind. */
function isQuoteOpen(text: string, quote: string): boolean {
  const other = quote === '"' ? "'" : '"';
  let inside = '';
  for (const character of text)
    if (inside === '' && (character === quote || character === other)) inside = character;
    else if (character === inside) inside = '';
  return inside === quote;
}

/**
 * Turns a promised output into a pattern for the real one. Ids, times, durations and sizes differ from run to run; "…" means anything; how
 * lines are wrapped depends on the terminal.
 *
 * @param realIds Ids of the page by the real ids, which match only themselves.
 */
export function patternOf(promised: string, realIds: ReadonlyMap<string, string>): { pattern: RegExp; ids: string[] } {
  const ids: string[] = [];
  const text = promised.trim().replaceAll(/\s+/g, ' ');
  const pattern = text
    .replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll(/ ?… ?/g, '.*?')
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?/g, (time) => time.replaceAll(/\d/g, String.raw`\d`))
    .replaceAll(/\d+\\\.\d+ (s|MB)\b/g, String.raw`[\d.]+ $1`)
    .replaceAll(/\d+ \w+ ago/g, String.raw`(?:less than a minute|\d+ \w+) ago`)
    .replaceAll(/\d{8}T\d{6}Z-[0-9a-f]{6}/g, (id) => {
      const real = realIds.get(id);
      if (real !== undefined) return real;
      if (ids.includes(id)) return `\\${ids.indexOf(id) + 1}`;
      ids.push(id);
      return String.raw`(\d{8}T\d{6}Z-[0-9a-f]{6})`;
    });
  return { pattern: new RegExp(`^${pattern}$`), ids };
}
