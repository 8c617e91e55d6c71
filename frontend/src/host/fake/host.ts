// A host without a core: the calls act on a world in memory. For tests, pictures and the component
// page; it never ships.
import { CallError, client, safeAddress, type Call, type CallName, type Calls, type ConnectionState, type Conversation, type Entry, type Host, type HostEvent, type HostListener, type Layout, type PickResult, type Project, type Status, type Uploaded, type Workspace } from "../host";
import { arrange, siblings } from "./arrange";
import { outputAnswers } from "./output";
import { sandboxAnswers, savedRules } from "./sandbox";
import { FakeTerminals } from "./terminals";
import { FakeSettings } from "./settings";
import * as world from "./world";

type Handlers = { [N in CallName]?: (args: Calls[N]["args"]) => Calls[N]["result"] | Promise<Calls[N]["result"]> };

export class FakeHost implements Host {
  readonly kind: "browser" | "desktop" = "browser";
  older = false;
  readonly opened: string[] = [];
  readonly calls: { name: CallName; args: unknown }[] = [];
  projects = new Map(world.projects.map((one) => [one.id, one]));
  workspaces = new Map(world.workspaces.map((one) => [one.id, one]));
  conversations = new Map<string, Conversation>([["w1", world.pictured()], ["w3", world.failed()]]);
  settings = { theme: "system", density: "comfortable", defaultModel: "" };
  readonly values = new FakeSettings();
  layouts = new Map<string, Layout>();
  /** Projects whose repository has no commit. */
  readonly unborn = new Set<string>();
  #listeners = new Set<HostListener>();
  #state: ConnectionState = { kind: "online", version: "dev" };
  #handlers: Handlers = {};
  #rev = 100;

  constructor(handlers: Handlers = {}) {
    this.#handlers = { ...this.#standard(), ...handlers };
  }

