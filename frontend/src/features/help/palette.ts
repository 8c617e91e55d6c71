// What the palette lists. Without a prefix it goes to workspaces, with ">" it runs commands, with "/" it
// puts slash commands into the composer.
import { rank, type Match } from "../../lib/fuzzy";
import type { Status } from "../../ui/StatusDot.svelte";
import type { CommandId, CommandSpec } from "./commands";

/** A workspace to go to. */
export interface Place {
  id: string;
  title: string;
  /** Its project and branch. */
  note: string;
  dot: Status;
  /** Its state in a word. */
  word: string;
}

/** A slash command. */
export interface Slash {
  text: string;
  note: string;
}

export type Mode = "places" | "commands" | "slash";

/** One line of the palette. */
export type Line =
  | { kind: "place"; key: string; place: Place; marks: ReadonlySet<number> }
  | { kind: "command"; key: string; command: CommandSpec & { id: CommandId }; marks: ReadonlySet<number> }
  | { kind: "slash"; key: string; slash: Slash; marks: ReadonlySet<number> }
  /** Nothing fits here: the same words, looked for among the commands. */
  | { kind: "elsewhere"; key: string; words: string };

/** More are never listed. */
const most = 100;

/** What the text asks for, and the words behind its prefix. */
export function readQuery(text: string): { mode: Mode; words: string } {
  const typed = text.trimStart();
  if (typed.startsWith(">")) return { mode: "commands", words: typed.slice(1).trim() };
  if (typed.startsWith("/")) return { mode: "slash", words: typed.slice(1).trim() };
  return { mode: "places", words: typed.trim() };
}

export interface Offer {
  places: readonly Place[];
  /** The workspace that shows now; it comes last, as nobody goes where they are. */
  here: string;
  commands: readonly (CommandSpec & { id: CommandId })[];
  slashes: readonly Slash[];
  placeWeight: (id: string) => number;
  commandWeight: (id: string) => number;
}

export function linesFor(text: string, offer: Offer): Line[] {
  const { mode, words } = readQuery(text);
  const lines = { places, commands, slash }[mode](words, offer).slice(0, most);
  if (lines.length > 0 || words === "" || mode !== "places") return lines;
  return commands(words, offer).length > 0 ? [{ kind: "elsewhere", key: "elsewhere", words }] : [];
}

function places(words: string, { places, here, placeWeight }: Offer): Line[] {
  const recency = ({ id }: Place) => (id !== here ? placeWeight(id) : words === "" ? -1 : 0);
  const found = rank(places, words, { text: (place) => place.title, more: (place) => place.note, recency });
  return found.map(({ item, marks }) => ({ kind: "place", key: `place ${item.id}`, place: item, marks }));
}

function commands(words: string, { commands, commandWeight }: Offer): Line[] {
  const found: Match<CommandSpec & { id: CommandId }>[] = rank(commands, words, { text: (command) => command.title, more: (command) => `${command.group} ${command.words ?? ""}`, recency: (command) => commandWeight(command.id) });
  return found.map(({ item, marks }) => ({ kind: "command", key: `command ${item.id}`, command: item, marks }));
}

function slash(words: string, { slashes }: Offer): Line[] {
  return rank(slashes, words, { text: (one) => one.text, more: (one) => one.note }).map(({ item, marks }) => ({ kind: "slash", key: `slash ${item.text}`, slash: item, marks }));
}
