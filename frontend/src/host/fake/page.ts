// The fake host of a whole page. The fragment chooses the scene: #scene=first&theme=light.
import type { Host, Workspace } from "../host";
import { playDemo } from "./demo";
import { FakeHost } from "./host";
import { withEverything } from "./rich";
import { asking, coder, entry, git, models, project, providers, retrying, workspace } from "./world";

declare global {
  interface Window {
    /** For journeys. */
    fake?: FakeHost;
  }
}

/** Builds the scene that the address asks for. */
export function fakePage(): Host {
  const asked = new URLSearchParams(location.hash.slice(1));
  const host = new FakeHost();
  host.settings.theme = asked.get("theme") ?? "system";
  if (asked.get("host") === "desktop") Object.assign(host, { kind: "desktop" });
  host.settings.density = asked.get("density") ?? "comfortable";
  playDemo(host, Number(asked.get("pace") ?? 24));
  const scene = asked.get("scene") ?? "main";
  if (scene === "first" || scene === "refused") {
    host.projects.clear();
    host.workspaces.clear();
  }
  if (scene === "nowork") host.workspaces.clear();
  if (scene === "unborn") host.unborn.add("harbor");
  if (scene === "long") fillLong(host);
  if (scene === "retrying") {
    host.conversations.set("w2", retrying());
    host.update("w2", {});
  }
  if (scene === "sidebar") fillSidebar(host);
  if (scene === "asking") {
    host.conversations.set("w2", asking());
    host.update("w2", {});
  }
  if (scene === "coder") withCoder(host);
  if (scene === "pictures") withPictures(host);
  if (scene === "rich") withEverything(host);
  if (scene === "refused") host.setConnection({ kind: "refused", reason: "Carrel was started again, so this page's key is no longer valid." });
  if (scene === "offline") host.setConnection({ kind: "offline", since: Date.now() - 9000, nextTry: Date.now() + 6000 });
  host.older = scene === "older";
  sessionStorage.setItem("carrel.workspace", asked.get("workspace") ?? (["main", "offline", "older", "sidebar"].includes(scene) ? "w1" : ["long", "retrying", "asking", "pictures", "rich"].includes(scene) ? "w2" : ""));
  window.fake = host;
  return host;
}

/** Logged in at a Coder deployment, which serves what there is no key for. */
function withCoder(host: FakeHost): void {
  host.handle("settings.coder", () => coder(true));
  host.handle("settings.providers", () => providers.map((one) => (one.id === "coder" ? { ...one, configured: true } : one)));
  host.handle("settings.models", () => models.map((one) => (one.provider === "openai" ? { ...one, available: true, via: "coder:openai/gpt-6" } : one.id.includes("opus") ? { ...one, route: "coder", via: "coder:claude-aws-us-east-2/claude-opus-5" } : one)));
}

/** A message with pictures, and one that waits with its own. */
function withPictures(host: FakeHost): void {
  const conversation = host.conversation("w2");
  const files = ["before.png", "after the change, at a quarter to nine.png", "notes.pdf"].map((name) => ({ name, mime: "image/png", ...(name.endsWith("png") ? { blob: name } : {}) }));
  conversation.entries = [
    entry({ kind: "user", text: "The bar at the top jumps when the page loads. Compare the two.", files }),
    entry({ kind: "assistant", text: "In the first picture the bar has no height of its own until its font is there." }),
    entry({ kind: "user", text: "", files: files.slice(1, 2) }),
    entry({ kind: "assistant", text: "The second keeps 40 px free for it." }),
  ];
  conversation.status = { ...conversation.status, activity: "streaming", queue: [{ id: "q9", text: "And this one, on a phone?", time: new Date().toISOString(), dispatch: "step", files: files.slice(0, 2) }, { id: "q8", text: "", time: new Date().toISOString(), dispatch: "turn", files: files.slice(0, 1) }] };
}

/** Everything that a sidebar can show. */
function fillSidebar(host: FakeHost): void {
  const change = (id: string, changes: Partial<Workspace>) => {
    const one = host.workspaces.get(id);
    if (one) host.workspaces.set(id, { ...one, ...changes });
  };
  const add = (id: string, changes: Partial<Workspace>) => host.workspaces.set(id, workspace({ id, projectId: "harbor", name: id, ...changes }));
  change("w2", { activity: "waiting", pinned: true });
  change("w3", { unread: true });
  change("w4", { activity: "done", unread: true });
  add("s1", { title: "Only the back-off", name: "backoff-only", parent: "w1", activity: "streaming", git: git({ branch: "backoff-only", added: 9, removed: 4, untracked: 1 }) });
  add("s2", { title: "Its test", name: "backoff-test", parent: "s1", git: git({ branch: "backoff-test", ahead: 1, conflicts: 2 }) });
  add("s3", { title: "A second try", name: "second-try", parent: "w1", runtime: "local", git: git({ branch: "second-try", inProgress: "rebase" }) });
  host.projects.set("quay", project({ id: "quay", name: "quay" }));
  add("k1", { projectId: "quay", title: "Ask before the crane moves", name: "crane", activity: "waiting" });
  add("k2", { projectId: "quay", title: "Count the ropes", name: "ropes" });
  host.layouts.set("browser", { host: "browser", kept: true, sidebarWidth: 300, rightWidth: 420, sidebarShown: true, rightShown: true, rightTab: "changes", workspace: "", folded: ["quay"] });
}

/** 400 turns, the older ones by pages. */
function fillLong(host: FakeHost): void {
  const all = Array.from({ length: 400 }, (_, i) => [
    entry({ kind: "user", text: `Question ${i + 1}` }),
    entry({ kind: "assistant", text: `Answer ${i + 1}. ${"Some words that make lines of different length. ".repeat(1 + (i % 7))}` }),
  ]).flat();
  const conversation = host.conversation("w2");
  conversation.entries = all.slice(-100);
  conversation.more = true;
  host.handle("conversations.page", ({ before, limit }) => {
    const older = all.filter((one) => one.order < before);
    return { entries: older.slice(-limit), more: older.length > limit };
  });
}
