// Writes docs/shortcuts.md from the registry: `make generate`.
import { usualKeys } from "./bindings";
import { commandGroups, commands, type CommandId, type CommandSpec } from "./commands";
import { usableKeys, writeKey, type Platform } from "./keys";

const linux: Platform = { mac: false, browser: false };
const mac: Platform = { mac: true, browser: false };

export function shortcutsPage(): string {
  const all: readonly (CommandSpec & { id: CommandId })[] = commands;
  return `${head}\n${commandGroups.map((name) => section(name, all.filter((command) => command.group === name))).filter((text) => text !== "").join("\n")}\n${foot(all)}`;
}

const keysOf = (spec: CommandSpec, platform: Platform) => usualKeys(spec, platform).map((key) => `\`${writeKey(key, platform).replace("`", "backquote")}\``).join(", ");

function section(name: string, list: readonly (CommandSpec & { id: CommandId })[]): string {
  if (list.length === 0) return "";
  const rows = list.map((spec) => `| ${spec.title}${spec.scope ? " (in terminals)" : ""} | ${keysOf(spec, linux)} | ${keysOf(spec, mac)} | ${spec.local ? "" : `\`${spec.id}\``} |`);
  return `## ${name}\n\n| action | Linux | macOS | id |\n| --- | --- | --- | --- |\n${rows.join("\n")}\n`;
}

function foot(all: readonly CommandSpec[]): string {
  const kept = all.flatMap((spec) => {
    const usable = usableKeys(usualKeys(spec, linux), { mac: false, browser: true });
    const lost = usualKeys(spec, linux).filter((key) => !usable.includes(key));
    return lost.length > 0 ? [`${spec.title}: ${usable.map((key) => `\`${writeKey(key, linux)}\``).join(", ")} instead of ${lost.map((key) => `\`${writeKey(key, linux)}\``).join(", ")}`] : [];
  });
  return `## In a browser

A browser keeps some keys for itself; the second key of a command works there, and the sheet shows it:

${kept.map((line) => `- ${line}`).join("\n")}
- In Firefox, which opens a private window with \`Ctrl+Shift+P\`: \`Alt+Shift+P\` goes to a workspace.
`;
}

const head = `# Shortcuts

<!-- Written by "make generate" from frontend/src/features/help/commands.ts; a test says when it is stale. -->

\`F1\` or \`?\` shows the keys that work where you are, with a search. \`Ctrl+Shift+P\` goes to a workspace;
behind \`>\`, or with \`F4\`, it runs any command, and behind \`/\` it writes a slash command.

## Your own keys

**Settings, Keys** records keys, shows conflicts, and sets a command back to its usual keys. The core keeps
them in \`settings.jsonc\`, by the id of the command, in place of its usual keys:

\`\`\`jsonc
{
  "keys": {
    "workspace.next": ["Mod+B", "F6"], // several are fine
    "turn.interrupt": []               // no key at all
  }
}
\`\`\`

A key is its modifiers and its name: \`Mod\` (\`⌘\` on a Mac, \`Ctrl\` elsewhere), \`Ctrl\`, \`Meta\`, \`Alt\`, \`Shift\`, then a
letter, a digit, a sign, \`F1\` to \`F24\`, or \`Enter\`, \`Escape\`, \`Tab\`, \`Space\`, \`Backspace\`, \`Delete\`, \`Insert\`,
\`Home\`, \`End\`, \`PageUp\`, \`PageDown\`, \`ArrowUp\` and so on, and \`Plus\` for the sign +. \`Digit\` is any of 1 to 9.
What can't be read, and commands that this version does not know, are told in **Settings, Keys** and stay in
the file.

Letters are those that are printed on your keyboard; on a layout without Latin letters, the keys in their
places count. \`[\` and \`]\` with \`Shift\` are meant by their place on a US keyboard.

Keys that type a character act only outside text fields; on a Mac those with Option too.

In a terminal only keys with \`Ctrl+Shift\` (on a Mac those with \`⌘\`) and those of the palette reach Carrel; all
others are the terminal's. In the composer, vim mode keeps \`Esc\` and everything that is a command of vim.
`;
