import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { faults } from "../faults";
import { useStage } from "../stage";

const stage = useStage();
const secret = "sk-ant-0123456789-do-not-show-me";

/** Everything that the page has heard over its socket since the call. */
function heard(page: Page): string[] {
  const frames: string[] = [];
  page.on("websocket", (socket) => socket.on("framereceived", (frame) => frames.push(String(frame.payload))));
  return frames;
}

// O-SRV-02
test("a key that was entered is never shown again, and no key is where others could find it", async () => {
  const carrel = await stage.carrel();
  const ada = await stage.person(carrel);
  const frames = heard(ada.page);
  await ada.page.reload();
  await ada.connected();

  await ada.button("Settings").click();
  const dialog = ada.dialog("Settings");
  await dialog.getByRole("tab", { name: "Providers" }).click();
  const provider = dialog.getByRole("region", { name: "Anthropic", exact: true });
  await provider.getByRole("button", { name: "Add key" }).click();
  await provider.getByLabel("API key").fill(secret);
  await provider.getByRole("button", { name: "Save" }).click();
  await provider.getByText("key kept in Carrel's settings").waitFor();
  await provider.getByRole("button", { name: "Change" }).click();
  expect(await provider.getByLabel("API key").inputValue()).toBe("");
  await ada.page.reload();
  await ada.connected();

  const kept = join(carrel.root, "providers.jsonc");
  expect(await readFile(kept, "utf8")).toContain(secret);
  expect((await stat(kept)).mode & 0o777).toBe(0o600);
  const page = await ada.page.evaluate(() => ({ html: document.documentElement.outerHTML, local: JSON.stringify(window["localStorage"]), cookies: document.cookie, history: location.href, session: JSON.stringify(sessionStorage) }));
  for (const place of [page.html, page.local, page.cookies, page.session, frames.join("\n"), carrel.log]) expect(place).not.toContain(secret);
  for (const place of [page.html, page.local, page.cookies, page.history, frames.join("\n"), carrel.log, ...ada.requests]) expect(place).not.toContain(carrel.key);
  expect(frames.length).toBeGreaterThan(0);
  expect(await ada.page.context().cookies()).toEqual([]);

  // The way out is there too.
  await ada.button("Settings").click();
  await dialog.getByRole("tab", { name: "Providers" }).click();
  await provider.getByRole("button", { name: "Change" }).click();
  await provider.getByRole("button", { name: "Remove the key" }).click();
  await provider.getByText("no key").waitFor();
  expect(await readFile(kept, "utf8")).not.toContain(secret);
});

test("theme and default model are kept by the core, not by the browser", async () => {
  const model = await stage.model();
  const carrel = await stage.carrel({ model });
  const repo = await carrel.repository("prefs");
  const ada = await stage.person(carrel);
  const bob = await stage.person(carrel, { colorScheme: "light" });
  const background = (page: Page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await background(bob.page);

  await ada.button("Settings").click();
  const dialog = ada.dialog("Settings");
  await dialog.getByLabel("Theme").click();
  await ada.page.getByRole("option", { name: "Dark" }).click();
  await expect.poll(() => background(bob.page)).not.toBe(light);
  await dialog.getByLabel("Default model").click();
  await ada.page.getByRole("option", { name: /^Haiku/ }).click();
  await expect.poll(() => readFile(join(carrel.root, "settings.jsonc"), "utf8")).toContain("haiku");
  await ada.page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });

  await ada.settle(repo, "Which model");
  await ada.page.getByRole("main").getByLabel("Model", { exact: true }).getByText(/Haiku/).waitFor();
  await ada.ask("Hello");

  await bob.page.reload();
  await bob.connected();
  await expect.poll(() => background(bob.page)).not.toBe(light);
  // Someone edits the file by hand: the page follows.
  await writeFile(join(carrel.root, "settings.jsonc"), '{ "theme": "light" } // by hand\n');
  await expect.poll(() => background(bob.page)).toBe(light);
  expect(await ada.page.evaluate(() => window["localStorage"].length)).toBe(0);
});

