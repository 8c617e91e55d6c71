// Reading, writing and comparing keys.
//
// A key is written as its modifiers and its name, joined by "+": "Mod+Shift+P", "F4", "?". "Mod" is
// Command on a Mac and Ctrl elsewhere; "Ctrl" is the Control key everywhere. A letter means the key that
// prints it; on a layout without Latin letters, the key in its place. A sign means whatever types it,
// except with Mod or Alt and Shift, where its place on a US keyboard counts, because Shift makes
// another sign of it. "Digit" is any of 1 to 9, "Plus" the sign +, "Space" the space bar.

export type Browser = "firefox" | "other";

export interface Platform {
  mac: boolean;
  /** The page is in a browser, which never hands over some keys. */
  browser: boolean;
  /** Which browser it is, where they differ. */
  kind?: Browser;
}

export interface Key {
  mod: boolean;
  ctrl: boolean;
  meta: boolean;
  alt: boolean;
  shift: boolean;
  name: string;
}

/** What a browser keeps for itself: windows, tabs, and in Firefox the private window. */
const kept = new Set(["Mod+N", "Mod+T", "Mod+W", "Mod+Q", "Mod+Shift+N", "Mod+Shift+T", "Mod+Shift+W"]);
const keptByFirefox = new Set(["Mod+Shift+P", "Mod+Shift+Q"]);

