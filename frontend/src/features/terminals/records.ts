// The records of a terminal's stream: [1 kind][4 length, big endian][payload]; see app/terminalstream.go.

export const input = 0;
export const size = 1;
export const lead = 2;
export const colours = 3;

export const output = 0;
export const screen = 1;
export const resized = 2;
export const ended = 3;

export function record(kind: number, payload: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(5 + payload.length);
  bytes[0] = kind;
  new DataView(bytes.buffer).setUint32(1, payload.length);
  bytes.set(payload, 5);
  return bytes;
}

export function sizeRecord(cols: number, rows: number): Uint8Array {
  const payload = new Uint8Array(4);
  const view = new DataView(payload.buffer);
  view.setUint16(0, cols);
  view.setUint16(2, rows);
  return record(size, payload);
}

export interface Taker {
  /** Part of what the program wrote, or of a screen's text. */
  text(bytes: Uint8Array): void;
  /** A screen begins: reset, and take the size. */
  screen(cols: number, rows: number): void;
  resized(cols: number, rows: number): void;
  ended(json: string): void;
  /** Bytes that were none of text, and are used up. */
  used(bytes: number): void;
}

/** Takes a stream apart, however it was cut. Long records are handed on as they come. */
export class Reader {
  #held = new Uint8Array(0);
  #left = 0; // of the text that comes
  #taker: Taker;

  constructor(taker: Taker) {
    this.#taker = taker;
  }

  take(bytes: Uint8Array): void {
    let data = bytes;
    if (this.#held.length > 0) {
      data = new Uint8Array(this.#held.length + bytes.length);
      data.set(this.#held);
      data.set(bytes, this.#held.length);
      this.#held = new Uint8Array(0);
    }
    while (data.length > 0) {
      if (this.#left > 0) {
        const part = data.subarray(0, Math.min(this.#left, data.length));
        this.#left -= part.length;
        this.#taker.text(part);
        data = data.subarray(part.length);
        continue;
      }
      const used = this.#head(data);
      if (used === 0) {
        this.#held = data.slice();
        return;
      }
      this.#taker.used(used);
      data = data.subarray(used);
    }
  }

  /** Takes a record's head, and all of a short one; 0 when it is not all there. */
  #head(data: Uint8Array): number {
    if (data.length < 5) return 0;
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
    const kind = view.getUint8(0);
    const length = view.getUint32(1);
    if (kind === output) {
      this.#left = length;
      return 5;
    }
    const need = kind === screen || kind === resized ? 9 : 5 + length;
    if (data.length < need) return 0;
    if (kind === screen) {
      this.#left = length - 4;
      this.#taker.screen(view.getUint16(5), view.getUint16(7));
    } else if (kind === resized) this.#taker.resized(view.getUint16(5), view.getUint16(7));
    else if (kind === ended) this.#taker.ended(new TextDecoder().decode(data.subarray(5, need)));
    return need;
  }
}
