// What a workspace's state is called and how it looks: always a shape and a word.
import type { Activity, GitState, Health, Workspace } from "../../host/host";
import { ago } from "../../lib/format";
import type { Status } from "../../ui/StatusDot.svelte";

export interface Shown {
  dot: Status;
  word: string;
  /** Whether the word is only a time, which is told quietly. */
  quiet: boolean;
}

const activities: Record<Exclude<Activity, "idle">, Shown> = {
  preparing: { dot: "busy", word: "working", quiet: true },
  streaming: { dot: "busy", word: "working", quiet: true },
  running_tools: { dot: "busy", word: "working", quiet: true },
  retrying: { dot: "wait", word: "waiting to try again", quiet: true },
  recovering: { dot: "wait", word: "waiting to try again", quiet: true },
  interrupting: { dot: "busy", word: "stopping", quiet: true },
  waiting: { dot: "wait", word: "asks you", quiet: false },
  interrupted: { dot: "bad", word: "stopped", quiet: false },
  failed: { dot: "bad", word: "failed", quiet: false },
  done: { dot: "done", word: "done", quiet: true },
};

const places: Record<Exclude<Health, "ready">, Shown> = {
  creating: { dot: "busy", word: "creating", quiet: true },
  missing: { dot: "bad", word: "folder gone", quiet: false },
  not_worktree: { dot: "bad", word: "git lost", quiet: false },
  broken: { dot: "bad", word: "broken", quiet: false },
};

/** Whether a turn is under way. */
export function isWorking(activity: Activity): boolean {
  return activity === "preparing" || activity === "streaming" || activity === "running_tools" || activity === "interrupting" || activity === "retrying" || activity === "recovering" || activity === "waiting";
}

/** How a workspace is shown in one word. */
export function shown(workspace: Workspace, now: number): Shown {
  if (workspace.health !== "ready") return places[workspace.health];
  if (workspace.elsewhere) return { dot: "busy", word: "in a terminal", quiet: true };
  if (workspace.activity !== "idle") return activities[workspace.activity];
  if (workspace.init === "running") return { dot: "busy", word: "setting up", quiet: true };
  if (workspace.init === "failed") return { dot: "wait", word: "setup failed", quiet: false };
  return { dot: "idle", word: ago(workspace.activeAt, now), quiet: true };
}

/** What goes on in rows that a fold hides, in one word: what waits for the person first. */
export function summary(inside: Workspace[]): Pick<Shown, "dot" | "word"> | undefined {
  const asks = inside.filter((one) => one.activity === "waiting").length;
  if (asks > 0) return { dot: "wait", word: asks === 1 ? "asks you" : `${asks} ask you` };
  const failed = inside.filter((one) => one.activity === "failed" && one.unread).length;
  if (failed > 0) return { dot: "bad", word: `${failed} failed` };
  const working = inside.filter((one) => isWorking(one.activity)).length;
  if (working > 0) return { dot: "busy", word: `${working} working` };
  const unread = inside.filter((one) => one.unread).length;
  return unread > 0 ? { dot: "done", word: `${unread} unread` } : undefined;
}

/** What the line counts of a workspace are. */
export function linesTitle(git: GitState): string {
  return git.uncounted ? "Lines against the base, without the new files: there are too many to count" : "Lines against the base, new files included";
}

/** The branch that is checked out, in words where there is none. */
export function branchOf(workspace: Workspace): string {
  const git = workspace.git;
  if (!git) return workspace.branch;
  if (git.detached) return `at ${git.head.slice(0, 8)}`;
  return git.branch || workspace.branch;
}
