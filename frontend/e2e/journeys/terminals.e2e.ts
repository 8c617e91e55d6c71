import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { faults } from "../faults";
import type { Person } from "../person";
import { useStage } from "../stage";

const stage = useStage();

/** A terminal in a workspace, with bash and nothing of the machine's in it. */
async function atTheTerminal(name: string): Promise<Person> {
  const carrel = await stage.carrel({ env: { SHELL: "/bin/bash" } });
  await writeFile(join(carrel.home, ".bashrc"), "PS1='$ '\n");
  const ada = await stage.person(carrel);
  await ada.settle(await carrel.repository(name), "Look around");
  await ada.changes.getByRole("tab", { name: "Terminals" }).click();
  await ada.changes.getByRole("button", { name: "New terminal" }).first().click();
  await shows(ada, "$");
  return ada;
}

const screens = (ada: Person) => ada.changes.locator(".screen .xterm-rows");
const text = async (ada: Person, nth = 0) => (await screens(ada).nth(nth).innerText()).replace(/\u00a0/g, " ");

async function shows(ada: Person, what: string, nth = 0): Promise<void> {
  await expect.poll(() => text(ada, nth).catch(() => "")).toContain(what);
}

async function types(ada: Person, what: string, nth = 0): Promise<void> {
  await ada.changes.getByRole("textbox", { name: "Terminal input" }).nth(nth).focus();
  await ada.page.keyboard.type(what);
  await ada.page.keyboard.press("Enter");
}

test("a terminal runs the shell in the workspace, and a reload loses nothing", async () => {
  const ada = await atTheTerminal("shell");
  await ada.changes.getByText("Runs with your rights: no sandbox holds it").waitFor();
  await types(ada, "x=kept; printf '\\033]0;My title\\007'; basename $PWD; echo '|✅|中|é|'");
  await shows(ada, "look-around");
  await shows(ada, "|✅|中|é|");
  if (process.env["LOOK"]) await ada.page.screenshot({ path: process.env["LOOK"] });
  await ada.changes.getByRole("tab", { name: "My title" }).waitFor();
  expect(await faults(ada, "terminals")).toEqual([]);

  await ada.page.reload();
  await shows(ada, "|✅|中|é|");
  await types(ada, "echo again $x");
  await shows(ada, "again kept");

  await types(ada, "exit");
  await ada.changes.getByText("No terminal is open").waitFor();
  expect(ada.complaints()).toEqual([]);
});

test("terminals stand side by side, are found in, and end one by one", async () => {
  const ada = await atTheTerminal("many");
  await types(ada, "echo left; stty size");
  await shows(ada, "left");
  await ada.changes.getByRole("button", { name: "Split: another beside it" }).click();
  await expect.poll(() => screens(ada).count()).toBe(2);
  await shows(ada, "$", 1);
  await types(ada, "echo right; stty size", 1);
  await shows(ada, "right", 1);
  await types(ada, "echo now=$(stty size | cut -d' ' -f2).");
  // Both the program and the view have half the width.
  const cols = async () => Number(/now=(\d+)\./.exec(await text(ada))?.[1] ?? 0);
  await expect.poll(cols).toBeGreaterThan(9);
  expect(await cols()).toBeLessThan(40);

  await types(ada, "seq 1 500");
  await shows(ada, "500");
  await ada.page.keyboard.press("Control+Shift+F");
  await ada.page.keyboard.type("137");
  await shows(ada, "137");
  await ada.page.keyboard.press("Escape");

  await ada.changes.getByRole("button", { name: "Close this terminal" }).click();
  await expect.poll(() => screens(ada).count()).toBe(1);
  await shows(ada, "right");
  expect(ada.complaints()).toEqual([]);
});

test("a flood leaves the page in use, and Ctrl+C ends it", async () => {
  const ada = await atTheTerminal("flood");
  await types(ada, "yes");
  await shows(ada, "y\ny\ny");
  await ada.page.getByRole("textbox", { name: /message/i }).first().focus();
  await ada.page.keyboard.type("still here");
  await ada.changes.getByRole("textbox", { name: "Terminal input" }).focus();
  await ada.page.keyboard.press("Control+C");
  await shows(ada, "^C");
  await types(ada, "echo fin''ished");
  await shows(ada, "finished");
  expect(ada.complaints()).toEqual([]);
});

test("lines are pasted after a question, and what the clipboard hides is left out", async () => {
  const ada = await atTheTerminal("paste");
  const paste = (clip: string) =>
    ada.changes.getByRole("textbox", { name: "Terminal input" }).evaluate((box, data) => {
      const clipboardData = new DataTransfer();
      clipboardData.setData("text/plain", data);
      box.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
    }, clip);
  await paste("echo one''word");
  await shows(ada, "echo one''word");
  await ada.page.keyboard.press("Enter");
  await shows(ada, "oneword");
  await paste("echo a\u001b[201~\ntouch evil\n");
  await ada.page.getByRole("dialog", { name: "Paste 2 lines?" }).getByText("hidden control characters").waitFor();
  await ada.page.getByRole("button", { name: "Cancel" }).click();
  await types(ada, "ls");
  expect(await text(ada)).not.toContain("evil");
  expect(ada.complaints()).toEqual([]);
});

test("the workspace opens in the editor that is installed, with its folder as one argument", async () => {
  const carrel = await stage.carrel({ started: false, env: { SHELL: "/bin/bash", DISPLAY: ":77" } });
  const opened = join(carrel.dir, "opened");
  await mkdir(join(carrel.home, ".local/bin"), { recursive: true });
  await writeFile(join(carrel.home, ".local/bin/zed"), `#!/bin/sh\necho "$# $1" > ${opened}\n`, { mode: 0o755 });
  await carrel.start();
  const ada = await stage.person(carrel);
  await ada.settle(await carrel.repository("editor"), "Look around");
  await ada.page.keyboard.press("F4");
  await ada.page.keyboard.type("Open the workspace in your editor");
  await ada.page.keyboard.press("Enter");
  await ada.page.getByText("Opened in Zed.").waitFor();
  await expect.poll(() => readFile(opened, "utf8").catch(() => "")).toMatch(/^1 .*look-around\n$/);
  expect(ada.complaints()).toEqual([]);
});