const named = new Set(["Enter", "Escape", "Tab", "Space", "Backspace", "Delete", "Insert", "Home", "End", "PageUp", "PageDown", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Digit", "Plus"]);
/** Where signs are on a US keyboard, and what Shift makes of them there. */
const places: Record<string, [code: string, shifted: string]> = {
  "[": ["BracketLeft", "{"], "]": ["BracketRight", "}"], ",": ["Comma", "<"], ".": ["Period", ">"], "/": ["Slash", "?"], ";": ["Semicolon", ":"],
  "'": ["Quote", '"'], "\\": ["Backslash", "|"], "-": ["Minus", "_"], "=": ["Equal", "+"], "`": ["Backquote", "~"],
};

const arrows = { ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→" };
const both = { ...arrows, Digit: "1–9", Plus: "+", Escape: "Esc", PageUp: "Page Up", PageDown: "Page Down" };
const macNames: Record<string, string> = { ...both, Mod: "⌘", Meta: "⌘", Ctrl: "⌃", Shift: "⇧", Alt: "⌥", Enter: "↵", Backspace: "⌫" };
const otherNames: Record<string, string> = { ...both, Mod: "Ctrl", Meta: "Super" };
/** The order in which Macs write modifiers. */
const macOrder = ["Ctrl", "Alt", "Shift", "Mod", "Meta"];

/** Reads a key; undefined when it is none. */
export function readKey(text: string): Key | undefined {
  const parts = text.split("+").map((part) => part.trim());
  const last = parts.pop() ?? "";
  const key: Key = { mod: false, ctrl: false, meta: false, alt: false, shift: false, name: last.length === 1 ? last.toUpperCase() : last };
  for (const part of parts) {
    const flag = ({ mod: "mod", ctrl: "ctrl", meta: "meta", alt: "alt", shift: "shift" } as const)[part.toLowerCase()];
    if (!flag || key[flag]) return undefined;
    key[flag] = true;
  }
  const printable = key.name.length === 1 && key.name > " " && key.name !== "+";
  return printable || named.has(key.name) || /^F([1-9]|1[0-9]|2[0-4])$/.test(key.name) ? key : undefined;
}

/** The one way of writing the key, so that equal keys are equal texts. */
export function textOf(key: Key): string {
  const parts = [key.mod && "Mod", key.ctrl && "Ctrl", key.meta && "Meta", key.alt && "Alt", key.shift && "Shift", key.name];
  return parts.filter((part) => part !== false).join("+");
}

/** The same, with Ctrl and Command as the platform takes them. */
export function onPlatform(key: Key, platform: Platform): Key {
  const mod = key.mod || (platform.mac ? key.meta : key.ctrl);
  return { ...key, mod, ctrl: key.ctrl && platform.mac, meta: key.meta && !platform.mac };
}

/** How a key is written for people: ⇧⌘P, or Ctrl+Shift+P. */
export function writeKey(text: string, platform: Platform): string {
  const parts = text.split("+");
  const name = parts.pop() ?? "";
  if (platform.mac) parts.sort((a, b) => macOrder.indexOf(a) - macOrder.indexOf(b));
  const names = platform.mac ? macNames : otherNames;
  return [...parts, name].map((part) => names[part] ?? part).join(platform.mac ? "" : "+");
}

/** Whether the browser keeps the key for itself. */
export function isKept(text: string, platform: Platform): boolean {
  return platform.browser && (kept.has(text) || (platform.kind === "firefox" && keptByFirefox.has(text)));
}

/** The keys that work on the platform. */
export function usableKeys(keys: readonly string[], platform: Platform): string[] {
  return keys.filter((key) => !isKept(key, platform));
}

/** The name of the key that was pressed; "" for a modifier alone. */
function pressed(event: KeyboardEvent, platform: Platform): string {
  const { key, code } = event;
  if (["Shift", "Control", "Alt", "Meta", "AltGraph", "CapsLock", "Fn", "Process", "Compose"].includes(key)) return "";
  if (key === " ") return "Space";
  if (key === "+") return "Plus";
  if (/^[a-z]$/i.test(key)) return key.toUpperCase();
  // Option and dead keys make other characters, and other scripts have no Latin letters: the place counts.
  const placed = key === "Dead" || key === "Unidentified" || (key.length === 1 && (key > "~" || (platform.mac && event.altKey)));
  if (placed) {
    const letter = /^Key([A-Z])$/.exec(code)?.[1];
    if (letter !== undefined) return letter;
  }
  // The row of digits needs Shift on some keyboards.
  const digit = event.shiftKey ? undefined : /^Digit([0-9])$/.exec(code)?.[1];
  if (digit !== undefined && (event.ctrlKey || event.metaKey || event.altKey)) return digit;
  if (placed) return Object.entries(places).find(([, [at]]) => at === code)?.[0] ?? "";
  return key;
}

const isSign = (name: string) => name.length === 1 && !/[A-Z0-9]/.test(name);

/** Whether the event is the key; for Digit, which digit it is. */
export function matchKey(event: KeyboardEvent, text: string, platform: Platform): { digit?: number } | undefined {
  const read = readKey(text);
  if (!read) return undefined;
  const key = onPlatform(read, platform);
  const mod = platform.mac ? event.metaKey : event.ctrlKey;
  const ctrl = platform.mac && event.ctrlKey;
  const meta = !platform.mac && event.metaKey;
  if (mod !== key.mod || ctrl !== key.ctrl || meta !== key.meta || event.altKey !== key.alt) return undefined;
  if (key.name === "Digit") {
    const digit = /^Digit([1-9])$/.exec(event.code)?.[1];
    return digit !== undefined && event.shiftKey === key.shift ? { digit: Number(digit) } : undefined;
  }
  const place = places[key.name];
  if (place && key.shift && (key.mod || key.ctrl || key.alt)) return event.shiftKey && event.code === place[0] ? {} : undefined;
  // A sign such as ? needs Shift on some keyboards and not on others.
  const sign = isSign(key.name) || key.name === "Plus";
  if (!sign && event.shiftKey !== key.shift) return undefined;
  // What AltGr types is text, unless a sign alone is asked for.
  if (event.getModifierState("AltGraph") && !sign) return undefined;
  return pressed(event, platform) === key.name ? {} : undefined;
}

/** What was pressed, as a key that would match it; undefined for a modifier alone or what only types text. */
export function recordKey(event: KeyboardEvent, platform: Platform): string | undefined {
  const name = pressed(event, platform);
  if (name === "") return undefined;
  const key: Key = {
    mod: platform.mac ? event.metaKey : event.ctrlKey,
    ctrl: platform.mac && event.ctrlKey,
    meta: !platform.mac && event.metaKey,
    alt: event.altKey,
    shift: event.shiftKey,
    name,
  };
  if (isSign(name) || name === "Plus") {
    const typed = name === "Plus" ? "+" : name;
    const base = Object.entries(places).find(([sign, [code, shifted]]) => code === event.code && (shifted === typed || sign === typed))?.[0];
    if (key.shift && (key.mod || key.ctrl || key.alt) && base !== undefined) key.name = base;
    else key.shift = false;
  }
  const text = textOf(key);
  return readKey(text) && matchKey(event, text, platform) ? text : undefined;
}

/** Whether the key types something into the element. */
export function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches("input, textarea, select"));
}

/** Whether a key would type a character; on a Mac, Option types too. */
export function isPlain(text: string, platform: Platform): boolean {
  const key = readKey(text);
  if (!key || key.mod || key.ctrl || key.meta || (key.alt && !platform.mac)) return false;
  return key.name.length === 1 || ["Space", "Plus", "Digit"].includes(key.name);
}

/** Who has the keys where the focus is: a terminal, an editor in vim mode, or nobody special. */
export type Ground = "terminal" | "vim" | "page";

export function groundOf(target: EventTarget | null): Ground {
  const found = target instanceof Element ? target.closest("[data-keys]")?.getAttribute("data-keys") : undefined;
  return found === "terminal" || found === "vim" ? found : "page";
}

/**
 * Whether a key reaches the app from there. A terminal gives up chords with Ctrl and Shift, on a Mac
 * those with Command; vim all but Escape and what it takes itself before the window hears of it.
 */
export function passes(text: string, ground: Ground, platform: Platform): boolean {
  const key = readKey(text);
  if (!key) return false;
  const read = onPlatform(key, platform);
  if (ground === "terminal") return platform.mac ? read.mod : read.mod && read.shift;
  if (ground === "vim") return read.name !== "Escape" && !isPlain(text, platform);
  return true;
}
