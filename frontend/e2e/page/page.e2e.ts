// What the page promises whatever the core does, on the fake host: `vite build --mode fake` first.
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { launch, servePage, watchErrors } from "../browser";
import { written } from "../person";
import { settled } from "../settled";

let browser: Browser;
let server: Awaited<ReturnType<typeof servePage>>;
let page: Page;
let errors: string[];

beforeAll(async () => {
  server = await servePage(join(import.meta.dirname, "../../.fake"));
  browser = await launch();
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});
beforeEach(async () => {
  page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  page.setDefaultTimeout(30_000);
  errors = watchErrors(page);
});
afterEach(async () => {
  await page.close();
  expect(errors).toEqual([]);
});

const show = async (scene: string) => {
  await page.goto(`${server.address}/#${scene}`);
  await page.getByRole("main").waitFor();
};
const log = () => page.getByRole("log");
const composer = () => page.getByRole("textbox", { name: "Message", exact: true });
const fromEnd = () => log().evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight);

test("an answer that streams stays in view until the person scrolls up; then nothing moves", async () => {
  await page.setViewportSize({ width: 1440, height: 420 });
  await show("scene=main&workspace=w4&pace=24");
  await composer().fill("Go");
  await composer().press("Enter");
  await log().getByText("func delay").waitFor();
  expect(await fromEnd()).toBeLessThan(2);
  await log().hover();
  await page.mouse.wheel(0, -60);
  await page.getByRole("button", { name: "Latest" }).waitFor();
  const marker = log().getByText("reads the arguments");
  const before = (await marker.boundingBox())?.y;
  await log().getByRole("button", { name: /^Run/ }).waitFor({ state: "attached" });
  expect((await marker.boundingBox())?.y).toBeCloseTo(before ?? Number.NaN, 0);
  await page.getByRole("button", { name: "Latest" }).click();
  await expect.poll(fromEnd).toBeLessThan(2);
});

test("older messages come in front without moving what is read", async () => {
  await show("scene=long");
  await log().getByText(/Question 400$/).waitFor();
  await settled(log());
  await log().hover();
  const turn = 250;
  const first = (at: number) =>
    log().evaluate((box, below) => {
      const top = box.getBoundingClientRect().top;
      const found = [...box.querySelectorAll<HTMLElement>(".user")].find((one) => one.getBoundingClientRect().top > top + below);
      return { text: found?.innerText ?? "", y: found?.getBoundingClientRect().top ?? Number.NaN };
    }, at);
  const yOf = (text: string) => log().evaluate((box, wanted) => [...box.querySelectorAll<HTMLElement>(".user")].find((one) => one.innerText === wanted)?.getBoundingClientRect().top ?? Number.NaN, text);
  const moves: number[] = [];
  for (let i = 0; i < 60; i++) {
    const seen = await first(10);
    await page.mouse.wheel(0, -turn);
    await expect.poll(() => yOf(seen.text), { interval: 20 }).toBeGreaterThan(seen.y + turn - 2);
    moves.push(Math.round((await yOf(seen.text)) - seen.y));
  }
  expect(moves.filter((by) => Math.abs(by - turn) > 2)).toEqual([]);
  const question = /Question (\d+)/.exec((await first(10)).text)?.[1];
  expect(Number(question), "pages that were loaded").toBeLessThan(330);
});

test("a long conversation draws only what is near the view", async () => {
  await show("scene=long");
  await log().getByText(/Question 400$/).waitFor();
  expect(await log().locator(".user").count()).toBeLessThan(40);
});

test("Ctrl+C stops the agent, and what it did until then stays", async () => {
  await show("scene=main&workspace=w4&pace=20");
  await composer().fill("Go");
  await composer().press("Enter");
  await log().getByText("I looked at the layout first").waitFor();
  await page.keyboard.press("Control+c");
  await log().getByText("You stopped the agent.").waitFor();
  await page.getByRole("button", { name: /^Stop/ }).waitFor({ state: "detached" });
  expect(await log().getByText("I looked at the layout first").count()).toBe(1);
});

// O-TERM-06
test("Enter of an input method picks a candidate and does not send", async () => {
  await show("scene=main&workspace=w4");
  await composer().fill("ni");
  await composer().evaluate((area) => {
    area.dispatchEvent(new CompositionEvent("compositionstart", { bubbles: true }));
    area.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", keyCode: 229, isComposing: true, bubbles: true, cancelable: true }));
    area.dispatchEvent(new CompositionEvent("compositionend", { bubbles: true, data: "你" }));
    area.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", keyCode: 13, bubbles: true, cancelable: true }));
  });
  expect(await page.evaluate(() => window.fake?.calls.filter((call) => call.name === "conversations.send").length)).toBe(0);
  await composer().press("Enter");
  await expect.poll(() => page.evaluate(() => window.fake?.calls.filter((call) => call.name === "conversations.send").length)).toBe(1);
});

