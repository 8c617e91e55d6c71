// Puts the app together: every store over one host, each provided to the views.
import { Connection, provideConnection } from "./features/connection/index";
import { Desk, provideDesk } from "./features/conversation/index";
import { CommandCenter, provideCommands } from "./features/help/index";
import { Attachments, provideAttachments, provideShownPictures, ShownPictures } from "./features/pictures/index";
import { Projects, provideProjects } from "./features/projects/index";
import { provideSandboxes, Sandboxes } from "./features/sandbox/index";
import { provideSettings, Settings } from "./features/settings/index";
import { provideTerminals, Terminals } from "./features/terminals/index";
import { provideTour, Tour } from "./features/tour/index";
import { provideWorkspaces, Workspaces } from "./features/workspaces/index";
import type { Host } from "./host/host";
import { provideHost, provideShell } from "./lib/context";
import { Drafts, provideDrafts } from "./lib/drafts.svelte";
import { Diagrams } from "./lib/diagrams";
import { Formulas } from "./lib/formulas.svelte";
import { Shell } from "./lib/shell.svelte";
import { TerminalDoor } from "./lib/terminaldoor.svelte";
import { provideLinks } from "./ui/links";
import { provideRich } from "./ui/rich";
import { provideToasts, Toasts } from "./ui/toasts.svelte";

export interface Model {
  host: Host;
  shell: Shell;
  toasts: Toasts;
  projects: Projects;
  workspaces: Workspaces;
  settings: Settings;
  tour: Tour;
  connection: Connection;
  commands: CommandCenter;
  desk: Desk;
  sandboxes: Sandboxes;
  terminals: Terminals;
  drafts: Drafts;
  attachments: Attachments;
  /** Where code goes that is to be run in a terminal. */
  terminalDoor: TerminalDoor;
}

/** Makes the stores and hands them to the views below. Call it while the root component starts. */
export function provideModel(host: Host): Model {
  const mac = /Mac|iPhone|iPad/.test(navigator.platform);
  const attachments = new Attachments(host);
  const drafts = new Drafts(host, attachments);
  attachments.onchange = (workspace) => drafts.touch(workspace);
  const shell = new Shell(sessionStorage);
  const projects = new Projects(host);
  const workspaces = new Workspaces(host);
  const settings = new Settings(host);
  const model: Model = {
    host,
    shell,
    toasts: new Toasts(),
    projects,
    workspaces,
    settings,
    tour: new Tour(host, { projects, workspaces, settings, shell, suggest: (workspace, text) => drafts.suggest(workspace, text) }, sessionStorage),
    connection: new Connection(host),
    commands: new CommandCenter({ mac, browser: host.kind === "browser", kind: /Firefox\//.test(navigator.userAgent) ? "firefox" : "other" }, sessionStorage),
    desk: new Desk(host, drafts),
    sandboxes: new Sandboxes(host),
    terminals: new Terminals(host),
    drafts,
    attachments,
    terminalDoor: new TerminalDoor(),
  };
  provideHost(host);
  provideShell(model.shell);
  provideToasts(model.toasts);
  provideProjects(model.projects);
  provideWorkspaces(model.workspaces);
  provideSettings(model.settings);
  provideTour(model.tour);
  provideConnection(model.connection);
  provideCommands(model.commands);
  provideDesk(model.desk);
  provideDrafts(drafts);
  provideSandboxes(model.sandboxes);
  provideTerminals(model.terminals);
  provideAttachments(attachments);
  provideShownPictures(new ShownPictures(host));
  provideRich({
    formulas: new Formulas(),
    diagrams: new Diagrams(),
    get run() {
      const [put, workspace] = [model.terminalDoor.put, model.shell.selected];
      return put && workspace !== "" ? (code: string) => put(workspace, code) : undefined;
    },
  });
  provideLinks((address) => {
    if (!host.openLink(address)) model.toasts.problem("Carrel opens only web and mail addresses.");
  });
  void Promise.all([model.terminals.refresh().catch(() => undefined), model.projects.refresh(), model.workspaces.refresh(), model.settings.refresh().catch((error: unknown) => model.toasts.problem(error))]);
  return model;
}
