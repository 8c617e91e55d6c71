// Doing what a slash command says.
import type { Host, Workspace } from "../../host/host";
import type { Drafts } from "../../lib/drafts.svelte";
import type { Shell } from "../../lib/shell.svelte";
import type { Toasts } from "../../ui/toasts.svelte";
import type { CommandCenter } from "../help/index";
import type { Sandboxes } from "../sandbox/index";
import type { Workspaces } from "../workspaces/index";
import type { Command } from "./slash";

export interface Reach {
  host: Host;
  shell: Shell;
  drafts: Drafts;
  toasts: Toasts;
  workspaces: Workspaces;
  commands: CommandCenter;
  sandboxes: Sandboxes;
}

/** Does a command. One that fails comes back into the box, with a word on why. */
export async function obey(command: Command, workspace: Workspace, reach: Reach): Promise<void> {
  const { drafts, toasts } = reach;
  if (command.kind === "problem") {
    toasts.problem(command.message);
    return;
  }
  const { id } = workspace;
  const typed = drafts.take(id);
  try {
    // A fork copies the draft, which must not be the command.
    await drafts.flush(id);
    await act(command, workspace, reach);
  } catch (error) {
    if (drafts.get(id) === "") drafts.set(id, typed);
    toasts.problem(error);
  }
}

async function act(command: Exclude<Command, { kind: "problem" }>, workspace: Workspace, reach: Reach): Promise<void> {
  const { host, shell, workspaces, commands, sandboxes } = reach;
  const { id } = workspace;
  switch (command.kind) {
    case "model":
      if (command.name === "") commands.run("model.choose");
      else await host.api.workspaces.setModel({ workspace: id, model: command.name });
      return;
    case "clear":
      await host.api.conversations.clear({ workspace: id, soft: command.soft });
      return;
    case "sandbox":
      if (command.on !== undefined) await sandboxes.of(id).set(command.on);
      commands.run("sandbox.open");
      return;
    case "fork": {
      if (command.name === "") {
        shell.open({ kind: "forkWorkspace", workspace: id, message: command.message });
        return;
      }
      const made = await host.api.workspaces.fork({ workspace: id, name: command.name, ...(command.message ? { message: command.message } : {}) });
      workspaces.put(made.workspace);
      shell.select(made.workspace.id);
      if (made.unsent) reach.toasts.problem(made.unsent);
    }
  }
}
