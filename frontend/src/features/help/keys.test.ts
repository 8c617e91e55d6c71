import { describe, expect, test } from "vitest";
import { drawback, holders, problemsOf, bind } from "./bindings";
import { isPlain, matchKey, passes, readKey, recordKey, usableKeys, writeKey, type Platform } from "./keys";

const linux: Platform = { mac: false, browser: true };
const firefox: Platform = { mac: false, browser: true, kind: "firefox" };
const mac: Platform = { mac: true, browser: false };
const press = (key: string, changes: KeyboardEventInit = {}) => new KeyboardEvent("keydown", { key, cancelable: true, ...changes });
const ctrl = (key: string, code: string, changes: KeyboardEventInit = {}) => press(key, { code, ctrlKey: true, ...changes });

describe("keys", () => {
  test("are written as the platform does", () => {
    expect(writeKey("Mod+Shift+P", linux)).toBe("Ctrl+Shift+P");
    expect(writeKey("Mod+Shift+P", mac)).toBe("⇧⌘P");
    expect(writeKey("Mod+Alt+ArrowUp", mac)).toBe("⌥⌘↑");
    expect(writeKey("Mod+Plus", linux)).toBe("Ctrl++");
  });

  test("that are none are not read", () => {
    for (const text of ["", "+", "Mod+", "Hyper+K", "Mod+Mod+K", "Mod+Foo", "F25", "Mod+K+P"]) expect(readKey(text), text).toBeUndefined();
    for (const text of ["Mod+K", "mod+shift+k", "F24", "?", "Alt+Plus", "Ctrl+Space"]) expect(readKey(text), text).toBeDefined();
  });

  test("match exactly", () => {
    expect(matchKey(press("p", { ctrlKey: true }), "Mod+P", linux)).toEqual({});
    expect(matchKey(press("P", { ctrlKey: true, shiftKey: true }), "Mod+P", linux)).toBeUndefined();
    expect(matchKey(press("p", { metaKey: true }), "Mod+P", linux)).toBeUndefined();
    expect(matchKey(press("p", { metaKey: true }), "Mod+P", mac)).toEqual({});
    expect(matchKey(press("?", { shiftKey: true }), "?", linux)).toEqual({});
    expect(matchKey(press("G", { shiftKey: true }), "Shift+G", linux)).toEqual({});
    expect(matchKey(press("g"), "Shift+G", linux)).toBeUndefined();
    expect(matchKey(press("3", { ctrlKey: true, code: "Digit3" }), "Mod+Digit", linux)).toEqual({ digit: 3 });
    expect(matchKey(press("k", { ctrlKey: true }), "Ctrl+K", linux)).toEqual({});
    expect(matchKey(press("k", { ctrlKey: true }), "Ctrl+K", mac)).toEqual({});
    expect(matchKey(press("k", { ctrlKey: true }), "Mod+K", mac)).toBeUndefined();
  });

  test("follow the letters that are printed, on AZERTY and QWERTZ", () => {
    expect(matchKey(ctrl("a", "KeyQ"), "Mod+A", linux)).toEqual({});
    expect(matchKey(ctrl("a", "KeyQ"), "Mod+Q", linux)).toBeUndefined();
    expect(matchKey(ctrl("z", "KeyY"), "Mod+Z", linux)).toEqual({});
    expect(matchKey(press("a", { altKey: true, code: "KeyQ" }), "Alt+A", linux)).toEqual({});
    // The row of digits types é there; the place is meant.
    expect(matchKey(ctrl("é", "Digit2"), "Mod+Digit", linux)).toEqual({ digit: 2 });
    expect(matchKey(ctrl("é", "Digit2"), "Mod+2", linux)).toEqual({});
    // A sign that needs Shift on this layout.
    expect(matchKey(ctrl("/", "Digit7", { shiftKey: true }), "Mod+/", linux)).toEqual({});
    // ü and + are where [ and ] are in America.
    expect(matchKey(ctrl("Ü", "BracketLeft", { shiftKey: true }), "Mod+Shift+[", linux)).toEqual({});
    expect(matchKey(ctrl("'", "KeyQ"), "Mod+Q", linux)).toBeUndefined(); // Dvorak
  });

  test("follow the place where a layout has no Latin letters", () => {
    expect(matchKey(ctrl("л", "KeyK"), "Mod+K", linux)).toEqual({});
    expect(matchKey(ctrl("З", "KeyP", { shiftKey: true }), "Mod+Shift+P", linux)).toEqual({});
    expect(matchKey(press("ㅎ", { code: "KeyG", shiftKey: true }), "Shift+G", linux)).toEqual({});
    expect(matchKey(ctrl("ö", "Semicolon"), "Mod+O", linux)).toBeUndefined();
  });

  test("see through dead keys and Option", () => {
    expect(matchKey(press("Dead", { altKey: true, code: "KeyN" }), "Alt+N", mac)).toEqual({});
    expect(matchKey(press("˜", { altKey: true, code: "KeyN" }), "Alt+N", mac)).toEqual({});
    expect(matchKey(press("π", { altKey: true, metaKey: true, code: "KeyP" }), "Mod+Alt+P", mac)).toEqual({});
    expect(matchKey(ctrl("Dead", "BracketLeft", { shiftKey: true }), "Mod+Shift+[", linux)).toEqual({});
    expect(isPlain("Alt+N", mac)).toBe(true);
    expect(isPlain("Alt+N", linux)).toBe(false);
    expect(isPlain("Mod+Alt+N", mac)).toBe(false);
  });

  test("that AltGr types are text", () => {
    expect(matchKey(press("ń", { code: "KeyN", altKey: true, modifierAltGraph: true }), "Alt+N", linux)).toBeUndefined();
    expect(matchKey(press("[", { code: "Digit8", modifierAltGraph: true }), "[", linux)).toEqual({});
  });
});

