// The pictures that go with the next message, per workspace. Each is handed to the core as soon as it is
// attached, so that one that can't be sent is told at once.
import { createContext } from "svelte";
import { SvelteMap } from "svelte/reactivity";
import { sentence, type Host, type Upload } from "../../host/host";
import { count } from "../../lib/format";

/** How many pictures a message takes. */
export const most = 20;
/** How large a picture may be, in bytes. */
export const largest = 20 << 20;
/** How many are on their way at a time. */
const atOnce = 3;

/** A picture in the composer. */
export interface Attached {
  key: number;
  name: string;
  /** Of what was attached; it is revoked when the picture goes. Absent until a draft's picture is there. */
  url?: string;
  /** How the core knows it; until then the picture is on its way. */
  file?: Upload;
}

/** What a message takes along, and how it looks. */
export interface Sent {
  files: Upload[];
  urls: { url: string; name: string }[];
}

export class Attachments {
  #host: Host;
  #lists = new SvelteMap<string, readonly Attached[]>();
  #problems = new SvelteMap<string, string>();
  #next = 1;
  #running = 0;
  #queue: (() => void)[] = [];
  #leaving = new Map<number, AbortController>();
  #waiting: (() => void)[] = [];
  /** Called when a workspace's draft has other pictures than before. */
  onchange: (workspace: string) => void = () => undefined;

  constructor(host: Host) {
    this.#host = host;
    host.listen({
      event: (event) => {
        if (event.name === "workspace.removed") this.clear(event.data.id);
      },
    });
  }

  of(workspace: string): readonly Attached[] {
    return this.#lists.get(workspace) ?? [];
  }

  /** Why the last pictures were not taken; "" when they were. */
  problem(workspace: string): string {
    return this.#problems.get(workspace) ?? "";
  }

  /** Takes the problem off the screen. */
  dismiss(workspace: string): void {
    this.#problems.delete(workspace);
  }

  /** Attaches files; what is no picture, too large or too many is told and left out. */
  add(workspace: string, files: readonly File[]): void {
    this.#problems.delete(workspace);
    const pictures = files.filter((file) => file.type === "" || file.type.startsWith("image/"));
    const fitting = pictures.filter((file) => file.size <= largest);
    const room = most - this.of(workspace).length;
    const taken = fitting.slice(0, Math.max(0, room));
    if (pictures.length < files.length) this.#refuse(workspace, `${names(files.filter((file) => !pictures.includes(file)))} can’t be attached: only pictures can. Name a file in the text, and the agent reads it.`);
    else if (fitting.length < pictures.length) this.#refuse(workspace, `${names(pictures.filter((file) => !fitting.includes(file)))} can’t be attached: a picture may have 20 MB.`);
    else if (taken.length < fitting.length) this.#refuse(workspace, `A message takes ${count(most, "picture")}; ${count(fitting.length - taken.length, "picture")} did not fit.`);
    for (const file of taken) this.#start(workspace, file);
  }

