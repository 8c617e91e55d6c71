// What the person types behind a slash: commands of the page, and models and levels for one message,
// which the core reads.
import type { Model } from "../../host/host";

/** What a text asks the page to do; undefined for a message. */
export type Command =
  | { kind: "model"; name: string }
  | { kind: "fork"; name: string; message: string }
  | { kind: "clear"; soft: boolean }
  /** Shows the sandbox, or switches it. */
  | { kind: "sandbox"; on?: boolean }
  /** A command that can't be done as it is written. */
  | { kind: "problem"; message: string };

/** Reads a command. */
export function readCommand(text: string): Command | undefined {
  const [first = "", ...rest] = text.trim().split("\n");
  const [word = "", ...words] = first.trim().split(/\s+/);
  const below = rest.join("\n").trim();
  switch (word.toLowerCase()) {
    case "/model":
      if (words.length > 1 || below !== "") return { kind: "problem", message: "Write one model behind /model, such as /model sonnet. For one message, begin it with /sonnet." };
      return { kind: "model", name: words[0] ?? "" };
    case "/fork":
      if (words.length > 1) return { kind: "problem", message: "Write one name behind /fork, and the first message on the lines below." };
      return { kind: "fork", name: words[0] ?? "", message: below };
    case "/clear":
      if (words.length === 0 && below === "") return { kind: "clear", soft: false };
      if (words.length === 1 && words[0] === "--soft" && below === "") return { kind: "clear", soft: true };
      return { kind: "problem", message: "/clear takes nothing but --soft." };
    case "/sandbox":
      if (words.length === 0 && below === "") return { kind: "sandbox" };
      if (words.length === 1 && below === "" && (words[0] === "on" || words[0] === "off")) return { kind: "sandbox", on: words[0] === "on" };
      return { kind: "problem", message: "/sandbox takes nothing, on or off." };
    default:
      return undefined;
  }
}

/** Something that can stand behind the slash. */
export interface Hint {
  /** What the text becomes. */
  text: string;
  /** What it does. */
  note: string;
  /** Whether the text says enough, so that Enter sends it. */
  whole: boolean;
}

const commands: Hint[] = [
  { text: "/model ", note: "Choose another model", whole: false },
  { text: "/fork ", note: "Go on in a new workspace; the first message on the lines below", whole: false },
  { text: "/clear", note: "Clear the conversation: nothing of it is shown or sent any more", whole: true },
  { text: "/clear --soft", note: "Start anew for the model, and keep showing what was said", whole: true },
  { text: "/sandbox", note: "Show what confines commands here", whole: true },
  { text: "/sandbox off", note: "Let commands run unconfined while this conversation is open", whole: true },
  { text: "/sandbox on", note: "Confine commands again", whole: true },
];

const most = 12;

/** Hints for what is typed so far; none for an ordinary text. `model` is the one that answers now. */
export function hintsFor(text: string, models: Model[], model: Model | undefined): Hint[] {
  if (!text.startsWith("/") || text.includes("\n")) return [];
  const typed = text.toLowerCase();
  const choosing = /^\/model\s+(\S*)$/.exec(typed);
  if (choosing) {
    const start = choosing[1] ?? "";
    const names = named(models).filter((one) => one.alias.startsWith(start) || one.model.id.toLowerCase().includes(start));
    return names.slice(0, most).map(({ alias, model: one }) => ({ text: `/model ${alias}`, note: one.name, whole: true }));
  }
  const level = /^\/([a-z0-9][\w.-]*)?\+(\S*)$/.exec(typed);
  if (level) return levelHints(level[1] ?? "", level[2] ?? "", models, model);
  const own = commands.filter((hint) => hint.text.startsWith(typed));
  const once = named(models)
    .filter((one) => `/${one.alias}`.startsWith(typed))
    .map(({ alias, model: one }) => ({ text: `/${alias} `, note: `${one.name} for this message`, whole: false }));
  const bare = typed === "/" && (model?.levels?.length ?? 0) > 0 ? [{ text: "/+", note: "Another level of thinking for this message", whole: false }] : [];
  const all = [...own, ...once, ...bare];
  return all.slice(0, most);
}

function levelHints(alias: string, start: string, models: Model[], current: Model | undefined): Hint[] {
  const model = alias === "" ? current : models.find((one) => (one.aliases ?? []).includes(alias));
  const name = alias === "" ? "" : ` with ${model?.name ?? alias}`;
  return (model?.levels ?? []).filter((one) => one.startsWith(start)).map((one) => ({ text: `/${alias}+${one} `, note: `Thinking ${one}${name}, for this message`, whole: false }));
}

/** The models by the shortest name of each. */
function named(models: Model[]): { alias: string; model: Model }[] {
  return models.filter((one) => one.available).flatMap((model) => {
    const alias = model.aliases?.[0];
    return alias === undefined ? [] : [{ alias, model }];
  });
}
