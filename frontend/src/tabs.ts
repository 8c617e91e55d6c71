// The tabs of the right column, declared once: the column, the palette's commands and the menus are
// made from this list. A feature adds a line. What a tab shows is loaded when it is first looked at.
import type { Component } from "svelte";
import type { Workspace } from "./host/host";
import { count } from "./lib/format";
import type { Model } from "./model";

export interface RightTabSpec {
  id: string;
  label: string;
  component: () => Promise<Component<{ workspace: Workspace }>>;
  /** A number beside the label, such as that of open terminals; 0 shows none. */
  badge?: (workspace: Workspace, model: Model) => number;
  /** Says something at the end of the bar while it is shown. */
  note?: (workspace: Workspace) => string;
}

export const rightTabs: readonly RightTabSpec[] = [
  { id: "changes", label: "Changes", component: () => import("./features/changes/ChangesPanel.svelte").then((m) => m.default), note: uncommitted },
  { id: "terminals", label: "Terminals", component: () => import("./features/terminals/TerminalsPanel.svelte").then((m) => m.default), badge: ({ id }, { terminals }) => terminals.of(id).length },
  { id: "costs", label: "Costs", component: () => import("./features/costs/CostsPanel.svelte").then((m) => m.default) },
  { id: "sandbox", label: "Sandbox", component: () => import("./features/sandbox/SandboxPanel.svelte").then((m) => m.default) },
  { id: "output", label: "Output", component: () => import("./features/output/OutputPanel.svelte").then((m) => m.default) },
];

function uncommitted({ git }: Workspace): string {
  const files = git ? git.staged + git.unstaged + git.untracked : 0;
  return files === 0 ? "" : `${count(files, "file")} not committed`;
}

/** The tab of that id, or the first. */
export function rightTab(id: string): RightTabSpec {
  const spec = rightTabs.find((tab) => tab.id === id) ?? rightTabs[0];
  if (!spec) throw new Error("no right tabs");
  return spec;
}