test("the doctor says what works on this machine", async () => {
  const carrel = await stage.carrel();
  const ada = await stage.person(carrel);
  await ada.button("Settings").click();
  const dialog = ada.dialog("Settings");
  await dialog.getByRole("tab", { name: "About" }).click();
  const machine = dialog.getByRole("region", { name: "This machine" });
  await machine.getByText("git", { exact: true }).waitFor();
  await dialog.getByText("None: commands are not sandboxed on this machine.").waitFor();
  await dialog.getByRole("definition").getByText(carrel.root).waitFor();
});

test("all settings are found, say where they come from, and go back to their defaults", async () => {
  const carrel = await stage.carrel({ env: { CARREL_GPU: "never" }, started: false });
  const file = join(carrel.root, "settings.jsonc");
  await writeFile(file, '{\n  // at night\n  "theme": "dark", // mine\n  "sandbox": { "network": "sometimes" },\n}\n', { mode: 0o600 });
  await carrel.start();
  const ada = await stage.person(carrel, { colorScheme: "light" });
  const theme = () => ada.page.evaluate(() => document.documentElement.dataset["theme"]);
  await ada.button("Settings").click();
  const dialog = ada.dialog("Settings");
  await dialog.getByText("settings.jsonc, line 3").waitFor();
  await dialog.getByText("CARREL_GPU=never").waitFor();
  expect(await faults(ada, "the general settings")).toEqual([]);
  await dialog.getByRole("button", { name: /^Reset to Like the system.*Theme$/ }).click();
  await expect.poll(theme).toBe("light");
  await expect.poll(() => readFile(file, "utf8")).not.toContain("theme");
  const kept = await readFile(file, "utf8");
  for (const comment of ["// at night", "// mine"]) expect(kept).toContain(comment);

  // The search goes over all of it: a value that is ignored says so, and is mended where it was found.
  const search = dialog.getByRole("searchbox", { name: "Search the settings" });
  await search.fill("network");
  await dialog.getByText(/Network must be one of allow, allowlist, deny/).waitFor();
  await dialog.getByLabel("Network", { exact: true }).click();
  await ada.page.getByRole("option", { name: "No host" }).click();
  await expect.poll(() => readFile(file, "utf8")).toContain('"network": "deny"');
  expect(await faults(ada, "found settings")).toEqual([]);

  // What has a part of its own is a step away.
  await search.fill("anthropic");
  await dialog.getByRole("button", { name: /^Anthropic Providers/ }).click();
  await dialog.getByRole("region", { name: "Anthropic", exact: true }).waitFor();
  await search.fill("previous workspace");
  await dialog.getByRole("button", { name: /^Previous workspace Keys/ }).click();
  await dialog.getByRole("button", { name: "Add a key: Previous workspace" }).waitFor();
  await search.fill("zebra");
  await dialog.getByText("No setting matches “zebra”.").waitFor();

  // A rule that can't be read is refused where it was written.
  await search.fill("");
  await dialog.getByRole("tab", { name: "Permissions" }).click();
  await dialog.getByRole("textbox", { name: "Deny", exact: true }).fill("Bash(");
  await dialog.getByRole("button", { name: "Save: Deny" }).click();
  await dialog.getByText(/The rule .* can't be read/).waitFor();
  expect(await faults(ada, "the permissions")).toEqual([]);

  // A file that is broken is named with its line, and kept.
  const broken = '{\n  "theme": "dark",\n  "gpu": never\n}\n';
  await writeFile(file, broken);
  await dialog.getByText(/settings\.jsonc could not be read \(line 3/).first().waitFor();
  expect(await faults(ada, "a broken file")).toEqual([]);
  const asides = (await readdir(carrel.root)).filter((name) => name.startsWith("settings.jsonc.corrupt-"));
  expect(await Promise.all(asides.map((name) => readFile(join(carrel.root, name), "utf8")))).toEqual([broken]);
});
