import { describe, expect, test, vi } from "vitest";
import { CommandCenter } from "./center.svelte";
import { commands, type CommandSpec } from "./commands";
import { usualKeys } from "./bindings";
import { usableKeys, type Platform } from "./keys";

const linux: Platform = { mac: false, browser: true };
const everywhere: Platform[] = [true, false].flatMap((mac) => [{ mac, browser: false }, { mac, browser: true }, { mac, browser: true, kind: "firefox" as const }]);
const press = (key: string, changes: KeyboardEventInit = {}) => new KeyboardEvent("keydown", { key, cancelable: true, bubbles: true, ...changes });
const all: readonly CommandSpec[] = commands;

describe("the registry", () => {
  test("declares each action once and gives no key twice", () => {
    expect(new Set(commands.map((command) => command.id)).size).toBe(commands.length);
    for (const platform of everywhere) {
      const keys = all.filter((command) => !command.local).flatMap((command) => usualKeys(command, platform).map((key) => `${command.scope ?? ""} ${key}`));
      expect(keys.filter((key, at) => keys.indexOf(key) !== at)).toEqual([]);
    }
  });

  // Quitting a browser is nothing that a page could do.
  test("leaves every command with keys one that each browser hands over", () => {
    for (const platform of everywhere) for (const command of all) if (command.keys.length > 0 && command.id !== "app.quit") expect(usableKeys(usualKeys(command, platform), platform), command.id).not.toEqual([]);
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

  test("runs what the person chose, and no longer what it ran before", () => {
    const center = new CommandCenter(linux);
    const help = vi.fn();
    center.register("help.shortcuts", help);
    center.rebind({ "help.shortcuts": ["Mod+Shift+H"] });
    expect(center.keys("help.shortcuts")).toBe("Ctrl+Shift+H");
    center.key(press("F1"));
    expect(help).not.toHaveBeenCalled();
    center.key(press("H", { ctrlKey: true, shiftKey: true }));
    expect(help).toHaveBeenCalledOnce();
    center.rebind({});
    center.key(press("F1"));
    expect(help).toHaveBeenCalledTimes(2);
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

describe("in a terminal", () => {
  function terminal(center: CommandCenter) {
    const box = document.createElement("div");
    box.dataset["keys"] = "terminal";
    const input = document.createElement("textarea");
    box.append(input);
    document.body.append(box);
    const heard: string[] = [];
    input.addEventListener("keydown", (event) => heard.push(event.key));
    const capture = (event: KeyboardEvent) => center.capture(event);
    const bubble = (event: KeyboardEvent) => center.key(event);
    window.addEventListener("keydown", capture, true);
    window.addEventListener("keydown", bubble);
    return {
      heard,
      press: (key: string, changes?: KeyboardEventInit) => input.dispatchEvent(press(key, changes)),
      remove: () => {
        window.removeEventListener("keydown", capture, true);
        window.removeEventListener("keydown", bubble);
        box.remove();
      },
    };
  }

  test("only chords with Ctrl and Shift and the palette reach the app, and the terminal hears nothing of those", () => {
    const center = new CommandCenter(linux);
    const run = vi.fn();
    for (const id of ["workspace.previous", "workspace.rename", "turn.interrupt", "composer.focus", "right.toggle", "palette.open", "palette.commands"] as const) center.register(id, () => run(id));
    const there = terminal(center);
    there.press("k", { ctrlKey: true });
    there.press("F2");
    there.press("Escape");
    there.press("a");
    expect(run).not.toHaveBeenCalled();
    expect(there.heard).toEqual(["k", "F2", "Escape", "a"]);
    there.press("D", { ctrlKey: true, shiftKey: true });
    there.press("P", { ctrlKey: true, shiftKey: true });
    there.press("F4");
    expect(run.mock.calls.flat()).toEqual(["right.toggle", "palette.open", "palette.commands"]);
    expect(there.heard).toHaveLength(4);
    there.remove();
  });
});
