// Every action of the page, declared once. Keys, tooltips, the palette, the sheet of shortcuts, the menus
// and docs/shortcuts.md are made from this list: a feature adds its lines here, and registers what they do
// with the command center while it can do it.
//
// keys.ts says how a key is written. The first key that the host can catch is the one that is shown, and
// a key that browsers keep, such as Ctrl+N, has a second one beside it. A test holds the list against the
// keys that were promised.

/** The groups, in the order of the sheet. */
export const commandGroups = ["General", "Conversation", "Composer", "Workspaces", "Terminals", "Interface"] as const;
export type CommandGroup = (typeof commandGroups)[number];

export interface CommandSpec {
  id: string;
  title: string;
  group: CommandGroup;
  keys: readonly string[];
  /** Takes the place of keys on a Mac, where Option types characters and Control moves in texts. */
  mac?: readonly string[];
  /** More words that find it in the palette. */
  words?: string;
  /** Handled where it happens, such as Enter in the composer; its keys can't be changed. */
  local?: boolean;
  /** Not offered in the palette. */
  hidden?: boolean;
  /** Acts only while a terminal has the focus, and goes before others there. */
  scope?: "terminal";
  /** Its keys work everywhere: in terminals, and over the sheets of narrow windows. */
  over?: boolean;
}