// O-DESK-03
test("hostile text is shown and does nothing", async () => {
  await show("scene=main&workspace=w4");
  const payload = "<img src=x onerror=window.hacked=1><svg onload=window.hacked=1></svg><iframe srcdoc='<script>parent.hacked=1</script>'></iframe>";
  await page.evaluate((text) => {
    const fake = window.fake;
    const base = { time: new Date().toISOString() };
    fake?.put("w4", { ...base, id: "x1", order: 9001, kind: "user", text });
    fake?.put("w4", { ...base, id: "x2", order: 9002, kind: "assistant", text: `${text}\n\n[script](javascript:window.hacked=1) [file](file:///etc/passwd) [fine](https://example.org/a)` });
    fake?.put("w4", { ...base, id: "x3", order: 9003, kind: "tool", tool: { name: text, status: "failed", input: text, output: text } });
    fake?.put("w4", { ...base, id: "x4", order: 9004, kind: "tool", tool: { name: "file_edit_insert", status: "ok", input: JSON.stringify({ path: text }), detail: { diff: `@@ -1 +1 @@\n+${text}\n`, added: 1 } } });
    const workspace = fake?.workspaces.get("w4");
    if (fake && workspace) fake.putWorkspace({ ...workspace, title: text, branch: text, git: undefined });
  }, payload);
  await log().getByText("fine", { exact: true }).waitFor();
  expect(await page.evaluate(() => "hacked" in window)).toBe(false);
  expect(await page.locator("iframe, img:not(.cm-widgetBuffer), main svg:not(.lucide)").count()).toBe(0);
  await log().getByText("fine", { exact: true }).click();
  expect(await page.evaluate(() => window.fake?.opened)).toEqual(["https://example.org/a"]);
  expect(page.url()).toContain(server.address);
  expect(await log().locator("a").count()).toBe(1);
});

// O-DESK-04
test("a draft and a queue are still there after a look elsewhere", async () => {
  await show("scene=main");
  await composer().fill("half a thought");
  await page.getByRole("button", { name: /Split the config loader/ }).click();
  expect(await written(composer())).toBe("");
  await page.getByRole("button", { name: /Retry with jitter/ }).click();
  expect(await written(composer())).toBe("half a thought");
  await page.getByText("Then write a line in the changelog.").waitFor();
});

test("a message that could not be sent can be sent again", async () => {
  await show("scene=main&workspace=w2");
  await page.evaluate(() => window.fake?.handle("conversations.send", () => Promise.reject(new Error("The disk is full."))));
  await composer().fill("keep me");
  await composer().press("Enter");
  await page.getByText("The disk is full.").waitFor();
  await page.evaluate(() => window.fake?.handle("conversations.send", () => undefined));
  await page.getByRole("button", { name: "Send again" }).click();
  await page.getByText("The disk is full.").waitFor({ state: "detached" });
});

test("a message that is edited gives way to what follows from it, and a click elsewhere loses nothing", async () => {
  await show("scene=main&workspace=w3");
  await log().locator(".user").hover();
  await log().getByRole("button", { name: "Edit", exact: true }).click();
  const box = log().getByRole("textbox", { name: "Your message" });
  await box.fill("Find out why, slowly.");
  await page.getByRole("button", { name: /Split the config loader/ }).click();
  await page.getByRole("button", { name: /Flaky scheduler test/ }).click();
  expect(await box.inputValue()).toBe("Find out why, slowly.");
  await page.evaluate(() => window.fake?.handle("conversations.editMessage", () => Promise.reject(new Error("The disk is full."))));
  await box.press("Enter");
  await log().getByText("The disk is full.").waitFor();
  expect(await box.inputValue()).toBe("Find out why, slowly.");
});

test("an answer tells what it used, and its sources lead out of the page", async () => {
  await show("scene=main");
  await log().hover();
  await page.mouse.wheel(0, -4000);
  await log().getByText("The uploader retries at once").hover();
  await log().getByText("Claude Sonnet 5 · 12.2k in · 380 out · $0.02").waitFor();
  await log().getByRole("link", { name: /Backing off with jitter/ }).click();
  expect(await page.evaluate(() => window.fake?.opened)).toEqual(["https://example.org/backoff"]);
});