describe("recording a key", () => {
  test("gives what matches the same press again", () => {
    const presses = [ctrl("k", "KeyK"), ctrl("{", "BracketLeft", { shiftKey: true }), ctrl("Ü", "BracketLeft", { shiftKey: true }), press("F6", { code: "F6" }), ctrl("/", "Digit7", { shiftKey: true }), ctrl("л", "KeyK"), press("?", { code: "Slash", shiftKey: true }), ctrl("é", "Digit2"), press("+", { code: "BracketRight" }), press(" ", { code: "Space", ctrlKey: true }), ctrl("<", "Comma", { shiftKey: true })];
    const written = presses.map((event) => recordKey(event, linux));
    expect(written).toEqual(["Mod+K", "Mod+Shift+[", "Mod+Shift+[", "F6", "Mod+/", "Mod+K", "?", "Mod+2", "Plus", "Mod+Space", "Mod+Shift+,"]);
    presses.forEach((event, at) => expect(matchKey(event, written[at] ?? "", linux)).toEqual({}));
  });

  test("waits for more than a modifier", () => {
    for (const key of ["Shift", "Control", "Alt", "Meta", "AltGraph", "CapsLock"]) expect(recordKey(press(key), linux)).toBeUndefined();
  });

  test("on a Mac tells Command from Control", () => {
    expect(recordKey(press("k", { metaKey: true, code: "KeyK" }), mac)).toBe("Mod+K");
    expect(recordKey(press("k", { ctrlKey: true, code: "KeyK" }), mac)).toBe("Ctrl+K");
    expect(recordKey(press("˚", { altKey: true, code: "KeyK" }), mac)).toBe("Alt+K");
  });
});

describe("keys that somebody else keeps", () => {
  test("are those of the browser", () => {
    expect(usableKeys(["Mod+N", "Alt+N"], linux)).toEqual(["Alt+N"]);
    expect(usableKeys(["Mod+Shift+P", "Alt+Shift+P"], linux)).toEqual(["Mod+Shift+P", "Alt+Shift+P"]);
    expect(usableKeys(["Mod+Shift+P", "Alt+Shift+P"], firefox)).toEqual(["Alt+Shift+P"]);
    expect(usableKeys(["Mod+N"], { mac: false, browser: false })).toEqual(["Mod+N"]);
    expect(drawback("Mod+T", linux)).toMatch(/browser/);
    expect(drawback("K", linux)).toMatch(/text fields/);
    expect(drawback("Mod+K", linux)).toBe("");
  });

  test("are those of a terminal, but for Ctrl with Shift, or Command on a Mac", () => {
    for (const key of ["Mod+K", "F2", "Escape", "A", "Alt+N"]) expect(passes(key, "terminal", linux), key).toBe(false);
    expect(passes("Mod+Shift+D", "terminal", linux)).toBe(true);
    expect(passes("Mod+K", "terminal", mac)).toBe(true);
    expect(passes("Ctrl+K", "terminal", mac)).toBe(false);
  });

  test("are those of vim: what types, and Escape", () => {
    for (const key of ["Escape", "A", "Shift+G", "?"]) expect(passes(key, "vim", linux), key).toBe(false);
    expect(passes("Mod+K", "vim", linux)).toBe(true);
  });
});

describe("keys that the person chose", () => {
  test("take the place of the usual ones and go first", () => {
    const table = bind({ "workspace.next": ["Mod+B", "Mod+Shift+K"], "theme.toggle": ["Mod+K"] }, linux);
    expect(table.filter((one) => one.id === "workspace.next").map((one) => one.key)).toEqual(["Mod+B", "Mod+Shift+K"]);
    expect(table.find((one) => one.key === "Mod+K")?.id).toBe("theme.toggle");
    expect(bind({ "workspace.next": [] }, linux).some((one) => one.id === "workspace.next")).toBe(false);
  });

  test("are told when they can't be", () => {
    expect(problemsOf({ "no.such": ["Mod+K"], "workspace.next": ["Hyper+Q"], "composer.newline": ["Mod+L"] }, linux)).toEqual([
      { kind: "unknown", command: "no.such" },
      { kind: "broken", command: "workspace.next", key: "Hyper+Q" },
      { kind: "fixed", command: "composer.newline" },
    ]);
    expect(problemsOf({ "theme.toggle": ["Ctrl+K"] }, linux)).toEqual([{ kind: "conflict", key: "Mod+K", commands: ["theme.toggle", "workspace.previous"] }]);
    expect(problemsOf({}, linux)).toEqual([]);
    expect(holders("Mod+K", "theme.toggle", bind({}, linux))).toEqual(["workspace.previous"]);
  });
});
