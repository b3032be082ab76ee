/** Splits the text of a JSON array into the texts of its items, so that every number and escape stays as it was written. */

/**
 * Takes valid JSON whose outermost value is an array and gives the text of each item, without the white space between
 * tokens. Parsing and writing again would round numbers beyond 2^53 and drop fields that occur twice.
 */
export function splitJsonArray(text: string): string[] {
  const items: string[] = [];
  let item = '';
  let depth = 0;
  let at = 0;
  while (at < text.length) {
    const end = endOfToken(text, at);
    const token = text.slice(at, end);
    at = end;
    if (token.trim() === '') continue;
    if (token === ']' || token === '}') depth -= 1;
    const between = depth === 1 && token === ',';
    if (depth > 0 && !between) item += token;
    if ((between || depth === 0) && item !== '') {
      items.push(item);
      item = '';
    }
    if (token === '[' || token === '{') depth += 1;
  }
  return items;
}

/** What ends a run of anything but strings and brackets: numbers, true, false, null and colons. */
const boundary = /["[\]{}, \t\r\n]/g;

/** Where the token that begins at `start` ends: a whole string, one bracket, comma or white space, or a run of the rest. */
function endOfToken(text: string, start: number): number {
  // A loop, because an expression for strings overflows the stack on one of a few megabytes.
  if (text[start] === '"') {
    let at = start + 1;
    while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
    return at + 1;
  }
  boundary.lastIndex = start;
  const found = boundary.exec(text)?.index ?? text.length;
  return found === start ? start + 1 : found;
}
