/** Texts for people, broken into lines that fit the terminal. */

/** Wider lines than this are hard to read. */
const widest = 100;

/** Columns that a text on this stream may take: those of its terminal, but no more than are easy to read. */
export function widthOf(stream: NodeJS.WriteStream): number {
  return Math.max(40, Math.min(widest, stream.columns ?? widest));
}

/** Two columns, the second wrapped where it is too wide, or below the first where there is no room for it. */
export function inColumns(rows: readonly (readonly [string, string])[], width: number): string[] {
  const first = Math.max(...rows.map(([left]) => left.length)) + 4;
  const fits = width - first >= 24;
  return rows.flatMap(([left, right]) => {
    const lines = wrap(right, fits ? width - first : width - 4);
    if (!fits) return [`  ${left}`, ...lines.map((line) => `    ${line}`)];
    return lines.map((line, index) => (index === 0 ? `  ${left}` : '').padEnd(first) + line);
  });
}

/** The lines of a text, broken between words. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
