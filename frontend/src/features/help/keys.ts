// Reading and writing keys.

export interface Platform {
  mac: boolean;
  /** Keys that a browser never hands to a page. */
  browser: boolean;
}

const kept = new Set(["Mod+N", "Mod+T", "Mod+W", "Mod+Shift+N", "Mod+Shift+T", "Mod+Shift+W"]);

const macNames: Record<string, string> = { Mod: "⌘", Shift: "⇧", Alt: "⌥", Enter: "↵", Escape: "Esc", Digit: "1–9", ArrowUp: "↑", ArrowDown: "↓" };
const otherNames: Record<string, string> = { Mod: "Ctrl", Enter: "Enter", Escape: "Esc", Digit: "1–9", ArrowUp: "↑", ArrowDown: "↓" };
/** With Shift these make another sign, so their place counts. */
const places: Record<string, string> = { "[": "BracketLeft", "]": "BracketRight" };

/** How a key is written for people: ⌘⇧P, or Ctrl+Shift+P. */
export function writeKey(key: string, platform: Platform): string {
  const names = platform.mac ? macNames : otherNames;
  return key.split("+").map((part) => names[part] ?? part).join(platform.mac ? "" : "+");
}

/** The keys that work on the platform. */
export function usableKeys(keys: readonly string[], platform: Platform): string[] {
  return keys.filter((key) => !platform.browser || !kept.has(key));
}

/** Whether the event is the key; for Digit, which digit it is. */
export function matchKey(event: KeyboardEvent, key: string, platform: Platform): { digit?: number } | undefined {
  const parts = key.split("+");
  const name = parts.pop() ?? "";
  const mod = platform.mac ? event.metaKey : event.ctrlKey;
  const otherMod = platform.mac ? event.ctrlKey : event.metaKey;
  if (mod !== parts.includes("Mod") || otherMod || event.altKey !== parts.includes("Alt")) return undefined;
  if (name === "Digit") {
    const digit = /^Digit([1-9])$/.exec(event.code)?.[1];
    return digit !== undefined && event.shiftKey === parts.includes("Shift") ? { digit: Number(digit) } : undefined;
  }
  const place = places[name];
  if (place !== undefined && parts.includes("Shift")) return event.shiftKey && event.code === place ? {} : undefined;
  // A sign such as ? needs Shift on some keyboards and not on others.
  const sign = name.length === 1 && !/[A-Z0-9]/.test(name);
  if (!sign && event.shiftKey !== parts.includes("Shift")) return undefined;
  // With Alt a key makes another character on some systems, so its place counts.
  const same = parts.includes("Alt") && /^[A-Z]$/.test(name) ? event.code === `Key${name}` : event.key.toLowerCase() === name.toLowerCase();
  return same ? {} : undefined;
}

/** Whether the key types something into the element. */
export function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches("input, textarea, select"));
}

/** Whether a key alone, without Ctrl, Command or Alt, would type a character. */
export function isPlain(key: string): boolean {
  const parts = key.split("+");
  return (parts[parts.length - 1] ?? "").length === 1 && !parts.includes("Mod") && !parts.includes("Alt");
}
