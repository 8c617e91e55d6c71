// The main job, in a browser on a real core: add a project, make a workspace, ask, and see the diff.
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launch, watchErrors } from "../browser";
import { hasBinary, makeRepository, startCore, type Core } from "../core";

describe.skipIf(!hasBinary)("a first run with the demo model", () => {
  let core: Core;
  let browser: Browser;
  let page: Page;
  let errors: string[];

  beforeAll(async () => {
    core = await startCore();
    browser = await launch();
    page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    page.setDefaultTimeout(20_000);
    errors = watchErrors(page);
  });

  afterAll(async () => {
    if (process.env["KEEP_PICTURE"]) await page?.screenshot({ path: join(import.meta.dirname, "../../screenshots/journey.png") });
    await browser?.close();
    await core?.stop();
  });

  test("the key leaves the address bar", async () => {
    await page.goto(core.link);
    await page.getByRole("heading", { name: "Point Carrel at a repository" }).waitFor();
    expect(page.url()).not.toContain("t=");
  });

  test("a folder becomes a project", async () => {
    const path = makeRepository(core, "my harbor ü");
    await page.getByRole("main").getByRole("button", { name: "Add a project" }).click();
    await page.getByLabel("Folder", { exact: true }).fill(path);
    await page.getByRole("button", { name: "Add project" }).click();
    await page.getByRole("dialog", { name: "New workspace" }).waitFor();
    await page.getByRole("group", { name: "Project my harbor ü" }).waitFor();
  });

  test("a workspace stands on a branch of its own", async () => {
    await page.getByLabel("What is it for?").fill("Say hello to readers");
    await page.getByRole("button", { name: "Create workspace" }).click();
    await page.getByRole("heading", { level: 1, name: "Say hello to readers" }).waitFor();
  });

  test("the demo model reads, edits, runs and commits", async () => {
    const composer = page.getByRole("textbox", { name: "Message", exact: true });
    await composer.fill("Look around and improve something small.");
    await composer.press("Enter");
    await page.getByRole("log").getByText("Look around and improve something small.").first().waitFor();
    await page.getByRole("log").getByRole("button", { name: /^Read/ }).first().waitFor();
    await page.getByRole("log").getByRole("button", { name: /^Edit/ }).first().waitFor();
    await page.getByRole("log").getByRole("button", { name: /^Run/ }).first().waitFor();
    await page.getByRole("button", { name: /^Stop/ }).waitFor({ state: "detached", timeout: 60_000 });
  });

  test("the change is there to review", async () => {
    await page.getByRole("complementary", { name: "Changes" }).getByRole("option").first().waitFor();
    await page.getByRole("figure", { name: /^Changes in/ }).waitFor();
  });

  test("a reload shows the same", async () => {
    const before = await page.getByRole("log").innerText();
    await page.reload();
    await page.getByRole("log").getByText("Look around and improve something small.").first().waitFor();
    await expect.poll(() => page.getByRole("log").innerText()).toBe(before);
  });

  test("a core that was killed in a turn comes back with all that was shown", async () => {
    const composer = page.getByRole("textbox", { name: "Message", exact: true });
    await composer.fill("And once more, slowly.");
    await composer.press("Enter");
    await page.getByRole("button", { name: /^Stop/ }).waitFor();
    await page.getByRole("log").getByText("And once more, slowly.").waitFor();
    await core.kill();
    await page.getByText("Not connected to Carrel.").waitFor();
    await composer.fill("Written while it was away.");
    await composer.press("Enter");
    await page.getByText("Sending").waitFor();
    await core.restart();
    await page.getByText("Not connected to Carrel.").waitFor({ state: "detached" });
    await page.getByText("Sending").waitFor({ state: "detached" });
    await page.getByText("Written while it was away.").first().waitFor();
    await page.getByRole("log").getByText("And once more, slowly.").first().waitFor();
    const broken = /WebSocket connection|ERR_CONNECTION_REFUSED/;
    errors.splice(0, errors.length, ...errors.filter((error) => !broken.test(error)));
  });

  test("nothing went wrong on the page", () => {
    expect(errors).toEqual([]);
  });
});
