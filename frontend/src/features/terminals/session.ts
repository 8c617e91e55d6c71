// One terminal on the page: xterm.js on one end, the core's stream on the other. It is loaded when the first
// terminal shows.
import { FitAddon } from "@xterm/addon-fit";
import { SearchAddon } from "@xterm/addon-search";
import { WebLinksAddon } from "@xterm/addon-web-links";
import { Terminal as Xterm } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";
import type { Host, HostStream } from "../../host/host";
import { colours, input, lead, Reader, record, sizeRecord } from "./records";
import { font, spelledColours, theme } from "./theme";
import { widthProvider } from "./unicode";

export interface SessionOptions {
  host: Host;
  id: string;
  place: HTMLElement;
  /** Opens an address outside; it decides which. */
  openLink(address: string): void;
  /** The stream says what it is about: connected, or why not. */
  state(state: SessionState): void;
}

export type SessionState = { kind: "open" } | { kind: "waiting" } | { kind: "gone"; why: string };

/** A hidden page keeps its stream for so long: switching to another window and back changes nothing. */
const hiddenFor = 10_000;
const encoder = new TextEncoder();

export class Session {
  readonly term: Xterm;
  readonly search = new SearchAddon();
  #fit = new FitAddon();
  #options: SessionOptions;
  #stream: HostStream | undefined;
  #off: (() => void)[] = [];
  #size = { cols: 0, rows: 0 };
  #frame = 0;
  #hidden: ReturnType<typeof setTimeout> | undefined;
  #done = false;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.term = new Xterm({
      allowProposedApi: true,
      cursorBlink: false,
      scrollback: 5000,
      macOptionIsMeta: true,
      theme: theme(),
      ...font(),
      linkHandler: { activate: (event, address) => this.#follow(event, address) },
    });
    this.term.unicode.register(widthProvider());
    this.term.unicode.activeVersion = "carrel";
    this.term.loadAddon(this.#fit);
    this.term.loadAddon(this.search);
    this.term.loadAddon(new WebLinksAddon((event, address) => this.#follow(event, address)));
    this.#answerNothing();
    this.term.open(options.place);
    this.term.textarea?.setAttribute("aria-label", "Terminal input");
    void this.#useCard();
    this.term.onData((text) => this.#send(record(input, encoder.encode(text))));
    this.term.onBinary((text) => this.#send(record(input, Uint8Array.from(text, (sign) => sign.charCodeAt(0) & 255))));
    this.#watch();
    this.#connect();
  }

  /** The core answers the questions of programs, once for all views. */
  #answerNothing(): void {
    const { parser } = this.term;
    const silent = () => true;
    for (const id of [{ final: "c" }, { prefix: ">", final: "c" }, { prefix: "=", final: "c" }, { final: "n" }, { prefix: "?", final: "n" }, { prefix: ">", final: "q" }, { intermediates: "$", final: "p" }, { prefix: "?", intermediates: "$", final: "p" }]) {
      parser.registerCsiHandler(id, silent);
    }
    parser.registerDcsHandler({ intermediates: "$", final: "q" }, silent);
    for (const osc of [4, 10, 11, 12]) parser.registerOscHandler(osc, (text) => text.includes("?"));
    parser.registerOscHandler(52, silent); // no program reads or writes the clipboard
  }

  #follow(event: MouseEvent, address: string): void {
    const touch = matchMedia("(pointer: coarse)").matches;
    if ((event.ctrlKey || event.metaKey || touch) && /^https?:\/\//i.test(address)) this.#options.openLink(address);
  }

  /** Draws on a graphics card, where there is a real one; the page draws otherwise. */
  async #useCard(): Promise<void> {
    const gl = document.createElement("canvas").getContext("webgl2");
    const info = gl?.getExtension("WEBGL_debug_renderer_info");
    const card = gl && info ? String(gl.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
    gl?.getExtension("WEBGL_lose_context")?.loseContext();
    if (card === "" || /swiftshader|llvmpipe|software|basic render|virgl/i.test(card)) return;
    const { WebglAddon } = await import("@xterm/addon-webgl");
    if (this.#done) return;
    const addon = new WebglAddon();
    addon.onContextLoss(() => addon.dispose());
    this.term.loadAddon(addon);
  }

  #watch(): void {
    const { place, host } = this.#options;
    const sizes = new ResizeObserver(() => this.#measureSoon());
    sizes.observe(place);
    const looks = new MutationObserver(() => this.#dress());
    looks.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme", "data-density", "style"] });
    const seen = () => this.#seen();
    document.addEventListener("visibilitychange", seen);
    const turned = () => this.#send(record(lead, new Uint8Array()));
    place.addEventListener("focusin", turned);
    void document.fonts.ready.then(() => this.#dress());
    this.#off.push(
      () => sizes.disconnect(),
      () => looks.disconnect(),
      () => document.removeEventListener("visibilitychange", seen),
      () => place.removeEventListener("focusin", turned),
      host.listen({ connection: (state) => state.kind === "online" && this.#connect() }),
    );
  }

  #dress(): void {
    if (this.#done) return;
    this.term.options.theme = theme();
    Object.assign(this.term.options, font());
    this.#sendColours();
    this.#measureSoon();
  }

  #sendColours(): void {
    this.#send(record(colours, encoder.encode(spelledColours(this.term.options.theme ?? {}))));
  }

  #seen(): void {
    clearTimeout(this.#hidden);
    if (!document.hidden) this.#connect();
    else this.#hidden = setTimeout(() => this.#drop(), hiddenFor);
  }

  #drop(): void {
    this.#stream?.close();
    this.#stream = undefined;
  }

  #measureSoon(): void {
    if (this.#frame) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      const { cols, rows } = this.#measure();
      if (cols === 0 || (cols === this.#size.cols && rows === this.#size.rows)) return;
      this.#size = { cols, rows };
      // The view takes the size when the core says so, at the place of the output where the program has it.
      this.#send(sizeRecord(cols, rows));
    });
  }

  /** The size that the place has room for; zero while it is hidden. */
  #measure(): { cols: number; rows: number } {
    const room = this.#options.place.offsetParent === null ? undefined : this.#fit.proposeDimensions();
    if (!room || !Number.isFinite(room.cols) || room.cols < 10 || room.rows < 2) return { cols: 0, rows: 0 };
    return { cols: Math.min(room.cols, 1000), rows: Math.min(room.rows, 500) };
  }

  #connect(): void {
    if (this.#done || this.#stream || document.hidden) return;
    this.#size = this.#measure();
    const reader = this.#reader();
    const { host, id, state } = this.#options;
    const stream = host.openStream("terminal", { id, ...this.#size }, {
      data: (bytes) => reader.take(bytes),
      closed: (why, lost) => {
        if (this.#stream !== stream) return;
        this.#stream = undefined;
        if (!this.#done) state(lost ? { kind: "waiting" } : { kind: "gone", why });
      },
    });
    this.#stream = stream;
    if (stream) this.#sendColours();
    else state({ kind: "waiting" });
  }

  #reader(): Reader {
    const { term } = this;
    const take = (bytes: number) => this.#stream?.take(bytes);
    return new Reader({
      // What was shown gives credit, so nothing piles up behind a page that is slow.
      text: (bytes) => term.write(bytes, () => take(bytes.length)),
      screen: (cols, rows) =>
        term.write("", () => {
          term.reset();
          term.resize(cols, rows);
          this.#options.state({ kind: "open" });
          this.#measureSoon();
        }),
      resized: (cols, rows) => term.write("", () => term.resize(cols, rows)),
      ended: () => undefined, // the list of terminals says how
      used: take,
    });
  }

  #send(bytes: Uint8Array): void {
    this.#stream?.write(bytes);
  }

  /** Types a text as if it had been pasted. */
  paste(text: string): void {
    // Long texts go in pieces, so that no record is too large for the core.
    if (text.length <= 32_000) this.term.paste(text);
    else {
      const bracketed = this.term.modes.bracketedPasteMode;
      if (bracketed) this.#send(record(input, encoder.encode("\x1b[200~")));
      const bytes = encoder.encode(text.replace(/\n/g, "\r"));
      for (let at = 0; at < bytes.length; at += 16_000) this.#send(record(input, bytes.subarray(at, at + 16_000)));
      if (bracketed) this.#send(record(input, encoder.encode("\x1b[201~")));
    }
  }

  dispose(): void {
    this.#done = true;
    clearTimeout(this.#hidden);
    cancelAnimationFrame(this.#frame);
    for (const off of this.#off) off();
    this.#drop();
    this.term.dispose();
  }
}
