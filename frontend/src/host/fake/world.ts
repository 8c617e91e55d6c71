// A small world for tests and pictures: the same that the reference picture shows.
import type { CoderState, Conversation, CostLine, CostsBy, CostSummary, Diff, Entry, Hit, GitState, Model, Project, Provider, Workspace } from "../host";

export const hour = 3_600_000;
const now = Date.now();
export const at = (ago: number): string => new Date(now - ago).toISOString();

export function project(changes: Partial<Project> & { id: string; name: string }): Project {
  return { rev: 1, path: `/home/ada/code/${changes.name}`, isGit: true, trusted: true, missing: false, branch: "main", addedAt: at(90 * hour), position: 0, ...changes };
}

export function git(changes: Partial<GitState> & { branch: string }): GitState {
  return { head: "4f6d2b7a91c05e8834fd6a3cbb12d9a7e0f1c2d3", subject: "store: back off with jitter", ahead: 0, behind: 0, staged: 0, unstaged: 0, untracked: 0, conflicts: 0, added: 0, removed: 0, ...changes };
}

export function workspace(changes: Partial<Workspace> & { id: string; name: string; projectId: string }): Workspace {
  return {
    rev: 1,
    title: changes.name,
    runtime: "worktree",
    branch: changes.name,
    base: "main",
    dir: `/home/ada/.carrel/src/${changes.projectId}-k3x9/${changes.name}`,
    model: "anthropic:claude-sonnet-5",
    level: "",
    mode: "ask",
    autoRetry: true,
    health: "ready",
    activity: "idle",
    init: "none",
    position: 0,
    createdAt: at(2 * hour),
    activeAt: at(2 * hour),
    git: git({ branch: changes.name }),
    ...changes,
  };
}

export const projects: Project[] = [
  project({ id: "harbor", name: "harbor", automation: [".carrel/init", ".carrel/tool_post"] }),
  project({ id: "tidewater", name: "tidewater", trusted: false, automation: [".carrel/init: npm ci && npm run build", ".carrel/tool_pre"] }),
  project({ id: "old", name: "breakwater", missing: true, path: "/mnt/usb/breakwater" }),
];

export const workspaces: Workspace[] = [
  workspace({ id: "w1", projectId: "harbor", name: "upload-jitter", title: "Retry with jitter in the uploader", activity: "running_tools", createdAt: at(0.1 * hour), activeAt: at(0.03 * hour), init: "done", git: git({ branch: "upload-jitter", ahead: 2, unstaged: 2, untracked: 1, added: 84, removed: 12 }) }),
  workspace({ id: "w2", projectId: "harbor", name: "config-split", title: "Split the config loader", activity: "done", createdAt: at(1 * hour), git: git({ branch: "config-split", ahead: 4, added: 210, removed: 190 }) }),
  workspace({ id: "w3", projectId: "harbor", name: "scheduler-flake", title: "Flaky scheduler test", activity: "failed", createdAt: at(2 * hour), git: git({ branch: "scheduler-flake", unstaged: 1, added: 3, removed: 1 }) }),
  workspace({ id: "w4", projectId: "harbor", name: "docs-flags", title: "Docs for the new flags", createdAt: at(3 * hour), activeAt: at(3 * hour), model: "demo:demo", git: git({ branch: "docs-flags", ahead: 2, behind: 3 }) }),
  workspace({ id: "w5", projectId: "tidewater", name: "stream-import", title: "Port the importer to streams", createdAt: at(26 * hour), activeAt: at(26 * hour), init: "skipped", health: "missing", healthNote: "The folder was deleted by hand. The branch stream-import still has its two commits." }),
  workspace({ id: "w6", projectId: "harbor", name: "old-cache", title: "Try a smaller cache", createdAt: at(300 * hour), activeAt: at(290 * hour), archivedAt: at(200 * hour) }),
];

export const models: Model[] = [
  { id: "anthropic:claude-sonnet-5", images: true, aliases: ["sonnet"], levels: ["off", "low", "medium", "high", "max"], defaultLevel: "high", context: 1000000, prices: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 }, name: "Claude Sonnet 5", provider: "anthropic", available: true },
  { id: "anthropic:claude-opus-5", images: true, aliases: ["opus"], levels: ["low", "medium", "high", "xhigh", "max"], defaultLevel: "high", context: 1000000, prices: { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 }, name: "Claude Opus 5", provider: "anthropic", available: true },
  { id: "openai:gpt-6", aliases: ["gpt"], levels: ["off", "low", "medium", "high", "xhigh", "max"], defaultLevel: "medium", context: 400000, prices: { input: 2, output: 12, cacheRead: 0.2, cacheWrite: 2 }, name: "GPT-6", provider: "openai", available: false },
  { id: "demo:demo", aliases: ["demo"], levels: [], name: "Demo", provider: "demo", available: true, demo: true },
];