  readonly api = client(((name: CallName, args: never) => this.#call(name, args)) as Call);

  connection = (): ConnectionState => this.#state;
  readonly terminals = new FakeTerminals();
  openStream: Host["openStream"] = (_name, args, listener) => this.terminals.open(args, listener);
  join = (_topic: string): (() => void) => () => undefined;
  reconnect = (): void => this.setConnection({ kind: "online", version: "dev" });
  /** What the next upload answers; undefined takes it. */
  refuseUpload: ((name: string) => CallError | undefined) | undefined;
  readonly uploads: string[] = [];
  pickFolder = (): Promise<PickResult> => Promise.resolve({ kind: "no_dialog" });

  listen(listener: HostListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async upload(_file: Blob, name: string, _signal?: AbortSignal): Promise<Uploaded> {
    await Promise.resolve();
    const refused = this.refuseUpload?.(name);
    if (refused) throw refused;
    this.uploads.push(name);
    return { id: `u${this.uploads.length}`, mime: "image/png", size: 1000, width: 40, height: 30 };
  }

  uploaded = (id: string): Promise<Blob> => Promise.resolve(world.picture(id));
  picture = (_workspace: string, blob: string): Promise<Blob> => Promise.resolve(world.picture(blob));

  openLink(address: string): boolean {
    const safe = safeAddress(address);
    if (safe !== undefined) this.opened.push(safe);
    return safe !== undefined;
  }

  /** Replaces what a call does. */
  handle<N extends CallName>(name: N, handler: (args: Calls[N]["args"]) => Calls[N]["result"] | Promise<Calls[N]["result"]>): void {
    this.#handlers = { ...this.#handlers, [name]: handler };
  }

  emit(event: HostEvent): void {
    for (const listener of this.#listeners) listener.event?.(event);
  }

  reset(): void {
    for (const listener of this.#listeners) listener.reset?.();
  }

  setConnection(state: ConnectionState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener.connection?.(state);
  }

  conversation(id: string): Conversation {
    let found = this.conversations.get(id);
    if (!found) {
      found = world.emptyConversation(id);
      found.status.model = this.workspaces.get(id)?.model ?? "demo:demo";
      this.conversations.set(id, found);
    }
    return found;
  }

  rev(): number {
    return ++this.#rev;
  }

  /** Adds or replaces an entry, and says so. */
  put(id: string, entry: Entry): void {
    const conversation = this.conversation(id);
    const others = conversation.entries.filter((one) => one.id !== entry.id);
    conversation.entries = [...others, entry].sort((a, b) => a.order - b.order);
    conversation.rev = this.rev();
    this.emit({ name: "entry.changed", data: { workspace: id, rev: conversation.rev, entry } });
  }

  grow(id: string, entry: Entry, field: "text" | "output", text: string): Entry {
    const conversation = this.conversation(id);
    const before = (field === "text" ? entry.text : entry.tool?.output) ?? "";
    const grown: Entry = field === "text" ? { ...entry, text: before + text } : { ...entry, tool: { ...(entry.tool ?? { name: "", status: "running", input: "" }), output: before + text } };
    conversation.entries = conversation.entries.map((one) => (one.id === entry.id ? grown : one));
    conversation.rev = this.rev();
    this.emit({ name: "entry.grew", data: { workspace: id, rev: conversation.rev, entry: entry.id, field, at: before.length, text } });
    return grown;
  }

  update(id: string, changes: Partial<Status>): void {
    const conversation = this.conversation(id);
    conversation.status = { ...conversation.status, ...changes };
    conversation.rev = this.rev();
    const { rev, status } = conversation;
    this.emit({ name: "conversation.changed", data: { workspace: id, rev, status } });
    const workspace = this.workspaces.get(id);
    if (workspace) this.putWorkspace({ ...workspace, activity: status.activity, model: status.model, level: status.level });
  }

  putWorkspace(workspace: Workspace): Workspace {
    const next = { ...workspace, rev: this.rev() };
    this.workspaces.set(next.id, next);
    this.emit({ name: "workspace.changed", data: { workspace: next } });
    return next;
  }

  putProject(project: Project): void {
    const next = { ...project, rev: this.rev() };
    this.projects.set(next.id, next);
    this.emit({ name: "project.changed", data: { project: next } });
  }

  async #call(name: CallName, args: never): Promise<unknown> {
    this.calls.push({ name, args });
    await Promise.resolve();
    const handler = this.#handlers[name] as ((args: never) => unknown) | undefined;
    if (!handler) throw new CallError("internal", `The fake host does not know ${name}.`);
    return structuredClone(await handler(args));
  }

  #workspace(id: string): Workspace {
    const found = this.workspaces.get(id);
    if (!found) throw new CallError("not_found", "This workspace is gone.");
    return found;
  }

  #standard(): Handlers {
    return {
      "projects.list": () => [...this.projects.values()],
      "projects.sample": () => this.#addProject("/home/ada/carrel-sample"),
      "projects.add": ({ path }) => this.#addProject(path),
      "projects.remove": ({ id }) => {
        if ([...this.workspaces.values()].some((one) => one.projectId === id)) throw new CallError("in_use", "This project still has workspaces. Delete them first.");
        this.projects.delete(id);
        this.emit({ name: "project.removed", data: { id } });
      },
      "projects.setTrust": ({ id, trusted }) => {
        const found = this.projects.get(id);
        if (!found) throw new CallError("not_found", "This project is gone.");
        const next = { ...found, trusted, rev: this.rev() };
        this.projects.set(id, next);
        return next;
      },
      "projects.firstCommit": ({ id }) => {
        this.unborn.delete(id);
        const found = this.projects.get(id);
        if (!found) throw new CallError("not_found", "This project is gone.");
        return found;
      },
      "projects.branches": ({ id }) => this.unborn.has(id) ? { current: "", local: [], remote: [], heldBy: [], noCommit: true } : ({ current: "main", local: ["main", "config-split", "release-2.4", "upload-jitter"], remote: ["origin/main", "origin/release-2.4"], heldBy: [{ branch: "main", dir: "/home/ada/code/harbor" }, { branch: "upload-jitter", dir: "/x", workspace: "w1" }], noCommit: false }),
      "projects.browse": ({ path }) => browse(path),
      "workspaces.list": () => [...this.workspaces.values()],
      "workspaces.create": (args) => this.putWorkspace(world.workspace({ id: `n${this.rev()}`, projectId: args.projectId, name: args.branch || "quiet-otter", title: args.title ?? "quiet-otter", model: args.model ?? "demo:demo", createdAt: new Date().toISOString(), activeAt: new Date().toISOString() })),
      "workspaces.setBase": ({ id, base }) => this.putWorkspace({ ...this.#workspace(id), base }),
      "workspaces.rename": ({ id, title, name }) => this.putWorkspace({ ...this.#workspace(id), ...(title ? { title } : {}), ...(name ? { name } : {}) }),
      "workspaces.archive": ({ id }) => this.putWorkspace({ ...this.#workspace(id), archivedAt: new Date().toISOString() }),
      "workspaces.unarchive": ({ id }) => this.putWorkspace({ ...this.#workspace(id), archivedAt: undefined }),
      "workspaces.atRisk": ({ id }) => ({ clean: false, unknown: "", changed: ["store/upload.go"], untracked: ["store/backoff.go", "assets/harbor.png"], commits: ["store: back off with jitter", "store: test the back-off"], counts: { changed: 1, untracked: 2, commits: 2 }, confirm: this.#workspace(id).name }),
      "workspaces.delete": ({ id }) => {
        this.workspaces.delete(id);
        this.emit({ name: "workspace.removed", data: { id } });
      },
      "workspaces.repair": ({ id }) => void this.putWorkspace({ ...this.#workspace(id), health: "ready" }),
      "workspaces.setModel": ({ workspace, model, level, pro }) => this.update(workspace, { ...(model === undefined ? {} : { model: world.models.find((one) => one.aliases.includes(model))?.id ?? model }), ...(level === undefined ? {} : { level }), ...(pro === undefined ? {} : { pro }) }),
      "workspaces.fork": ({ workspace: from, name }) => ({ workspace: this.#fork(from, name) }),
      "workspaces.markSeen": ({ id }) => void this.putWorkspace({ ...this.#workspace(id), unread: false, activity: this.#workspace(id).activity === "done" ? "idle" : this.#workspace(id).activity }),
      "workspaces.markUnseen": ({ id }) => void this.putWorkspace({ ...this.#workspace(id), unread: true, activity: this.#workspace(id).activity === "idle" ? "done" : this.#workspace(id).activity }),
      "workspaces.pin": ({ id, pinned }) => this.putWorkspace({ ...this.#workspace(id), pinned, position: 0 }),
      "workspaces.move": ({ id, before }) => arrange([...this.workspaces.values()].filter((one) => siblings(one, this.#workspace(id), this.workspaces)), id, before, (one) => void this.putWorkspace(one), (a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt)),
      "projects.move": ({ id, before }) => arrange([...this.projects.values()], id, before, (one) => this.putProject(one), (a, b) => a.name.localeCompare(b.name), 1e9),
      "system.atStake": () => [...this.workspaces.values()].filter((one) => one.activity === "running_tools" || one.activity === "waiting").map((one) => ({ kind: one.activity === "waiting" ? "waiting" : "turn", workspace: one.id, title: one.title })),
      "system.quit": () => undefined,
      "system.layout": ({ host }) => this.layouts.get(host) ?? { host, kept: false, sidebarWidth: 0, rightWidth: 0, sidebarShown: true, rightShown: true, rightTab: "", workspace: "", folded: [] },
      "system.setLayout": (layout) => void this.layouts.set(layout.host, { ...layout, kept: true }),
      "workspaces.files": ({ query }) => ({ files: ["README.md", "src/retry.ts", "src/retry.test.ts", "src/backoff.ts", "docs/retrying with jitter.md"].filter((path) => path.toLowerCase().includes(query.toLowerCase())) }),
      "workspaces.diff": ({ id }) => (id === "w1" || id === "w2" ? world.diff : { base: "main", files: [], more: 0 }),
      "workspaces.initLog": () => "npm ci\nadded 212 packages in 3 s\n",
      "workspaces.retryInit": () => undefined,
      "workspaces.refreshGit": () => undefined,
      "conversations.open": ({ id }) => this.conversation(id),
      "conversations.page": () => ({ entries: [], more: false }),
      "conversations.entry": ({ workspace, entry }) => {
        const found = this.conversation(workspace).entries.find((one) => one.id === entry);
        if (!found) throw new CallError("not_found", "This entry is gone.");
        return found;
      },
      "conversations.send": ({ workspace, text }) => this.put(workspace, world.entry({ kind: "user", text, order: Date.now() })),
      "conversations.interrupt": ({ id }) => this.update(id, { activity: "interrupted" }),
      "conversations.removeQueued": ({ workspace, id }) => this.update(workspace, { queue: this.conversation(workspace).status.queue.filter((one) => one.id !== id) }),
      "conversations.editQueued": ({ workspace, id, text, dispatch }) => this.update(workspace, { queue: this.conversation(workspace).status.queue.map((one) => (one.id === id ? { ...one, text: text ?? one.text, dispatch: dispatch ?? one.dispatch } : one)) }),
      "conversations.moveQueued": (args) => this.#move(args.workspace, args.id, args.before),
      "conversations.editMessage": ({ workspace, entry, text }) => this.#replace(workspace, entry, text),
      "conversations.retry": ({ id }) => this.update(id, { activity: "streaming", retry: undefined }),
      "conversations.stopRetry": ({ id }) => this.update(id, { activity: "failed", retry: undefined }),
      "conversations.clear": ({ workspace, soft }) => this.#clear(workspace, soft ?? false),
      "conversations.setDraft": ({ workspace, text, files, by }) => {
        Object.assign(this.conversation(workspace), { draft: text, draftFiles: files ?? [] });
        this.emit({ name: "draft.changed", data: { workspace, text, ...(files ? { files } : {}), ...(by ? { by } : {}) } });
      },
      "conversations.export": ({ format }) => ({ name: `conversation.${format}`, mime: format === "md" ? "text/markdown" : "application/json", text: "# A conversation\n" }),
      "conversations.saveExport": ({ format }) => ({ path: `/home/ada/Downloads/conversation.${format}` }),
      "system.showFile": () => undefined,
      "conversations.release": ({ id }) => this.update(id, { held: false, queue: [] }),
      "conversations.setMode": ({ workspace: id, mode }) => void this.putWorkspace({ ...this.#workspace(id), mode }),
      "permissions.get": ({ id }) => ({ mode: this.#workspace(id).mode, modes: ["plan", "ask", "accept-edits", "auto", "bypass"], rules: savedRules.map((one) => ({ list: one.list, rule: one.rule, from: one.project ? "project" : "settings" })), sandbox: { mode: "workspace-write", on: true, tier: "A", network: "allow" } }),
      "permissions.answer": ({ workspace, answer }) => this.update(workspace, { activity: answer === "no" ? "streaming" : "running_tools", question: undefined }),
      "permissions.grant": () => undefined,
      "permissions.revoke": () => undefined,
      "permissions.saved": () => savedRules,
      "permissions.setSandbox": () => undefined,
      ...sandboxAnswers((event) => this.emit(event)),
      "settings.get": () => ({ ...this.settings, keys: this.values.keys }),
      "settings.values": () => this.values.view(),
      "settings.put": (change) => {
        this.values.put(change);
        if (change.path[0] === "theme") this.settings = { ...this.settings, theme: JSON.parse(change.value ?? '"system"') as string };
        this.emit({ name: "settings.changed", data: {} });
      },
      "settings.set": (settings) => void (this.settings = settings),
      "settings.models": () => world.models,
      "settings.providers": () => world.providers,
      "settings.setProvider": () => undefined,
      "settings.addProvider": () => undefined,
      "settings.removeProvider": () => undefined,
      "settings.testProvider": ({ id }) => (id === "anthropic" ? { ok: true, latencyMs: 412, model: "anthropic:claude-sonnet-5" } : { ok: false, latencyMs: 3, problem: "Nothing answers at 127.0.0.1:8080.", mend: "Start the server, or change the base address.", code: "network" }),
      "settings.suggestModels": ({ id }) => ["claude-opus-4-8", "claude-haiku-5-5", "claude-sonnet-4-5"].map((name) => ({ id: `${id}:${name}`, name, context: 200_000 })),
      "settings.addModel": () => undefined,
      "settings.removeModel": () => undefined,
      "settings.fallbacks": () => [{ model: "anthropic:claude-sonnet-5", models: ["anthropic:claude-opus-5"] }],
      "settings.setFallback": () => undefined,
      "settings.coder": () => world.coder(false),
      "settings.model": ({ id }) => ({ id, name: id, provider: id.split(":")[0] ?? "", aliases: [], available: true, levels: [] }),
      "costs.summary": ({ by }) => world.costs(by ?? "workspace"),
      "costs.setBudget": ({ workspace, usd }) => this.update(workspace, { usage: { ...this.conversation(workspace).status.usage, budgetUsd: usd } }),
      "search.find": ({ text }) => ({ hits: world.hits(text) }),
      ...outputAnswers((event) => this.emit(event)),
      ...this.terminals.answers((event) => this.emit(event)),
      "system.about": () => ({ version: "0.1.0", commit: "4f6d2b7a91", os: "Debian GNU/Linux 12, linux/amd64", root: "/home/ada/.carrel", sandbox: "none", desktop: false, problems: [], home: "/home/ada" }),
      "system.doctor": () => [
        { name: "git", status: "ok", detail: "2.39.5" },
        { name: "sandbox", status: "ok", detail: "tier A" },
        { name: "desktop window", status: "missing", detail: "WebKitGTK is not installed.", mend: "apt-get install libwebkit2gtk-4.1-0" },
      ],
      "system.pickFolder": () => ({ path: "", cancelled: true }),
      "system.raise": () => undefined,
      "system.openURL": () => undefined,
    };
  }

  #fork(from: string, name: string): Workspace {
    const made = this.putWorkspace(world.workspace({ ...this.#workspace(from), id: `f${this.rev()}`, name, title: name, branch: name, createdAt: new Date().toISOString() }));
    this.conversations.set(made.id, { ...structuredClone(this.conversation(from)), workspace: made.id });
    return made;
  }

  #move(workspace: string, id: string, before: string): void {
    const queue = this.conversation(workspace).status.queue;
    const moved = queue.filter((one) => one.id === id);
    const others = queue.filter((one) => one.id !== id);
    const at = others.findIndex((one) => one.id === before);
    others.splice(at < 0 ? others.length : at, 0, ...moved);
    this.update(workspace, { queue: others });
  }

  /** Leaves an entry and what follows it, and says something else in its place. */
  #replace(workspace: string, id: string, text: string): void {
    const conversation = this.conversation(workspace);
    const at = conversation.entries.findIndex((one) => one.id === id);
    conversation.entries = [...conversation.entries.slice(0, Math.max(0, at)), world.entry({ kind: "user", text, order: Date.now() })];
    this.#replaced(workspace);
  }

  #clear(workspace: string, soft: boolean): void {
    const conversation = this.conversation(workspace);
    const boundary = world.entry({ kind: "boundary", code: soft ? "reset" : "clear", order: Date.now() });
    conversation.entries = soft ? [...conversation.entries, boundary] : [boundary];
    this.#replaced(workspace);
  }

  #replaced(workspace: string): void {
    const conversation = this.conversation(workspace);
    conversation.rev = this.rev();
    this.emit({ name: "entry.replaced", data: { workspace, rev: conversation.rev } });
  }

  #addProject(path: string) {
    if (path.includes("nothing")) throw new CallError("not_found", `There is no folder at ${path}.`);
    const name = path.split("/").pop() ?? path;
    const added = world.project({ id: name, name, path, rev: this.rev() });
    this.projects.set(added.id, added);
    this.emit({ name: "project.changed", data: { project: added } });
    return added;
  }
}

function browse(path: string) {
  const here = path || "/home/ada/code";
  const entry = (name: string, isGit: boolean) => ({ name, path: `${here}/${name}`, isGit });
  return { path: here, parent: here.slice(0, here.lastIndexOf("/")) || "/", entries: [entry("harbor", true), entry("lighthouse", true), entry("notes", false), entry("tidewater", true)], cut: false };
}
