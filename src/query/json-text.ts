/** Writes JSON that a terminal can be shown: the same values, with every character written out that could steer or deceive. */

/** JSON.stringify escapes what is below U+0020; C1 controls, DEL, and marks that turn or hide writing it leaves as they are. */
const deceptive = /[\u007f-\u009f\u2028\u2029]|\p{Cf}/gu;

/** JSON text in which such characters are escapes; whoever parses it gets the same texts. */
export function escapeDeceptive(json: string): string {
  return json.replace(deceptive, (character) =>
    // A character beyond U+FFFF is two escapes, as JSON has it.
    Array.from(
      { length: character.length },
      (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}
