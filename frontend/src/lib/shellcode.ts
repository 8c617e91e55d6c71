// Code that a shell understands, for a terminal.

const shells = new Set(["sh", "bash", "shell", "zsh", "console", "shell-session", "terminal"]);
/** Longer commands, in characters, are for a file. */
const most = 8192;

/** What to put at a prompt, or undefined for code that is not for a shell. Prompts and what was printed go. */
export function commandOf(language: string, text: string): string | undefined {
  if (!shells.has(language.toLowerCase()) || text.length > most) return undefined;
  const lines = text.split("\n");
  const asked = lines.filter((line) => /^[$%] /.test(line));
  const command = (asked.length > 0 ? asked.map((line) => line.slice(2)) : lines).join("\n").trim();
  // eslint-disable-next-line no-control-regex -- a control character would be a key press
  return command === "" || /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/.test(command) ? undefined : command;
}