export const providers: Provider[] = [
  { enabled: true, id: "anthropic", name: "Anthropic", configured: true, keySource: "ANTHROPIC_API_KEY", wire: "anthropic-messages" },
  { enabled: true, id: "openai", name: "OpenAI", configured: false, wire: "openai-responses" },
  { enabled: true, id: "local", custom: true, name: "Local server", configured: true, keySource: "settings", baseUrl: "http://127.0.0.1:8080/v1", wire: "openai-compatible", error: "Nothing answers at 127.0.0.1:8080." },
  { enabled: true, id: "coder", name: "Coder", configured: false, wire: "coder" },
  { enabled: true, id: "demo", name: "Demo", configured: true, wire: "demo" },
];

/** A Coder deployment, logged in or not. */
export function coder(connected: boolean): CoderState {
  const routes = ["anthropic", "openai", "google"].map((native) => ({ native }));
  if (!connected) return { connected, providers: [], loaded: false, models: 0, routes };
  return {
    url: "https://coder.example.com", connected, loaded: true, models: 41,
    providers: [{ name: "anthropic", type: "anthropic" }, { name: "claude-aws-us-east-2", type: "anthropic" }, { name: "openai", type: "openai" }, { name: "llm-proxy", type: "openai-compat", own: true }],
    routes: [{ native: "anthropic", mapped: "claude-aws-us-east-2", provider: "claude-aws-us-east-2" }, { native: "openai", provider: "openai" }, { native: "google", mapped: "gemini" }],
  };
}

/** A small drawing. The page shows only what a core may hand out, so it is no SVG. */
export function picture(seed: string): Blob {
  // A BMP of 4 x 3 pixels: the smallest picture that is written by hand.
  const [width, height] = [4, 3];
  const bytes = new Uint8Array(54 + width * 4 * height);
  const view = new DataView(bytes.buffer);
  bytes.set([0x42, 0x4d]);
  view.setUint32(2, bytes.length, true);
  view.setUint32(10, 54, true);
  view.setUint32(14, 40, true);
  view.setInt32(18, width, true);
  view.setInt32(22, height, true);
  view.setUint16(26, 1, true);
  view.setUint16(28, 32, true);
  const hue = [...seed].reduce((sum, c) => sum + c.charCodeAt(0), 0);
  for (let i = 54; i < bytes.length; i++) bytes[i] = (i * 11 + hue * 37) % 256;
  return new Blob([bytes], { type: "image/bmp" });
}

const editPatch = `@@ -39,6 +39,9 @@ func (u *Uploader) Put(ctx context.Context, b Blob) error {
 	for attempt := 0; ; attempt++ {
-		if attempt == 3 { return err }
+		if attempt == u.MaxAttempts { return err }
+		if err := u.wait(ctx, delay(attempt, resp)); err != nil {
+			return err
+		}
`;

const backoffPatch = `@@ -0,0 +1,20 @@
+package store
+
+import (
+	"math/rand/v2"
+	"net/http"
+	"time"
+)
+
+const (
+	base    = 200 * time.Millisecond
+	ceiling = 30 * time.Second
+)
+
+// delay is how long to wait before attempt n: full jitter, capped. A Retry-After header wins.
+func delay(n int, r *http.Response) time.Duration {
+	if d, ok := retryAfter(r); ok {
+		return d
+	}
+	top := min(base<<n, ceiling)
+	return rand.N(top)
+}
`;

export const diff: Diff = {
  base: "main",
  more: 0,
  files: [
    { path: "store/upload.go", status: "M", added: 21, removed: 8, patch: editPatch + "@@ -88,3 +91,4 @@ func (u *Uploader) wait(ctx context.Context, d time.Duration) error {\n 	select {\n-	case <-time.After(d):\n+	case <-u.clock.After(d):\n+		return nil\n 	case <-ctx.Done():\n" },
    { path: "store/backoff.go", status: "A", added: 34, removed: 0, patch: backoffPatch },
    { path: "store/upload_test.go", status: "M", added: 29, removed: 4, patch: "@@ -1,2 +1,3 @@\n package store\n+// a test\n" },
    { path: "assets/harbor.png", status: "?", added: 0, removed: 0, binary: true },
  ],
};

