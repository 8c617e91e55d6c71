// What the app sees of the core: typed calls, events, and the state of the connection. Only this
// folder knows how they travel.
import type { Api, HostEvent } from "./api.gen";
import type { HostStream, StreamListener } from "./streams";

export * from "./api.gen";
export type { HostStream, StreamListener } from "./streams";

/** The state of the connection to the core. */
export type ConnectionState =
  | { kind: "connecting" }
  | { kind: "online"; version: string }
  /** The link broke; attempts go on. `since` and `nextTry` are milliseconds of the page's clock. */
  | { kind: "offline"; since: number; nextTry: number }
  /** The core does not accept this page's key; only the person can mend that. */
  | { kind: "refused"; reason: string };

/** A failed call. The message is a sentence for the person. */
export class CallError extends Error {
  override name = "CallError";
  constructor(
    /** A stable code, such as "not_found"; "timeout" and "connection_lost" are the page's own. */
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** What a host tells its listeners. */
export interface HostListener {
  event?(event: HostEvent): void;
  /** Events were missed: take every snapshot again. */
  reset?(): void;
  connection?(state: ConnectionState): void;
}

/** A picture that the core keeps for a day, for messages to come. */
export interface Uploaded {
  id: string;
  mime: string;
  /** in bytes, of what will be sent */
  size: number;
  width: number;
  height: number;
}

/** A way to the core. */
export interface Host {
  readonly kind: "browser" | "desktop";
  /** The window was updated while something works in this core, which makes room when it is idle. */
  readonly older: boolean;
  readonly api: Api;
  connection(): ConnectionState;
  /** Adds a listener; the result removes it. */
  listen(listener: HostListener): () => void;
  /** Asks for the events of a topic; counted, so that two views can share one. The result leaves. */
  join(topic: string): () => void;
  /** Opens a byte stream, or gives undefined while there is no connection. */
  openStream(name: string, args: unknown, listener: StreamListener): HostStream | undefined;
  /** Opens the native folder dialog, or says that there is none. */
  pickFolder(): Promise<PickResult>;
  /** Opens an http, https or mailto address outside the app; anything else is refused. */
  openLink(address: string): boolean;
  /** Hands a picture to the core. */
  upload(file: Blob, name: string, signal?: AbortSignal): Promise<Uploaded>;
  /** Reads a picture that was handed over and waits for its message. */
  uploaded(id: string): Promise<Blob>;
  /** Reads a picture that a message of the workspace has. */
  picture(workspace: string, blob: string): Promise<Blob>;
  /** Tries to connect now. A new key replaces the refused one. */
  reconnect(key?: string): void;
}

/** The outcome of a native folder dialog. */
export type PickResult = { kind: "picked"; path: string } | { kind: "cancelled" } | { kind: "no_dialog" };

/** The sentence of anything that was thrown. */
export function sentence(error: unknown): string {
  if (error instanceof CallError) return error.message;
  if (error instanceof Error && error.message) return error.message;
  return "Something went wrong. Try again.";
}

/** The address, if it is one that may leave the app. */
export function safeAddress(address: string): string | undefined {
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    return undefined;
  }
  return ["http:", "https:", "mailto:"].includes(url.protocol) ? url.href : undefined;
}
