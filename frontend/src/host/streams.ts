// Byte streams inside the connection: [1 kind][4 stream id, big endian][payload]. Neither side sends more
// than 256 KiB ahead of what the other has taken, so nothing piles up anywhere.

/** What hears of a stream. */
export interface StreamListener {
  /** Bytes came; whoever takes them says so by take(), when he is done with them. */
  data(bytes: Uint8Array): void;
  /** It ended: "" for a plain end, else why. `lost` says that the connection broke. */
  closed(why: string, lost: boolean): void;
}

/** A stream that was opened. */
export interface HostStream {
  /** Sends bytes, when there is credit; they are copied. */
  write(bytes: Uint8Array): void;
  /** Says that so many bytes were used up. */
  take(bytes: number): void;
  close(): void;
}

const openKind = 0;
const dataKind = 1;
const creditKind = 2;
const closeKind = 3;
const credit = 256 << 10;
const chunk = 32 << 10;
/** More than this waits for no core: input of megabytes is refused by whoever sends it. */
const maxWaiting = 4 << 20;

function frame(kind: number, id: number, payload: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(5 + payload.length);
  bytes[0] = kind;
  new DataView(bytes.buffer).setUint32(1, id);
  bytes.set(payload, 5);
  return bytes;
}

class Stream implements HostStream {
  #credit = credit;
  #owed = 0;
  #waiting: Uint8Array[] = [];
  #size = 0;

  constructor(
    readonly id: number,
    readonly listener: StreamListener,
    private readonly owner: Streams,
  ) {}

  write(bytes: Uint8Array): void {
    if (this.#size + bytes.length > maxWaiting) return;
    this.#waiting.push(bytes.slice());
    this.#size += bytes.length;
    this.#flush();
  }

  #flush(): void {
    for (let first = this.#waiting[0]; first !== undefined && this.#credit > 0; first = this.#waiting[0]) {
      const part = first.subarray(0, Math.min(first.length, this.#credit, chunk));
      this.#credit -= part.length;
      this.#size -= part.length;
      this.owner.send(frame(dataKind, this.id, part));
      if (part.length === first.length) this.#waiting.shift();
      else this.#waiting[0] = first.subarray(part.length);
    }
  }

  more(bytes: number): void {
    this.#credit += bytes;
    this.#flush();
  }

  take(bytes: number): void {
    this.#owed += bytes;
    if (this.#owed < credit / 4) return;
    const payload = new Uint8Array(4);
    new DataView(payload.buffer).setUint32(0, this.#owed);
    this.#owed = 0;
    this.owner.send(frame(creditKind, this.id, payload));
  }

  close(): void {
    if (this.owner.forget(this.id)) this.owner.send(frame(closeKind, this.id, new Uint8Array()));
  }
}

/** The streams of one page. They end with its connection. */
export class Streams {
  #open = new Map<number, Stream>();
  #next = 1;
  /** Sends a frame; undefined while there is no connection. */
  transmit: ((bytes: Uint8Array<ArrayBuffer>) => void) | undefined;

  /** Opens a stream, or gives undefined while there is no connection. */
  open(name: string, args: unknown, listener: StreamListener): HostStream | undefined {
    if (!this.transmit) return undefined;
    const stream = new Stream(this.#next++, listener, this);
    this.#open.set(stream.id, stream);
    this.send(frame(openKind, stream.id, new TextEncoder().encode(JSON.stringify({ name, args }))));
    return stream;
  }

  send(bytes: Uint8Array<ArrayBuffer>): void {
    this.transmit?.(bytes);
  }

  forget(id: number): boolean {
    return this.#open.delete(id);
  }

  /** Takes a binary frame of the core's. */
  receive(buffer: ArrayBuffer): void {
    const view = new DataView(buffer);
    const stream = this.#open.get(view.getUint32(1));
    if (!stream) return;
    const payload = new Uint8Array(buffer, 5);
    switch (view.getUint8(0)) {
      case dataKind:
        stream.listener.data(payload);
        break;
      case creditKind:
        stream.more(view.getUint32(5));
        break;
      case closeKind:
        this.#open.delete(stream.id);
        stream.listener.closed(new TextDecoder().decode(payload), false);
    }
  }

  /** The connection ended. */
  lost(): void {
    this.transmit = undefined;
    const all = [...this.#open.values()];
    this.#open.clear();
    for (const stream of all) stream.listener.closed("The connection to Carrel broke.", true);
  }
}