let order = 0;
export function entry(changes: Partial<Entry> & Pick<Entry, "kind">): Entry {
  order++;
  return { id: `e${order}`, order, time: at(0.05 * hour), turn: "t1", ...changes };
}

function tool(name: string, input: object, rest: Partial<NonNullable<Entry["tool"]>>): Entry {
  return entry({ kind: "tool", tool: { name, status: "ok", input: JSON.stringify(input), ...rest } });
}

/** The conversation of the reference picture. */
export function pictured(): Conversation {
  const todos = [
    { content: "Read how uploads are retried", status: "completed" },
    { content: "Back off with full jitter", status: "completed" },
    { content: "Prove it with a test", status: "in_progress" },
    { content: "Commit", status: "pending" },
  ];
  return {
    rev: 1,
    workspace: "w1",
    more: false,
    status: {
      activity: "running_tools",
      held: false,
      model: "anthropic:claude-sonnet-5",
      level: "medium",
      queue: [
        { id: "q1", text: "Then write a line in the changelog.", time: at(0), dispatch: "step" },
        { id: "q3", text: "And look whether the downloader needs the same.", time: at(0), dispatch: "turn", once: "anthropic:claude-opus-5+high" },
      ],
      todos,
      usage: { input: 40_100, output: 2200, cacheRead: 31_000, cacheWrite: 0, context: 42_300, window: 200_000, spentUsd: 0.41 },
    },
    entries: [
      entry({ kind: "user", text: "Uploads fail in bursts when the store throttles. Back off with jitter, honour Retry-After, and prove it with a test.", once: "anthropic:claude-sonnet-5+high" }),
      entry({ kind: "assistant", reasoning: true, text: "The uploader has its own loop. I should look at how it decides to give up before I change it." }),
      entry({ kind: "assistant", text: "The uploader retries at once, three times, in `store/upload.go`. I will give it exponential back-off with full jitter, capped at 30 s, and let a `Retry-After` header win.", model: "anthropic:claude-sonnet-5", usage: { input: 2400, output: 380, cacheRead: 9800, cacheWrite: 0, usd: 0.0213 }, sources: [{ url: "https://example.org/backoff", title: "Backing off with jitter" }, { url: "https://www.example.com/retry-after" }] }),
      tool("file_read", { path: "store/upload.go" }, { detail: { firstLine: 1, lastLine: 142, totalLines: 142 } }),
      tool("file_edit_replace_string", { path: "store/upload.go", old_string: "a", new_string: "b" }, { detail: { diff: editPatch, added: 9, removed: 4 } }),
      tool("bash", { script: "go test ./store -run Retry -count=20" }, { status: "ok", output: "ok  \tharbor/store\t3.080s\n", detail: { exitCode: 0, durationMs: 3100 } }),
      tool("bash", { script: "go vet ./..." }, { status: "failed", output: "store/upload.go:61:6: declared and not used: resp\n", detail: { exitCode: 1, durationMs: 840 } }),
      entry({ kind: "assistant", text: "`resp` is left over. Once it is gone:\n\n1. the loop waits `delay(attempt, resp)`,\n2. a cancelled context ends the wait at once.\n\n```go\nif err := u.wait(ctx, delay(attempt, resp)); err != nil {\n\treturn err\n}\n```" }),
      tool("bash", { script: "go test ./..." }, { status: "running", output: "ok  \tharbor/cmd\t0.21s\nok  \tharbor/store\t3.08s\n", started: at(4000) }),
    ],
  };
}

/** A request that will be tried again. */
export function retrying(): Conversation {
  const empty = emptyConversation("w2");
  return {
    ...empty,
    draft: "/",
    status: { ...empty.status, activity: "retrying", model: "anthropic:claude-sonnet-5", retry: { at: new Date(now + 12_400).toISOString(), attempt: 3, of: 8, code: "overloaded", reason: "529 Overloaded" }, usage: { ...empty.status.usage, context: 171_000, window: 200_000, spentUsd: 4.61, budgetUsd: 5 } },
    entries: [
      entry({ kind: "user", text: "Split the config loader." }),
      entry({ kind: "boundary", code: "reset" }),
      entry({ kind: "user", text: "Now the flags." }),
      tool("web_search", { query: "go flag package subcommands" }, { input: "go flag package subcommands" }),
      entry({ kind: "assistant", text: "I look at how they are read today." }),
    ],
  };
}

