// How modes and missing rights are called.
import type { Question, Right } from "../../host/host";

export interface ModeWords {
  id: string;
  word: string;
  note: string;
}

/** From the strictest to the loosest. */
export const modes: readonly ModeWords[] = [
  { id: "plan", word: "Plan", note: "nothing writes" },
  { id: "ask", word: "Ask", note: "edits and commands ask" },
  { id: "accept-edits", word: "Accept edits", note: "commands ask" },
  { id: "auto", word: "Auto", note: "what the sandbox holds runs" },
  { id: "bypass", word: "Bypass", note: "nothing asks" },
];

export function modeWord(id: string): string {
  return modes.find((one) => one.id === id)?.word ?? id;
}

const verbs: Record<string, string> = {
  command: "run",
  write: "write",
  read: "read",
  outside: "run outside of the sandbox",
  tool: "call",
};

/** What a missing right lets the agent do, in a word before the thing itself. */
export function verb(right: Right): string {
  return verbs[right.kind] ?? "";
}

const lists: Record<string, string> = {
  allow: "allowed",
  allow_outside: "allowed, out of the sandbox too",
  ask: "asks",
  deny: "denied",
  allowed_domains: "host that may be reached",
  allow_write: "folder that may be written",
};

/** What a rule's list makes of it. */
export function listWord(list: string): string {
  return lists[list] ?? list;
}

const origins: Record<string, string> = { settings: "everywhere", project: "this project", session: "until this conversation is closed" };

/** Where a rule counts. */
export function originWord(from: string): string {
  return origins[from] ?? from;
}

/** The question in a few words. */
export function title(question: Question): string {
  if (question.outside) return "Run this outside of the sandbox?";
  const kinds = new Set(question.rights.map((right) => right.kind));
  if (kinds.size === 1 && kinds.has("write")) return "Write this?";
  if (kinds.size === 1 && kinds.has("read")) return "Read this?";
  if (kinds.has("command")) return "Run this?";
  return "Allow this?";
}
