/** Reads the header `Link` (RFC 8288), as leniently as browsers and curl do. */

const entry = /<([^>]*)>((?:[^<"']|"[^"]*"|'[^']*')*)/g;
const parameter = /([\w!#$%&*+.^`|~-]+)\s*(?:=\s*(?:"([^"]*)"|'([^']*)'|([^\s;,"']*)))?/g;

/**
 * Returns the target of the first link with the relation `next`; null if there is none. Relations may be unquoted, in single quotes, or
 * several in one value, and the semicolon before a parameter may be missing.
 *
 * @param header Its value, or the values of its lines.
 */
export function nextOfLink(header: string | string[] | undefined): string | null {
  for (const [, target, parameters] of [header ?? []].flat().join(', ').matchAll(entry)) {
    const [relation] = [...parameters!.matchAll(parameter)].flatMap(([, name, double, single, plain]) =>
      name!.toLowerCase() === 'rel' ? [double ?? single ?? plain ?? ''] : [],
    );
    if (relation?.toLowerCase().split(/\s+/).includes('next') === true) return target!.trim();
  }
  return null;
}