export const commands = [
  { id: "palette.open", title: "Go to a workspace", group: "General", keys: ["Mod+Shift+P", "Alt+Shift+P"], mac: ["Mod+Shift+P", "Mod+Alt+P"], hidden: true, over: true },
  { id: "palette.commands", title: "Run a command", group: "General", keys: ["F4"], hidden: true, over: true },
  { id: "palette.slash", title: "Insert a slash command", group: "Composer", keys: [], words: "prompt" },
  { id: "settings.open", title: "Settings", group: "General", keys: ["Mod+,"] },
  { id: "help.shortcuts", title: "Keyboard shortcuts", group: "General", keys: ["?", "F1"] },
  { id: "app.quit", title: "Quit Carrel", group: "General", keys: ["Mod+Q"], words: "close exit leave" },
  { id: "tour.start", title: "Take the tour on a sample project", group: "General", keys: [], words: "first run demo help" },
  { id: "keys.change", title: "Settings: Change keys", group: "General", keys: [], words: "shortcuts bindings" },
  { id: "dialog.close", title: "Close a dialog or menu", group: "General", keys: ["Escape"], local: true },

  { id: "composer.focus", title: "Write a message", group: "Conversation", keys: ["Mod+I", "A", "I"] },
  { id: "composer.send", title: "Send the message", group: "Conversation", keys: ["Enter"], local: true },
  { id: "composer.sendAfterTurn", title: "Send the message after this turn", group: "Conversation", keys: ["Mod+Enter"], local: true },
  { id: "composer.newline", title: "New line in the message", group: "Conversation", keys: ["Shift+Enter"], local: true },
  { id: "composer.interrupt", title: "Stop the agent, from the composer in Vim mode", group: "Composer", keys: ["Ctrl+C"], local: true },
  { id: "question.once", title: "Allow once what the agent asks for", group: "Conversation", keys: ["Mod+Shift+Y", "Y"] },
  { id: "question.always", title: "Allow it always in this project", group: "Conversation", keys: ["Mod+Shift+U"] },
  { id: "question.no", title: "Refuse what the agent asks for", group: "Conversation", keys: ["Mod+Shift+X", "N"] },
  { id: "mode.next", title: "Next mode: how much runs without a question", group: "Conversation", keys: ["Mod+Shift+M"] },
  { id: "turn.interrupt", title: "Stop the agent", group: "Conversation", keys: ["Escape"] },
  { id: "conversation.retry", title: "Try again", group: "Conversation", keys: [] },
  { id: "pictures.attach", title: "Attach pictures", group: "Conversation", keys: [] },
  { id: "message.editLast", title: "Edit your last message, from an empty composer", group: "Conversation", keys: ["ArrowUp"], local: true },
  { id: "message.cancelEdit", title: "Stop editing a message", group: "Conversation", keys: ["Escape"], local: true },
  { id: "queue.move", title: "Move a waiting message up or down", group: "Conversation", keys: ["Alt+ArrowUp", "Alt+ArrowDown"], local: true },
  { id: "conversation.find", title: "Find in this conversation", group: "Conversation", keys: ["Mod+F", "F3"] },
  { id: "conversation.bottom", title: "Jump to the latest message", group: "Conversation", keys: ["Shift+G"] },
  { id: "model.choose", title: "Choose a model", group: "Conversation", keys: [] },
  { id: "model.next", title: "Next model", group: "Conversation", keys: ["Mod+/"] },
  { id: "level.up", title: "Think harder", group: "Conversation", keys: ["Mod+Shift+]"] },
  { id: "level.down", title: "Think less", group: "Conversation", keys: ["Mod+Shift+["] },
  { id: "pro.toggle", title: "Turn pro mode on or off", group: "Conversation", keys: [] },
  { id: "conversation.clearSoft", title: "Start anew, and keep showing what was said", group: "Conversation", keys: [] },
  { id: "conversation.clear", title: "Clear the conversation", group: "Conversation", keys: [] },
  { id: "conversation.exportMarkdown", title: "Export the conversation as Markdown", group: "Conversation", keys: [] },
  { id: "conversation.exportJson", title: "Export the conversation as JSON", group: "Conversation", keys: [] },
  { id: "search.open", title: "Search all conversations", group: "Conversation", keys: ["Mod+Shift+F"] },

  { id: "workspace.new", title: "New workspace", group: "Workspaces", keys: ["Mod+N", "Alt+N"], mac: ["Mod+N", "Mod+Alt+N"] },
  { id: "project.add", title: "Add a project", group: "Workspaces", keys: ["Mod+Shift+A"] },
  { id: "workspace.next", title: "Next workspace", group: "Workspaces", keys: ["Mod+J"] },
  { id: "workspace.previous", title: "Previous workspace", group: "Workspaces", keys: ["Mod+K"] },
  { id: "workspace.number", title: "Workspace 1 to 9", group: "Workspaces", keys: ["Mod+Digit"], hidden: true },
  { id: "workspace.rename", title: "Rename this workspace", group: "Workspaces", keys: ["F2"] },
  { id: "workspace.fork", title: "Fork this workspace", group: "Workspaces", keys: [] },
  { id: "workspace.archive", title: "Archive or bring back this workspace", group: "Workspaces", keys: [] },
  { id: "workspace.delete", title: "Delete this workspace", group: "Workspaces", keys: [] },
  { id: "workspace.waiting", title: "Next workspace that waits for you", group: "Workspaces", keys: [] },
  { id: "workspace.sub", title: "New sub-workspace of this workspace", group: "Workspaces", keys: [] },
  { id: "workspace.pin", title: "Pin or unpin this workspace", group: "Workspaces", keys: [] },
  { id: "workspace.unread", title: "Mark this workspace as unread or read", group: "Workspaces", keys: [] },
  { id: "sidebar.walk", title: "Go up and down in the sidebar", group: "Workspaces", keys: ["ArrowUp", "ArrowDown"], local: true },
  { id: "sidebar.move", title: "Move a project or workspace up or down in the sidebar", group: "Workspaces", keys: ["Alt+ArrowUp", "Alt+ArrowDown"], local: true },
  { id: "workspace.filter", title: "Filter workspaces", group: "Workspaces", keys: ["F"] },

  { id: "coder.refresh", title: "Settings: Refresh Coder providers", group: "General", keys: [] },
  { id: "coder.load", title: "Settings: Load Coder model catalog", group: "General", keys: [] },

  { id: "terminals.open", title: "Show the terminals", group: "Terminals", keys: ["Mod+`"], words: "shell console" },
  { id: "terminal.new", title: "New terminal", group: "Terminals", keys: ["Mod+Shift+E"], words: "shell console" },
  { id: "terminal.split", title: "Split: another terminal beside this one", group: "Terminals", keys: ["Mod+Shift+S"] },
  { id: "terminal.confined", title: "New confined terminal", group: "Terminals", keys: [], words: "sandbox" },
  { id: "terminal.close", title: "Close this terminal", group: "Terminals", keys: [] },
  { id: "terminal.next", title: "Next terminal", group: "Terminals", keys: ["Mod+Shift+ArrowRight"], scope: "terminal" },
  { id: "terminal.previous", title: "Previous terminal", group: "Terminals", keys: ["Mod+Shift+ArrowLeft"], scope: "terminal" },
  { id: "terminal.find", title: "Find in this terminal", group: "Terminals", keys: ["Mod+Shift+F"], mac: ["Mod+F"], scope: "terminal" },
  { id: "terminal.copy", title: "Copy what is selected in this terminal", group: "Terminals", keys: ["Mod+Shift+C"], mac: ["Mod+C"], scope: "terminal" },
  { id: "terminal.paste", title: "Paste into this terminal", group: "Terminals", keys: ["Mod+Shift+V"], mac: ["Mod+V"], scope: "terminal", local: true },
  { id: "terminal.clear", title: "Clear this terminal's scrollback", group: "Terminals", keys: [] },
  { id: "terminal.system", title: "Open the workspace in the system's terminal", group: "Terminals", keys: ["Mod+T", "Alt+T"], mac: ["Mod+T", "Mod+Alt+T"] },
  { id: "editor.open", title: "Open the workspace in your editor", group: "Terminals", keys: [], words: "vscode cursor zed jetbrains vim" },

  { id: "sidebar.toggle", title: "Show or hide the sidebar", group: "Interface", keys: ["Mod+P"] },
  { id: "right.toggle", title: "Show or hide the right column", group: "Interface", keys: ["Mod+Shift+D"] },
  { id: "changes.open", title: "Show the changes", group: "Interface", keys: [] },
  { id: "costs.open", title: "Show the costs", group: "Interface", keys: [] },
  { id: "sandbox.open", title: "Show the sandbox", group: "Interface", keys: [] },
  { id: "output.open", title: "Show Output", group: "Interface", keys: [], words: "log debug" },
  { id: "output.close", title: "Hide Output", group: "Interface", keys: [], words: "log" },
  { id: "output.file", title: "Open Log File", group: "Interface", keys: [] },
  { id: "density.toggle", title: "Switch between comfortable and compact", group: "Interface", keys: [] },
  { id: "theme.toggle", title: "Switch between light and dark", group: "Interface", keys: [] },
] as const satisfies readonly CommandSpec[];

export type CommandId = (typeof commands)[number]["id"];

/** The command's declaration. */
export function specOf(id: CommandId): CommandSpec {
  const spec: CommandSpec | undefined = commands.find((command) => command.id === id);
  if (!spec) throw new Error(`no command ${id}`);
  return spec;
}
