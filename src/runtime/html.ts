/** Builds HTML from templates, in which all texts are escaped. */

export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A content security policy without scripts and external resources. */
const closedPolicy = new Html(
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'",
);

interface Page {
  readonly language: string;
  readonly title: string;
  readonly style: string;
  readonly content: Html;
}

/** Returns a page without scripts and external resources. */
export function closedPage({ language, title, style, content }: Page): string {
  return html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta http-equiv="Content-Security-Policy" content="${closedPolicy}" />
        <title>${title}</title>
        <link rel="icon" href="data:," />
        <style>
          ${new Html(style)}
        </style>
      </head>
      <body>
        ${content}
      </body>
    </html> `.text;
}

type Part = Html | string | number | null | readonly Part[];

/** Fills a template: escapes texts, omits null, and joins lists. Removes the indentation of the template. */
export function html(pieces: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const lines = pieces.map((piece) => piece.replaceAll(/\n\s*/g, '\n'));
  return new Html(lines.map((piece, index) => (index === 0 ? '' : write(parts[index - 1]!)) + piece).join(''));
}

function write(part: Part): string {
  if (part === null) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'string' || typeof part === 'number') return escapeHtml(String(part));
  return part.map(write).join('');
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  // Control and format characters, such as those that change the writing direction, are shown as escapes.
  return text
    .replaceAll(/[&<>"']/g, (character) => entities[character]!)
    .replaceAll(/[\p{Cc}\p{Cf}]/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
}

export interface TableSettings {
  readonly caption: string;
  readonly head: readonly string[];
  /** Columns of numbers. */
  readonly numbers?: readonly number[];
}

export function table(rows: readonly (readonly Part[])[], { caption, head, numbers = [] }: TableSettings): Html {
  const classOf = (index: number) => (numbers.includes(index) ? html` class="number"` : null);
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}">
    <table>
      <caption>
        ${caption}
      </caption>
      <thead>
        <tr>
          ${head.map((name, index) => html`<th scope="col" ${classOf(index)}>${name}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr>
              ${row.map((cell, index) =>
                index === 0
                  ? html`<th${classOf(index)} scope="row">${cell}</th>`
                  : html`<td${classOf(index)}>${cell}</td>`,
              )}
            </tr> `,
        )}
      </tbody>
    </table>
  </div>`;
}

/** @param kind Class of the element, for print. */
export function folded(summary: Html | string, content: Part, kind = ''): Html {
  return html`<details${kind === '' ? null : html` class="${kind}"`}>
    <summary>${summary}</summary>
    ${content}
  </details>`;
}
