// The client's end of the wire: one WebSocket, one JSON object per text frame.
//
// A call is remembered until its answer comes. While the link is down calls wait; those that were
// under way are repeated if that is harmless. After a reconnect the core replays the events since
// the last one seen, or says that they are gone, and then every listener takes snapshots again.
import { CallError, type Call, type ConnectionState, type HostEvent, type HostListener } from "./host";
import { mayRepeat, timeoutOf } from "./retry";
import { Streams } from "./streams";

/** The part of a WebSocket that the wire uses. */
export interface Socket {
  send(data: string | Uint8Array<ArrayBuffer>): void;
  close(code?: number, reason?: string): void;
  onopen: (() => void) | null;
  onmessage: ((message: { data: unknown }) => void) | null;
  onclose: ((closed: { code: number; reason: string }) => void) | null;
}

export interface WireOptions {
  connect(): Socket;
  key: string;
  version: string;
  /** The clock and the dice, replaced in tests. */
  now?: () => number;
  random?: () => number;
}

interface Pending {
  id: number;
  name: string;
  args: unknown;
  sent: boolean;
  timer: ReturnType<typeof setTimeout> | undefined;
  resolve(value: unknown): void;
  reject(error: CallError): void;
}

interface Frame {
  welcome?: { core: string; version: string; seq: number; resumed: boolean };
  id?: number;
  ok?: unknown;
  error?: { code: string; message: string };
  seq?: number;
  event?: string;
  data?: unknown;
  events?: Frame[];
  reset?: boolean;
}

const firstDelay = 250;
/** The longest pause: a core that is back is found at once as people see it. */
const lastDelay = 2000;
/** Without a welcome in this time the attempt counts as failed. */
const helloTimeout = 10_000;
/** The close code of a core that does not accept the key: coming back with the same will not help. */
const refusedCode = 4401;

export class Wire {
  readonly streams = new Streams();
  #options: WireOptions;
  #socket: Socket | undefined;
  #state: ConnectionState = { kind: "connecting" };
  #listeners = new Set<HostListener>();
  #pending = new Map<number, Pending>();
  #topics = new Map<string, number>();
  #nextId = 1;
  #core: string | undefined;
  #seq = 0;
  #welcomed = false;
  #attempt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stopped = false;
  /** What the core said before it closed the connection. */
  #why = "";

  constructor(options: WireOptions) {
    this.#options = options;
  }

  /** Starts connecting. */
  start(): void {
    this.#stopped = false;
    this.#open();
  }

