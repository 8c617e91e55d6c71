// One conversation, kept current: a snapshot, then the events whose revision is above it. What was
// missed is asked for again. A place far back is shown without what lies between; the newest rows are kept
// aside and stay current until the rows that are shown reach them again.
import type { Activity, Conversation as Snapshot, Entry, EntryGrew, Host, HostEvent, Question, Queued, RetryWait, Status, Todo, Usage } from "../../host/host";
import { sentence } from "../../host/host";
import type { Drafts } from "../../lib/drafts.svelte";
import type { Loading } from "../../lib/collection.svelte";
import { Outbox } from "./outbox.svelte";
import { findLast, grow, place, Row } from "./rows.svelte";

const pageSize = 100;
/** What is kept of an init hook's output, in UTF-16 code units. */
const initMost = 256 * 1024;

export class Conversation {
  readonly workspace: string;
  readonly outbox: Outbox;
  #host: Host;
  #drafts: Drafts | undefined;
  #leave: (() => void)[] = [];
  #rev = 0;
  /** Events that came while a snapshot was under way. */
  #waiting: HostEvent[] | undefined;
  #fetching = new Set<string>();
  #run = 0;
  #loading: Promise<void> | undefined;

  state = $state.raw<Loading>({ kind: "loading" });
  rows = $state.raw<readonly Row[]>([]);
  more = $state(false);
  loadingMore = $state(false);
  /** The newest rows, while the ones that are shown end before them. */
  #tail = $state.raw<{ rows: readonly Row[]; more: boolean } | undefined>();
  loadingNewer = $state(false);
  /** True for the one update that put rows in front: the list then keeps its place from the end. */
  prepended = $state(false);
  activity = $state.raw<Activity>("idle");
  queue = $state.raw<Queued[]>([]);
  held = $state(false);
  todos = $state.raw<Todo[]>([]);
  model = $state("");
  level = $state("");
  pro = $state(false);
  cyber = $state(false);
  retry = $state.raw<RetryWait | undefined>();
  question = $state.raw<Question | undefined>();
  usage = $state.raw<Usage | undefined>();
  damaged = $state(0);
  initLog = $state("");

  constructor(host: Host, workspace: string, drafts?: Drafts) {
    this.#host = host;
    this.#drafts = drafts;
    this.workspace = workspace;
    this.outbox = new Outbox(host, workspace);
    this.#leave = [host.listen({ event: (event) => this.#event(event), reset: () => void this.open() }), host.join(`conversation/${workspace}`)];
    void this.open();
  }

  /** Whether what is shown ends before the newest. */
  get newer(): boolean {
    return this.#tail !== undefined;
  }

