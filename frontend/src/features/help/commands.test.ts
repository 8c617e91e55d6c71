import { describe, expect, test, vi } from "vitest";
import { CommandCenter } from "./center.svelte";
import { commands, type CommandSpec } from "./commands";
import { matchKey, usableKeys, writeKey } from "./keys";

const linux = { mac: false, browser: true };
const mac = { mac: true, browser: false };
const press = (key: string, changes: KeyboardEventInit = {}) => new KeyboardEvent("keydown", { key, cancelable: true, ...changes });

describe("the registry", () => {
  test("declares each action once and gives no key twice", () => {
    expect(new Set(commands.map((command) => command.id)).size).toBe(commands.length);
    const keys = (commands as readonly CommandSpec[]).filter((command) => !command.local).flatMap((command) => command.keys);
    expect(new Set(keys).size).toBe(keys.length);
  });

  test("leaves every command with keys one that a browser hands over", () => {
    for (const command of commands as readonly CommandSpec[]) {
      if (command.keys.length > 0) expect(usableKeys(command.keys, linux), command.id).not.toEqual([]);
    }
  });
});

describe("keys", () => {
  test("are written as the platform does", () => {
    expect(writeKey("Mod+Shift+P", linux)).toBe("Ctrl+Shift+P");
    expect(writeKey("Mod+Shift+P", mac)).toBe("⌘⇧P");
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
    expect(matchKey(press("˜", { altKey: true, code: "KeyN" }), "Alt+N", mac)).toEqual({});
  });
});

describe("a key press", () => {
  test("runs the newest handler and is then taken", () => {
    const center = new CommandCenter(linux);
    const first = vi.fn();
    const second = vi.fn();
    center.register("settings.open", first);
    const remove = center.register("settings.open", second);
    const event = press(",", { ctrlKey: true });
    center.key(event);
    expect(second).toHaveBeenCalledOnce();
    expect(event.defaultPrevented).toBe(true);
    remove();
    center.key(press(",", { ctrlKey: true }));
    expect(first).toHaveBeenCalledOnce();
  });

  test("goes on when nobody has a use for it", () => {
    const center = new CommandCenter(linux);
    center.register("turn.interrupt", () => false);
    const event = press("Escape");
    center.key(event);
    expect(event.defaultPrevented).toBe(false);
  });

  test("that types a character acts only outside text fields", () => {
    const center = new CommandCenter(linux);
    const help = vi.fn();
    center.register("help.shortcuts", help);
    const input = document.createElement("textarea");
    document.body.append(input);
    input.addEventListener("keydown", (event) => center.key(event));
    input.dispatchEvent(press("?", { shiftKey: true }));
    expect(help).not.toHaveBeenCalled();
    input.dispatchEvent(press("F1"));
    expect(help).toHaveBeenCalledOnce();
    input.remove();
  });

  // O-TERM-06
  test("of an input method is left to it", () => {
    const center = new CommandCenter(linux);
    const stop = vi.fn();
    center.register("turn.interrupt", stop);
    center.key(press("Escape", { isComposing: true }));
    expect(stop).not.toHaveBeenCalled();
  });
});