  /** Ends the connection for good; calls under way fail. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#drop();
    for (const call of [...this.#pending.values()]) this.#fail(call, "connection_lost", "The page was closed.");
  }

  state(): ConnectionState {
    return this.#state;
  }

  listen(listener: HostListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Tries now instead of waiting for the next attempt. */
  reconnect(key?: string): void {
    if (key !== undefined) this.#options = { ...this.#options, key };
    if (this.#welcomed && key === undefined) return;
    this.#attempt = 0;
    clearTimeout(this.#timer);
    this.#drop();
    if (this.#state.kind === "refused") this.#set({ kind: "connecting" });
    this.#open();
  }

  join(topic: string): () => void {
    const count = this.#topics.get(topic) ?? 0;
    this.#topics.set(topic, count + 1);
    if (count === 0 && this.#welcomed) this.#send({ join: [topic] });
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const now = (this.#topics.get(topic) ?? 1) - 1;
      if (now > 0) {
        this.#topics.set(topic, now);
        return;
      }
      this.#topics.delete(topic);
      if (this.#welcomed) this.#send({ leave: [topic] });
    };
  }

  call: Call = (name, args) =>
    new Promise((resolve, reject) => {
      const timeout = timeoutOf(name);
      const call: Pending = { id: this.#nextId++, name, args, sent: false, timer: undefined, resolve: resolve as (value: unknown) => void, reject };
      if (Number.isFinite(timeout)) {
        call.timer = setTimeout(() => this.#fail(call, "timeout", "Carrel did not answer in time. Try again."), timeout);
      }
      this.#pending.set(call.id, call);
      if (this.#welcomed) this.#sendCall(call);
    });

  #sendCall(call: Pending): void {
    call.sent = true;
    this.#send({ id: call.id, call: call.name, ...(call.args === undefined ? {} : { args: call.args }) });
  }

  #send(frame: object): void {
    this.#socket?.send(JSON.stringify(frame));
  }

  #open(): void {
    const socket = this.#options.connect();
    this.#socket = socket;
    this.#why = "";
    const tooLong = setTimeout(() => socket.close(), helloTimeout);
    socket.onopen = () => {
      const resume = this.#core === undefined ? {} : { since: this.#seq, core: this.#core };
      // The topics go with the hello, so that the replay holds their events too.
      const join = [...this.#topics.keys()];
      this.#send({ hello: { token: this.#options.key, role: "browser", version: this.#options.version, join, ...resume } });
    };
    socket.onmessage = (message) => {
      if (this.#socket !== socket) return;
      if (message.data instanceof ArrayBuffer) this.streams.receive(message.data);
      if (typeof message.data !== "string") return;
      const frame = JSON.parse(message.data) as Frame;
      if (frame.welcome) clearTimeout(tooLong);
      this.#take(frame);
    };
    socket.onclose = (closed) => {
      clearTimeout(tooLong);
      if (this.#socket === socket) this.#lost(closed.code, closed.reason);
    };
  }

  #take(frame: Frame): void {
    if (frame.welcome) this.#welcome(frame.welcome);
    else if (frame.event !== undefined) this.#event(frame);
    else if (frame.events) for (const event of frame.events) this.#event(event);
    else if (frame.reset) {
      this.#seq = frame.seq ?? this.#seq;
      this.#tell((l) => l.reset?.());
    } else if (frame.id !== undefined) this.#answer(frame);
    else if (frame.error) this.#why = frame.error.message;
  }

  #welcome(welcome: NonNullable<Frame["welcome"]>): void {
    const first = this.#core === undefined;
    this.#core = welcome.core;
    this.#welcomed = true;
    this.#attempt = 0;
    this.streams.transmit = (bytes) => this.#socket?.send(bytes);
    if (!welcome.resumed) this.#seq = welcome.seq;
    this.#set({ kind: "online", version: welcome.version });
    for (const call of this.#pending.values()) this.#sendCall(call);
    if (!first && !welcome.resumed) this.#tell((l) => l.reset?.());
  }

  #event(frame: Frame): void {
    // A replay may overlap with what came before the link broke.
    if (frame.seq !== undefined) {
      if (frame.seq <= this.#seq) return;
      this.#seq = frame.seq;
    }
    const event = { name: frame.event, data: frame.data } as HostEvent;
    this.#tell((l) => l.event?.(event));
  }

  #answer(frame: Frame): void {
    const call = this.#pending.get(frame.id ?? -1);
    if (!call) return;
    this.#pending.delete(call.id);
    clearTimeout(call.timer);
    if (frame.error) call.reject(new CallError(frame.error.code, frame.error.message));
    else call.resolve(frame.ok);
  }

  #fail(call: Pending, code: string, message: string): void {
    if (!this.#pending.delete(call.id)) return;
    clearTimeout(call.timer);
    call.reject(new CallError(code, message));
  }

  #lost(code: number, reason: string): void {
    this.#socket = undefined;
    this.#welcomed = false;
    this.streams.lost();
    if (this.#stopped || this.#state.kind === "refused") return;
    for (const call of [...this.#pending.values()]) {
      if (call.sent && !mayRepeat(call.name)) {
        this.#fail(call, "connection_lost", "The connection broke before Carrel answered. Check whether it was done before you try again.");
      } else call.sent = false;
    }
    if (code === refusedCode) {
      this.#refuse(this.#why || reason || "Carrel does not accept this page's key.");
      return;
    }
    const now = (this.#options.now ?? Date.now)();
    const dice = (this.#options.random ?? Math.random)();
    // Many pages do not come back in the same moment.
    const delay = Math.min(lastDelay, firstDelay * 2 ** this.#attempt) * (0.5 + dice / 2);
    this.#attempt++;
    const since = this.#state.kind === "offline" ? this.#state.since : now;
    this.#set({ kind: "offline", since, nextTry: now + delay });
    this.#timer = setTimeout(() => this.#open(), delay);
  }

  #refuse(reason: string): void {
    this.#set({ kind: "refused", reason });
    this.#drop();
  }

  #drop(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    this.#welcomed = false;
    this.streams.lost();
    socket?.close();
  }

  #set(state: ConnectionState): void {
    this.#state = state;
    this.#tell((l) => l.connection?.(state));
  }

  #tell(say: (listener: HostListener) => void): void {
    for (const listener of [...this.#listeners]) say(listener);
  }
}
