import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { faults } from "../faults";
import { useStage } from "../stage";

const stage = useStage();

test("keys are chosen in the settings, kept by the core with its comments, and set back", async () => {
  const carrel = await stage.carrel();
  const file = join(carrel.root, "settings.jsonc");
  await writeFile(file, '{\n  // mine\n  "keys": { "no.such.command": ["Mod+Shift+K"], "theme.toggle": ["Hyper+Q"] }, // keep this\n}\n');
  const ada = await stage.person(carrel);
  const keyboard = ada.page.keyboard;
  await ada.settle(await carrel.repository("keys"), "Alpha");
  await ada.newWorkspace("Beta");
  const heading = (name: string) => ada.page.getByRole("heading", { level: 1, name }).waitFor();

  // By way of the sheet.
  await keyboard.press("F1");
  const sheet = ada.dialog("Keyboard shortcuts");
  await sheet.getByRole("searchbox").fill("previous workspace");
  await sheet.getByText("Previous workspace").waitFor();
  await expect.poll(async () => (await sheet.getByRole("definition").allInnerTexts())[0]).toBe("Ctrl+K");
  expect(await faults(ada, "the sheet")).toEqual([]);
  await sheet.getByRole("button", { name: "Change keys" }).click();

  const settings = ada.dialog("Settings");
  const warned = settings.getByRole("status").filter({ hasText: "don't work as they are written" });
  await warned.getByText("There is no command “no.such.command”").waitFor();
  await warned.getByText("“Hyper+Q” for “Switch between light and dark” is no key").waitFor();

  // A key of another command is told, and taken over.
  await settings.getByRole("searchbox", { name: "Find a command or a key" }).fill("next workspace");
  await settings.getByRole("button", { name: "Add a key: Settings" }).waitFor({ state: "detached" });
  const row = settings.getByRole("listitem").filter({ has: ada.page.getByText("Next workspace", { exact: true }) });
  await settings.getByRole("button", { name: "Add a key: Next workspace", exact: true }).click();
  await settings.getByLabel("Press the new key for: Next workspace", { exact: true }).press("Control+k");
  await settings.getByText("It runs “Previous workspace” now.").waitFor();
  expect(await faults(ada, "a key that is taken")).toEqual([]);
  await settings.getByRole("button", { name: "Take it over" }).click();
  await row.getByText("Ctrl+K").waitFor();
  await expect.poll(() => readFile(file, "utf8")).toContain('"workspace.next"');
  const text = await readFile(file, "utf8");
  for (const kept of ["// mine", "// keep this", "no.such.command", "Hyper+Q"]) expect(text).toContain(kept);
  await keyboard.press("Escape");
  await settings.waitFor({ state: "detached" });
  await heading("Beta");
  await keyboard.press("Control+k");
  await heading("Alpha");
  await keyboard.press("Control+k");
  await heading("Beta");

  // Someone edits the file: the page follows.
  await writeFile(file, '{ "keys": { "workspace.next": ["F8"] } }\n');
  await keyboard.press("F1");
  await sheet.getByRole("searchbox").fill("next workspace");
  await sheet.getByText("F8").waitFor();
  await sheet.getByRole("button", { name: "Change keys" }).click();
  await settings.getByRole("searchbox", { name: "Find a command or a key" }).fill("F8");
  await settings.getByRole("button", { name: "Back to the usual keys: Next workspace", exact: true }).click();
  await expect.poll(() => readFile(file, "utf8")).not.toContain("F8");
  await keyboard.press("Escape");
  await settings.waitFor({ state: "detached" });
  await keyboard.press("Control+j");
  await heading("Alpha");
});
