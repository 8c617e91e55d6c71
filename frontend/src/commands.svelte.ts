// What the commands do that belong to no single view.
import { shownTheme } from "./features/settings/index";
import { hideOutput, openLogFile } from "./features/output/index";
import { exportConversation, toggleArchive, togglePin, toggleUnread } from "./features/workspaces/index";
import type { Workspace } from "./host/host";
import { count } from "./lib/format";
import { medium, narrow } from "./lib/viewport.svelte";
import type { Model } from "./model";

/** Registers what can be asked of a Coder deployment while there is one; call it in an effect. */
export function registerCoder({ settings, commands, toasts }: Model): (() => void) | undefined {
  const { coder } = settings;
  if (!coder.connected) return undefined;
  const tell = (work: Promise<boolean>, done: () => string) => void work.then((ok) => (ok ? toasts.info(done()) : coder.problem && toasts.problem(coder.problem)));
  const off = [
    commands.register("coder.refresh", () => tell(coder.refreshProviders(), () => "The providers of Coder are up to date.")),
    commands.register("coder.load", () => tell(coder.loadCatalog(), () => `Coder lists ${count(coder.state?.models ?? 0, "model")}.`)),
  ];
  return () => off.forEach((remove) => remove());
}

/** Registers them; call it in an effect. The result removes them. */
export function registerCommands(model: Model): () => void {
  const { host, shell, commands, projects, workspaces, settings, toasts } = model;
  const listed = () => workspaces.inOrder(projects.sorted);
  const current = () => workspaces.get(shell.selected);
  const withCurrent = (act: (workspace: Workspace) => void) => () => {
    const workspace = current();
    if (!workspace) return false;
    act(workspace);
    return true;
  };
  const showRight = (tab: string) => () => {
    if (!current()) return false;
    shell.rightTab = tab;
    if (medium.current) shell.rightSheet = true;
    else shell.rightShown = true;
    return true;
  };
  const clear = (soft: boolean) => withCurrent((one) => void host.api.conversations.clear({ workspace: one.id, soft }).catch((error: unknown) => toasts.problem(error)));
  const save = (format: "md" | "json") => withCurrent((one) => void exportConversation(one, format, { host, toasts, home: settings.about?.home ?? "" }));
  const step = (by: number) => () => {
    const list = listed();
    const at = list.findIndex((one) => one.id === shell.selected);
    const next = list[(at + by + list.length) % list.length];
    if (next) shell.select(next.id);
  };
  const off = [
    commands.register("palette.open", () => shell.open({ kind: "palette" })),
    commands.register("palette.commands", () => shell.open({ kind: "palette", start: ">" })),
    commands.register("palette.slash", withCurrent(() => shell.open({ kind: "palette", start: "/" }))),
    commands.register("settings.open", () => shell.open({ kind: "settings" })),
    commands.register("keys.change", () => shell.open({ kind: "settings", section: "keys" })),
    commands.register("help.shortcuts", () => shell.open({ kind: "shortcuts" })),
    commands.register("tour.start", () => void model.tour.start().catch((error: unknown) => toasts.problem(error))),
    commands.register("project.add", () => shell.open({ kind: "addProject" })),
    commands.register("workspace.new", () => shell.open(projects.all.length > 0 ? { kind: "newWorkspace" } : { kind: "addProject" })),
    commands.register("workspace.next", step(1)),
    commands.register("workspace.previous", step(-1)),
    commands.register("workspace.number", (digit) => {
      const workspace = listed()[(digit ?? 0) - 1];
      if (workspace) shell.select(workspace.id);
      return workspace !== undefined;
    }),
    commands.register("workspace.rename", withCurrent((one) => shell.open({ kind: "renameWorkspace", workspace: one.id }))),
    commands.register("workspace.delete", withCurrent((one) => shell.open({ kind: "deleteWorkspace", workspace: one.id }))),
    commands.register("workspace.waiting", () => {
      const list = listed();
      const at = list.findIndex((one) => one.id === shell.selected);
      const after = [...list.slice(at + 1), ...list.slice(0, at + 1)];
      // Who asks comes first, then what ended and was not looked at.
      const next = after.find((one) => one.activity === "waiting" && one.id !== shell.selected) ?? after.find((one) => one.unread && one.id !== shell.selected);
      if (next) shell.select(next.id);
      else toasts.info("No other workspace waits for you.");
    }),
    commands.register("workspace.sub", withCurrent((one) => shell.open({ kind: "newWorkspace", project: one.projectId, parent: one.id }))),
    commands.register("workspace.pin", withCurrent((one) => void togglePin(one, model))),
    commands.register("workspace.unread", withCurrent((one) => void toggleUnread(one, model))),
    commands.register("workspace.archive", withCurrent((one) => void toggleArchive(one, model))),
    commands.register("workspace.fork", withCurrent((one) => shell.open({ kind: "forkWorkspace", workspace: one.id }))),
    commands.register("search.open", () => shell.open({ kind: "search" })),
    commands.register("conversation.clear", clear(false)),
    commands.register("conversation.clearSoft", clear(true)),
    commands.register("conversation.exportMarkdown", save("md")),
    commands.register("conversation.exportJson", save("json")),
    commands.register("changes.open", showRight("changes")),
    commands.register("costs.open", showRight("costs")),
    commands.register("sandbox.open", showRight("sandbox")),
    commands.register("output.open", showRight("output")),
    commands.register("output.close", () => hideOutput(shell)),
    commands.register("output.file", () => void openLogFile(host, toasts)),
    commands.register("sidebar.toggle", () => {
      if (narrow.current) shell.sidebarSheet = !shell.sidebarSheet;
      else shell.sidebarShown = !shell.sidebarShown;
    }),
    commands.register("right.toggle", () => {
      if (medium.current) shell.rightSheet = !shell.rightSheet;
      else shell.rightShown = !shell.rightShown;
    }),
    commands.register("density.toggle", () => void settings.change({ density: settings.preferences.density === "compact" ? "comfortable" : "compact" }).catch((error: unknown) => toasts.problem(error))),
    ...(host.kind === "desktop" ? [commands.register("app.quit", () => void quit(model))] : []),
    commands.register("theme.toggle", () => void settings.change({ theme: shownTheme() === "dark" ? "light" : "dark" }).catch((error: unknown) => toasts.problem(error))),
  ];
  return () => off.forEach((remove) => remove());
}

/** Leaves the window; where work would stop the person is asked first. */
async function quit({ host, shell, toasts }: Model): Promise<void> {
  try {
    const stakes = (await host.api.system.atStake()) ?? [];
    if (stakes.length > 0) shell.open({ kind: "quit", stakes });
    else await host.api.system.quit({});
  } catch (error) {
    toasts.problem(error);
  }
}
