import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
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