  /** The newest rows, shown or not. */
  get #latest(): readonly Row[] {
    return this.#tail?.rows ?? this.rows;
  }

  set #latest(rows: readonly Row[]) {
    if (this.#tail) this.#tail = { ...this.#tail, rows };
    else this.rows = rows;
  }

  dispose(): void {
    this.#run++;
    for (const leave of this.#leave) leave();
  }

  /** Takes the snapshot; rows that are shown stay where they fit to it. */
  async open(replaced = false): Promise<void> {
    const run = ++this.#run;
    this.#waiting = [];
    const written = this.#drafts?.changes(this.workspace) ?? 0;
    try {
      const snapshot = await this.#host.api.conversations.open({ id: this.workspace });
      if (run !== this.#run) return;
      this.#drafts?.load(this.workspace, snapshot.draft ?? "", snapshot.draftFiles ?? [], written);
      if (replaced) this.toLatest();
      this.#take(snapshot);
      const waiting = this.#waiting ?? [];
      this.#waiting = undefined;
      this.state = { kind: "ready" };
      for (const event of waiting) this.#event(event);
    } catch (error) {
      if (run !== this.#run) return;
      this.#waiting = undefined;
      if (this.state.kind !== "ready") this.state = { kind: "failed", message: sentence(error) };
    }
  }

  #take(snapshot: Snapshot): void {
    const entries = snapshot.entries ?? [];
    const first = entries[0];
    const before = this.#latest;
    const known = new Map(before.map((row) => [row.id, row]));
    // Where nothing older exists any more, what is shown above was left: edited or cleared away.
    const joins = first !== undefined && known.has(first.id) && snapshot.more;
    const older = joins ? before.filter((row) => row.order < first.order) : [];
    this.prepended = false;
    this.#latest = [
      ...older,
      ...entries.map((entry) => {
        const row = known.get(entry.id) ?? new Row(entry);
        row.entry = entry;
        return row;
      }),
    ];
    if (older.length === 0) this.#moreOfLatest(snapshot.more);
    this.#rev = snapshot.rev;
    this.damaged = snapshot.damaged ?? 0;
    this.#status(snapshot.status);
  }

  #moreOfLatest(more: boolean): void {
    if (this.#tail) this.#tail = { ...this.#tail, more };
    else this.more = more;
  }

  #status(from: Status): void {
    this.activity = from.activity;
    this.queue = from.queue ?? [];
    this.held = from.held;
    this.todos = from.todos ?? [];
    this.model = from.model;
    this.level = from.level;
    this.pro = from.pro ?? false;
    this.cyber = from.cyber ?? false;
    this.retry = from.retry;
    this.question = from.question;
    this.usage = from.usage;
  }

  #event(event: HostEvent): void {
    if (!("workspace" in event.data) || event.data.workspace !== this.workspace) return;
    if (event.name === "init.output") {
      this.initLog = (this.initLog + event.data.text).slice(-initMost);
      return;
    }
    if (!("rev" in event.data) || typeof event.data.rev !== "number") return;
    if (this.#waiting) {
      this.#waiting.push(event);
      return;
    }
    if (event.data.rev <= this.#rev) return;
    this.#rev = event.data.rev;
    if (event.name === "entry.changed") this.#put(event.data.entry);
    else if (event.name === "entry.grew") this.#grew(event.data);
    else if (event.name === "entry.removed") this.#remove(event.data.ids ?? []);
    else if (event.name === "entry.replaced") void this.open(true);
    else if (event.name === "conversation.changed") this.#status(event.data.status);
  }

  #put(entry: Entry): void {
    const far = this.#tail && findLast(this.rows, entry.id);
    if (far) far.entry = entry;
    const first = this.#latest[0];
    // What lies between is asked for when the person gets there.
    const between = this.#tail !== undefined && first !== undefined && entry.order < first.order;
    const rows = between ? this.#latest : place(this.#latest, entry);
    if (rows !== this.#latest) {
      this.prepended = false;
      this.#latest = rows;
    }
    if (entry.kind === "user") this.outbox.arrived(entry.text ?? "", entry.files?.length ?? 0);
  }

  #grew(event: EntryGrew): void {
    const row = findLast(this.#latest, event.entry);
    if (!row || !grow(row, event)) void this.fetch(event.entry);
  }

  #remove(ids: string[]): void {
    const gone = new Set(ids);
    this.prepended = false;
    this.rows = this.rows.filter((row) => !gone.has(row.id));
    if (this.#tail) this.#tail = { ...this.#tail, rows: this.#tail.rows.filter((row) => !gone.has(row.id)) };
  }

  /** Asks for one entry, uncut. */
  async fetch(id: string): Promise<void> {
    if (this.#fetching.has(id)) return;
    this.#fetching.add(id);
    const run = this.#run;
    try {
      const entry = await this.#host.api.conversations.entry({ workspace: this.workspace, entry: id });
      if (run === this.#run) this.#put(entry);
    } catch {
      // The entry is gone, or the link is; a snapshot tells.
      if (run === this.#run) void this.open();
    } finally {
      this.#fetching.delete(id);
    }
  }

  /** Loads older entries in front; while some come already, it waits for those. */
  loadMore(): Promise<void> {
    const first = this.rows[0];
    if (!this.more || !first) return Promise.resolve();
    this.#loading ??= this.#load(first).finally(() => (this.#loading = undefined));
    return this.#loading;
  }

  async #load(first: Row): Promise<void> {
    this.loadingMore = true;
    const run = this.#run;
    try {
      const page = await this.#host.api.conversations.page({ workspace: this.workspace, before: first.order, limit: pageSize });
      if (run !== this.#run || this.rows[0] !== first) return;
      const older = this.#fresh(page.entries);
      this.prepended = true;
      this.rows = [...older, ...this.rows];
      this.more = page.more && older.length > 0;
    } finally {
      this.loadingMore = false;
    }
  }

  /** Loads what follows the rows that are shown, until they reach the newest. */
  async loadNewer(): Promise<void> {
    const last = this.rows.at(-1);
    if (!this.#tail || !last || this.loadingNewer) return;
    this.loadingNewer = true;
    const run = this.#run;
    try {
      const page = await this.#host.api.conversations.page({ workspace: this.workspace, before: 0, after: last.order, limit: pageSize });
      if (run !== this.#run || !this.#tail || this.rows.at(-1) !== last) return;
      const following = this.#fresh(page.entries);
      this.prepended = false;
      this.rows = [...this.rows, ...following];
      this.#join(!page.newer || following.length === 0);
    } finally {
      this.loadingNewer = false;
    }
  }

  /** Puts the newest rows behind the ones that are shown, once these reach them. */
  #join(ended: boolean): void {
    const last = this.rows.at(-1);
    const tail = this.#tail?.rows ?? [];
    const first = tail[0];
    if (!this.#tail || (!ended && first && (!last || last.order < first.order))) return;
    this.#tail = undefined;
    this.rows = first ? [...this.rows.filter((row) => row.order < first.order), ...tail] : this.rows;
  }

  /** The rows of entries that are not shown. */
  #fresh(entries: readonly Entry[] | undefined): Row[] {
    const known = new Set(this.rows.map((row) => row.id));
    return (entries ?? []).filter((entry) => !known.has(entry.id)).map((entry) => new Row(entry));
  }

  /** Shows the newest rows again. */
  toLatest(): void {
    const tail = this.#tail;
    if (!tail) return;
    this.#tail = undefined;
    this.prepended = false;
    this.rows = tail.rows;
    this.more = tail.more;
  }

  /** Shows an entry, with what is around it; false when it is not part of the conversation any more. */
  async reach(id: string, order: number): Promise<boolean> {
    if (this.#latest.some((row) => row.id === id)) this.toLatest();
    if (this.rows.some((row) => row.id === id)) return true;
    const run = this.#run;
    const page = await this.#host.api.conversations.page({ workspace: this.workspace, before: 0, around: order, limit: pageSize });
    const entries = page.entries ?? [];
    if (run !== this.#run || !entries.some((entry) => entry.id === id)) return false;
    this.#tail ??= { rows: this.rows, more: this.more };
    this.prepended = false;
    this.rows = entries.map((entry) => new Row(entry));
    this.more = page.more;
    this.#join(!page.newer);
    return true;
  }

  /** The newest message of the person. */
  get lastMessage(): Row | undefined {
    return this.#latest.findLast((row) => row.entry.kind === "user");
  }

  /** Reads the init hook's output so far. */
  async readInitLog(): Promise<void> {
    const log = await this.#host.api.workspaces.initLog({ id: this.workspace });
    this.initLog = (log ?? "").slice(-initMost);
  }
}