const line = (key: string, name: string, requests: number, input: number, output: number, usd?: number, rest: Partial<CostLine> = {}): CostLine => ({ key, name, requests, input, output, reasoning: 0, cacheRead: input * 4, cacheWrite: 0, ...(usd === undefined ? { unpriced: requests } : { usd }), ...rest });

/** What was spent, by anything. */
export function costs(by: CostsBy): CostSummary {
  const lines: Record<string, CostLine[]> = {
    workspace: [line("w1", "upload-jitter", 41, 320_000, 22_000, 4.18), line("w2", "config-split", 120, 1_020_000, 84_000, 12.4, { unpriced: 3 }), line("w9", "", 8, 12_000, 900, 0.004, { gone: true }), line("w4", "docs-flags", 6, 9_000, 700)],
    project: [line("harbor", "harbor", 169, 1_350_000, 106_900, 16.58)],
    model: [line("anthropic:claude-sonnet-5", "", 161, 1_340_000, 106_000, 16.58), line("local:qwen3-coder", "", 6, 9_000, 700)],
    day: [line("2026-03-02", "", 90, 700_000, 50_000, 9.2), line("2026-03-01", "", 79, 650_000, 56_900, 7.38)],
  };
  return { by, lines: lines[by] ?? [], total: line("", "", 175, 1_361_000, 107_600, 16.584, { unpriced: 9 }) };
}

/** Places where something was said. */
export function hits(text: string): Hit[] {
  const hit = (id: number, role: Hit["role"], title: string, before: string, after: string, rest: Partial<Hit> = {}): Hit => ({
    id, workspace: "w1", name: "upload-jitter", title, projectId: "harbor", entry: "e1", order: 1, time: at(id * hour), role,
    snippet: [{ text: before }, { text, hit: true }, { text: after }], ...rest,
  });
  return [
    hit(3, "user", "Retry with jitter in the uploader", "Uploads fail in bursts when the store throttles. Back off with ", ", honour Retry-After, and prove it with a test."),
    hit(5, "assistant", "Retry with jitter in the uploader", "I will give it exponential back-off with full ", ", capped at 30 s."),
    hit(290, "tool", "Try a smaller cache", "store/cache.go:41: // ", " <b>is not</b> needed here", { workspace: "w6", projectId: "harbor", archived: true }),
  ];
}

export function failed(): Conversation {
  return {
    ...emptyConversation("w3"),
    status: { ...emptyConversation("w3").status, activity: "failed", held: true, queue: [{ id: "q2", text: "And run it a hundred times.", time: at(0), dispatch: "turn" }] },
    entries: [
      entry({ kind: "user", text: "TestTick fails one time in fifty. Find out why." }),
      entry({ kind: "assistant", text: "I run it until it fails." }),
      tool("bash", { script: "go test ./sched -run TestTick -count=200" }, { status: "interrupted", output: "--- FAIL: TestTick (0.05s)\n    sched_test.go:41: tick 3 came twice\n" }),
      entry({ kind: "note", level: "warning", text: "The provider asked to wait; tried again twice." }),
      entry({ kind: "turn_end", code: "rate_limit", text: "Anthropic is limiting requests. Wait a minute and go on, or choose another model." }),
    ],
  };
}

export function emptyConversation(workspace: string): Conversation {
  return { rev: 1, workspace, entries: [], more: false, status: { activity: "idle", queue: [], held: false, todos: [], model: "", level: "", usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, context: 0, spentUsd: 0 } } };
}

/** A command that waits for the person. */
export function asking(): Conversation {
  const empty = emptyConversation("w2");
  const script = "go vet ./... && go test -run 'Flag' ./config/...";
  const call = tool("bash", { script }, { status: "pending", asks: true });
  return {
    ...empty,
    status: {
      ...empty.status, activity: "waiting", model: "anthropic:claude-sonnet-5",
      question: {
        call: "c1", entry: call.id, tool: "bash", since: at(8000), reason: "It runs a command that is not known to change nothing.",
        rights: [{ kind: "command", what: "go vet ./..." }, { kind: "command", what: "go test -run Flag ./config/..." }],
        always: ["Bash(go vet ./...)", "Bash(go test -run Flag ./config/...)"], broad: ["Bash(go test:*)", "Bash(go vet:*)"],
      },
    },
    entries: [entry({ kind: "user", text: "Split the config loader." }), entry({ kind: "assistant", text: "I test what I changed." }), call],
  };
}
