// Which keys which commands have: what the person chose goes before what the registry says.
import { commands, type CommandId, type CommandSpec } from "./commands";
import { isKept, isPlain, onPlatform, readKey, textOf, type Platform } from "./keys";

export interface Binding {
  id: CommandId;
  key: string;
  /** The person chose it. */
  own: boolean;
}

/** Something about the keys in the settings that can't be as it is written, or hardly is meant so. */
export type KeyProblem =
  | { kind: "unknown"; command: string }
  | { kind: "fixed"; command: CommandId }
  | { kind: "broken"; command: CommandId; key: string }
  | { kind: "conflict"; key: string; commands: CommandId[] };

type Chosen = Readonly<Record<string, readonly string[]>>;

const specs: readonly (CommandSpec & { id: CommandId })[] = commands;

/** The keys that the registry gives a command. */
export function usualKeys(spec: CommandSpec, platform: Platform): readonly string[] {
  return (platform.mac ? spec.mac : undefined) ?? spec.keys;
}

/** Every key of every command, in the order in which they are tried. */
export function bind(chosen: Chosen, platform: Platform): Binding[] {
  const all = specs.flatMap(({ id, ...spec }) => {
    const own = spec.local ? undefined : chosen[id];
    return (own ?? usualKeys({ id, ...spec }, platform)).flatMap((text) => {
      const key = readKey(text);
      return key ? [{ id, key: textOf(onPlatform(key, platform)), own: own !== undefined, scoped: spec.scope !== undefined }] : [];
    });
  });
  const weight = (one: (typeof all)[number]) => (one.own ? 2 : 0) + (one.scoped ? 1 : 0);
  return all.sort((a, b) => weight(b) - weight(a)).map(({ id, key, own }) => ({ id, key, own }));
}

/** What is wrong with the keys that the person chose. */
export function problemsOf(chosen: Chosen, platform: Platform): KeyProblem[] {
  const problems: KeyProblem[] = [];
  for (const [command, keys] of Object.entries(chosen)) {
    const spec = specs.find((one) => one.id === command);
    if (!spec) problems.push({ kind: "unknown", command });
    else if (spec.local) problems.push({ kind: "fixed", command: spec.id });
    else for (const key of keys) if (!readKey(key)) problems.push({ kind: "broken", command: spec.id, key });
  }
  return [...problems, ...conflicts(bind(chosen, platform))];
}

/** Keys that more than one command has in the same place, where the person chose at least one. */
function conflicts(bindings: readonly Binding[]): KeyProblem[] {
  const byKey = new Map<string, Binding[]>();
  for (const one of bindings) {
    if (spec(one.id).local) continue;
    const place = `${spec(one.id).scope ?? ""} ${one.key}`;
    byKey.set(place, [...(byKey.get(place) ?? []), one]);
  }
  return [...byKey.values()].filter((group) => new Set(group.map((one) => one.id)).size > 1 && group.some((one) => one.own)).map((group) => ({ kind: "conflict", key: group[0]?.key ?? "", commands: [...new Set(group.map((one) => one.id))] }));
}

/** The other commands that a key would run, were it given to this one. */
export function holders(key: string, id: CommandId, bindings: readonly Binding[]): CommandId[] {
  return [...new Set(bindings.filter((one) => one.key === key && one.id !== id && !spec(one.id).local && spec(one.id).scope === spec(id).scope).map((one) => one.id))];
}

/** Why a key would be a poor choice here; "" when nothing speaks against it. */
export function drawback(key: string, platform: Platform): string {
  if (isKept(key, platform)) return "The browser keeps this key for itself. It works in the window.";
  if (isPlain(key, platform)) return "This key types a character, so it acts only outside text fields.";
  return "";
}

function spec(id: CommandId): CommandSpec {
  const found = specs.find((one) => one.id === id);
  if (!found) throw new Error(`no command ${id}`);
  return found;
}