  /** Attaches pictures that the core has already. */
  addUploaded(workspace: string, files: readonly Upload[]): void {
    const before = this.of(workspace).length;
    const taken = files.slice(0, Math.max(0, most - before));
    if (taken.length < files.length) this.#refuse(workspace, `A message takes ${count(most, "picture")}; ${count(files.length - taken.length, "picture")} did not fit.`);
    const made = taken.map((file): Attached => ({ key: this.#next++, name: file.name || "Picture", file }));
    this.#put(workspace, [...this.of(workspace), ...made]);
    for (const one of made) if (one.file) void this.#fetch(workspace, one.key, one.file);
    this.onchange(workspace);
  }

  remove(workspace: string, key: number): void {
    this.#leaving.get(key)?.abort();
    this.#leaving.delete(key);
    const gone = this.of(workspace).find((one) => one.key === key);
    if (!gone) return;
    if (gone.url) URL.revokeObjectURL(gone.url);
    this.#put(workspace, this.of(workspace).filter((one) => one !== gone));
    if (gone.file) this.onchange(workspace);
  }

  /** The pictures that the core has. */
  uploads(workspace: string): readonly Upload[] {
    return this.of(workspace).flatMap((one) => (one.file ? [one.file] : []));
  }

  /** Shows the pictures that a draft has. */
  restore(workspace: string, files: readonly Upload[]): void {
    const before = this.of(workspace);
    const coming = before.filter((one) => one.file === undefined);
    if (before.length === coming.length && files.length === 0) return;
    const same = (one: Attached, file: Upload) => one.file !== undefined && one.file.upload === file.upload && one.file.blob === file.blob;
    const kept = files.map((file): Attached => before.find((one) => same(one, file)) ?? { key: this.#next++, name: file.name || "Picture", file });
    const next = [...kept, ...coming];
    for (const one of before) if (one.url && !next.includes(one)) URL.revokeObjectURL(one.url);
    this.#put(workspace, next);
    for (const one of next) if (!one.url && one.file) void this.#fetch(workspace, one.key, one.file);
  }

  async #fetch(workspace: string, key: number, { upload, blob }: Upload): Promise<void> {
    // One that is gone is told when the message is sent.
    const data = await (upload ? this.#host.uploaded(upload) : this.#host.picture(workspace, blob ?? "")).catch(() => undefined);
    if (!data || !this.of(workspace).some((one) => one.key === key)) return;
    const url = URL.createObjectURL(data);
    this.#put(workspace, this.of(workspace).map((one) => (one.key === key ? { ...one, url } : one)));
  }

  clear(workspace: string): void {
    for (const one of this.of(workspace)) this.remove(workspace, one.key);
    this.#problems.delete(workspace);
  }

  /** Waits until none is on its way any more. False says that one did not arrive. */
  async ready(workspace: string): Promise<boolean> {
    const before = this.of(workspace).length;
    while (this.of(workspace).some((one) => one.file === undefined)) await new Promise<void>((done) => this.#waiting.push(done));
    return this.of(workspace).length >= before;
  }

  /** Hands over what goes with a message. Its addresses are the taker's to revoke. */
  take(workspace: string): Sent {
    const list = this.of(workspace);
    this.#lists.delete(workspace);
    this.#problems.delete(workspace);
    return { files: list.flatMap((one) => (one.file ? [one.file] : [])), urls: list.flatMap(({ url, name }) => (url ? [{ url, name }] : [])) };
  }

  #start(workspace: string, file: File): void {
    const key = this.#next++;
    const leaving = new AbortController();
    this.#leaving.set(key, leaving);
    this.#put(workspace, [...this.of(workspace), { key, name: file.name || "Picture", url: URL.createObjectURL(file) }]);
    void this.#send(workspace, key, file, leaving.signal);
  }

  async #send(workspace: string, key: number, file: File, signal: AbortSignal): Promise<void> {
    if (this.#running >= atOnce) await new Promise<void>((go) => this.#queue.push(go));
    this.#running++;
    try {
      if (signal.aborted) return;
      const { id } = await this.#host.upload(file, file.name, signal);
      this.#put(workspace, this.of(workspace).map((one) => (one.key === key ? { ...one, file: { name: one.name, upload: id } } : one)));
      this.onchange(workspace);
    } catch (error) {
      if (signal.aborted) return;
      this.remove(workspace, key);
      this.#refuse(workspace, file.name ? `${file.name}: ${sentence(error)}` : sentence(error));
    } finally {
      this.#running--;
      this.#leaving.delete(key);
      this.#queue.shift()?.();
    }
  }

  #refuse(workspace: string, problem: string): void {
    this.#problems.set(workspace, problem);
  }

  #put(workspace: string, list: readonly Attached[]): void {
    this.#lists.set(workspace, list);
    for (const done of this.#waiting.splice(0)) done();
  }
}

function names(files: readonly File[]): string {
  const [first, ...rest] = files;
  return `${first?.name || "A file"}${rest.length > 0 ? ` and ${count(rest.length, "other")}` : ""}`;
}

export const [useAttachments, provideAttachments] = createContext<Attachments>();
