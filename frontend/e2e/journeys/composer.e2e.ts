import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { useStage } from "../stage";

const stage = useStage();

test("a message is written with Vim's keys, symbols, files and what was said before", async () => {
  const model = await stage.model();
  const carrel = await stage.carrel({ model });
  const ada = await stage.person(carrel);
  const repo = await carrel.repository("write");
  await ada.settle(repo, "A good pen");
  const { keyboard } = ada.page;
  // The editor stands in place of the plain box.
  await ada.page.locator(".cm-content").waitFor();
  const reads = (text: string) => expect.poll(() => ada.written()).toBe(text);

  // Symbols: at once, after a space, from the list, and left alone.
  await keyboard.type("\\alpha \\in \\\\beta `\\pi` ");
  await reads("α ∈ \\beta `\\pi` ");
  await keyboard.type("\\R");
  await ada.page.getByRole("listbox", { name: "Symbols" }).getByText("\\R", { exact: false }).first().waitFor();
  await keyboard.press("Tab");
  await reads("α ∈ \\beta `\\pi` ℝ");
  await ada.composer.fill("");

  // Vim: Esc, a command with an operator, and what it shows of it.
  await keyboard.type("one two three");
  await keyboard.press("Escape");
  await ada.page.getByText("NORMAL", { exact: true }).waitFor();
  await keyboard.type("bd");
  await ada.page.getByText("NORMAL d", { exact: true }).waitFor();
  await keyboard.type("b");
  await reads("one three");
  await keyboard.type("ciwfour");
  await keyboard.press("Escape");
  await keyboard.type("u");
  await reads("one three");
  await keyboard.press("Enter");
  await ada.rest();
  await reads("");
  // It is for writing again.
  await keyboard.type("second");
  await reads("second");
  await keyboard.press("Enter");
  await ada.rest();

  // What was said before, and back.
  await keyboard.type("a draft");
  await keyboard.press("Alt+ArrowUp");
  await reads("second");
  await keyboard.press("Alt+ArrowDown");
  await reads("a draft");
  await ada.composer.fill("");

  // Two lines, and an input method's Enter.
  await keyboard.type("two");
  await keyboard.press("Shift+Enter");
  await keyboard.type("lines");
  await reads("two\nlines");
});

// O-TRUST-02, O-DESK-03
test("files are completed behind an @, by their letters, whatever their names are", async () => {
  const carrel = await stage.carrel();
  const ada = await stage.person(carrel);
  const repo = await carrel.repository("files");
  await mkdir(join(repo, "src/deep"), { recursive: true });
  await writeFile(join(repo, "src/deep/engine.ts"), "x");
  await writeFile(join(repo, "<img src=x onerror=window.hacked=1>.txt"), "x");
  await carrel.git(repo, "add", ".");
  await carrel.git(repo, "commit", "-qm", "More");
  await ada.settle(repo, "By name");
  await ada.page.locator(".cm-content").waitFor();
  const list = ada.page.getByRole("listbox", { name: "Files" });

  await ada.page.keyboard.type("Look at @engi");
  await list.getByRole("option", { name: /engine\.ts/ }).waitFor();
  await ada.page.keyboard.press("Enter");
  await expect.poll(() => ada.written()).toBe("Look at @src/deep/engine.ts ");
  await ada.page.keyboard.type("@img");
  await list.getByText("<img src=x onerror=window.hacked=1>.txt").waitFor();
  await ada.page.keyboard.press("Tab");
  await expect.poll(() => ada.written()).toBe('Look at @src/deep/engine.ts @"<img src=x onerror=window.hacked=1>.txt" ');
  expect(await ada.page.evaluate(() => "hacked" in window)).toBe(false);
});
