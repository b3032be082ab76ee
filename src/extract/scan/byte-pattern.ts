/** Bytes to look for in others, compared four at a time: the names of fields are most of what a source sends. */

export class BytePattern {
  readonly length: number;
  private readonly places: Int32Array;
  private readonly words: Int32Array;

  /** @param bytes At least four. */
  constructor(bytes: Buffer) {
    this.length = bytes.length;
    const places: number[] = [];
    for (let place = 0; place + 4 <= bytes.length; place += 4) places.push(place);
    // The last word overlaps the one before where the length is no multiple of four.
    if (bytes.length % 4 !== 0) places.push(bytes.length - 4);
    this.places = Int32Array.from(places);
    this.words = Int32Array.from(places, (place) => bytes.readInt32LE(place));
  }

  /** Whether the pattern stands at `position`. */
  standsAt(view: DataView, position: number): boolean {
    const { length, places, words } = this;
    if (position + length > view.byteLength) return false;
    for (let index = 0; index < words.length; index += 1) {
      if (view.getInt32(position + places[index]!, true) !== words[index]) return false;
    }
    return true;
  }
}
