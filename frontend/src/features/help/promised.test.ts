// The keys that the product promises, and which command has each. A key whose feature does not exist yet
// says why; when the feature comes, its line says which command it is.
import { expect, test } from "vitest";
import { usualKeys } from "./bindings";
import { commands, type CommandId, type CommandSpec } from "./commands";

type Promised = [action: string, keys: string[], command: CommandId | { none: string }];

const promised: Promised[] = [
  ["Cancel, close, interrupt", ["Escape"], "turn.interrupt"],
  ["Close a dialog", ["Escape"], "dialog.close"],
  ["Focus the composer", ["A", "I", "Mod+I"], "composer.focus"],
  ["Send the message", ["Enter"], "composer.send"],
  ["Send after the turn", ["Mod+Enter"], "composer.sendAfterTurn"],
  ["New line", ["Shift+Enter"], "composer.newline"],
  ["Cancel editing a message", ["Escape"], "message.cancelEdit"],
  ["Jump to the bottom", ["Shift+G"], "conversation.bottom"],
  ["Next model", ["Mod+/"], "model.next"],
  ["Think harder", ["Mod+Shift+]"], "level.up"],
  ["Think less", ["Mod+Shift+["], "level.down"],
  ["Create a workspace", ["Mod+N"], "workspace.new"],
  ["Next workspace", ["Mod+J"], "workspace.next"],
  ["Previous workspace", ["Mod+K"], "workspace.previous"],
  ["Open the palette", ["Mod+Shift+P"], "palette.open"],
  ["Open the palette for commands", ["F4"], "palette.commands"],
  ["Toggle the sidebar", ["Mod+P"], "sidebar.toggle"],
  ["Settings", ["Mod+,"], "settings.open"],
  ["Next mode", ["Mod+Shift+M"], "mode.next"],
  ["Background processes", ["Mod+Shift+J"], { none: "the strip of background processes is not there yet" }],
  ["Open the workspace in a terminal", ["Mod+T"], "terminal.system"],
  ["Agent picker", ["Mod+Shift+A"], { none: "agents come with the agents' own issue; until then the key adds a project" }],
  ["Next agent", ["Mod+."], { none: "agents come with the agents' own issue" }],
  ["Notify on responses", ["Mod+Shift+,"], { none: "notifications come later" }],
  ["Computer use", ["Mod+Shift+X"], { none: "computer use comes later; until then the key refuses what an agent asks for" }],
  ["Open a server's window", ["Mod+Shift+O"], { none: "windows of servers come later" }],
  ["Scratch chat", ["Mod+Shift+N"], { none: "scratch chats come later" }],
  ["Artifacts", ["Mod+Shift+K"], { none: "artifacts come later" }],
  ["Report slowness", ["Mod+Alt+Shift+S"], { none: "the flight recorder comes later" }],
  ["Save session tapes", ["Mod+Alt+Shift+T"], { none: "session tapes come later" }],
  ["Reveal session tapes", ["Mod+Alt+Shift+F"], { none: "session tapes come later" }],
];

const all: readonly CommandSpec[] = commands;

test("every key that is promised has its command, or the reason why not", () => {
  for (const [action, keys, command] of promised) {
    if (typeof command !== "string") {
      expect(command.none, action).not.toBe("");
      continue;
    }
    const spec = all.find((one) => one.id === command);
    for (const mac of [true, false]) for (const key of keys) expect(spec && usualKeys(spec, { mac, browser: false }), action).toContain(key);
  }
});