test("the window's export is written by the core, which shows it in its folder", async () => {
  await show("scene=main");
  await page.evaluate(() => {
    if (window.fake) Object.assign(window.fake, { kind: "desktop" });
  });
  await page.getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("menuitem", { name: "Export as Markdown" }).click();
  await page.getByText("Saved as ~/Downloads/conversation.md").waitFor();
  await page.getByRole("button", { name: "Show in folder" }).click();
  await expect.poll(() => page.evaluate(() => window.fake?.calls.find((call) => call.name === "system.showFile")?.args)).toEqual({ path: "/home/ada/Downloads/conversation.md" });
});

test("folders dropped on the window offer a workspace, after the question of trust", async () => {
  await show("scene=main");
  await page.evaluate(() => {
    const fake = window.fake;
    const project = fake?.projects.get("tidewater");
    if (fake && project) fake.emit({ name: "folders.dropped", data: { projects: [project], problems: ["/etc/hosts is not a folder."] } });
  });
  await page.getByText("/etc/hosts is not a folder.").waitFor();
  const trust = page.getByRole("dialog", { name: "Do you trust tidewater?" });
  await trust.getByText(".carrel/init: npm ci && npm run build").waitFor();
  await trust.getByRole("button", { name: "Trust tidewater" }).click();
  await page.getByRole("dialog", { name: "New workspace" }).waitFor();
});

test("deleting work that exists nowhere else takes its name", async () => {
  await show("scene=main");
  await page.getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("menuitem", { name: "Delete…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("store: back off with jitter").waitFor();
  const button = dialog.getByRole("button", { name: "Delete" });
  expect(await button.isDisabled()).toBe(true);
  await dialog.getByRole("textbox").fill("upload-jitter");
  await button.click();
  await page.getByRole("heading", { name: "Choose a workspace" }).waitFor();
});

test("everything can be done with the keyboard", async () => {
  await show("scene=main");
  await page.keyboard.press("Control+2");
  await page.getByRole("heading", { level: 1, name: "Split the config loader" }).waitFor();
  await page.keyboard.press("Control+j");
  await page.getByRole("heading", { level: 1, name: "Flaky scheduler test" }).waitFor();
  await page.keyboard.press("Control+Shift+P");
  await page.keyboard.type("docs");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Docs for the new flags" }).waitFor();
  await page.keyboard.press("Alt+n");
  await page.getByLabel("What is it for?").waitFor();
  await page.keyboard.type("By keyboard");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "By keyboard" }).waitFor();
  await expect.poll(() => composer().evaluate((area) => area === document.activeElement)).toBe(true);
  await page.keyboard.press("F1");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
});

test("at 375 px one column shows, and what is touched is 40 px high", async () => {
  await page.close();
  page = await browser.newPage({ viewport: { width: 375, height: 812 }, hasTouch: true, isMobile: true });
  errors = watchErrors(page);
  await show("scene=main");
  const small = () =>
    page.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>("button, [role='option'], input:not([type='checkbox']), textarea")]
        .filter((one) => one.checkVisibility({ visibilityProperty: true }) && one.getBoundingClientRect().height > 0 && one.getBoundingClientRect().height < 39.5)
        .map((one) => `${one.className} ${one.innerText.slice(0, 30)} ${one.getBoundingClientRect().height}`),
    );
  expect(await small()).toEqual([]);
  await page.getByRole("button", { name: "Workspaces" }).click();
  await page.getByRole("navigation").waitFor();
  expect(await small()).toEqual([]);
  await page.getByRole("button", { name: /Flaky scheduler test/ }).click();
  await page.getByRole("heading", { level: 1, name: "Flaky scheduler test" }).waitFor();
  await page.getByRole("navigation").waitFor({ state: "detached" });
  await page.getByRole("button", { name: /Changes/ }).click();
  await page.getByRole("dialog").getByText("No changes yet").waitFor();
});

test("a page of a core from before an update says so, until the link breaks", async () => {
  await show("scene=older");
  await page.getByRole("status").getByText("This is still Carrel dev, started before the update.").waitFor();
  await page.evaluate(() => window.fake?.setConnection({ kind: "offline", since: Date.now() - 9000, nextTry: Date.now() + 60_000 }));
  await page.getByRole("status").getByText("Not connected to Carrel.").waitFor();
  expect(await page.getByText("This is still Carrel").count()).toBe(0);
  await show("scene=main");
  await page.reload();
  await page.getByRole("main").waitFor();
  expect(await page.getByText("This is still Carrel").count()).toBe(0);
});
