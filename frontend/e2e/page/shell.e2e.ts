// The shell of the page on the fake host: what needs a window, and the page of all components.
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { launch, servePage, watchErrors } from "../browser";

let browser: Browser;
let server: Awaited<ReturnType<typeof servePage>>;
let page: Page;
let errors: string[] = [];

beforeAll(async () => {
  server = await servePage(join(import.meta.dirname, "../../.fake"));
  browser = await launch();
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});
afterEach(async () => {
  await page.close();
  expect(errors).toEqual([]);
});

async function show(scene: string, viewport = { width: 1440, height: 900 }): Promise<void> {
  page = await browser.newPage({ viewport, reducedMotion: "reduce" });
  page.setDefaultTimeout(30_000);
  errors = watchErrors(page);
  await page.goto(`${server.address}/#${scene}`);
  await page.waitForSelector("main");
}

const calls = (name: string) => page.evaluate((wanted) => window.fake?.calls.filter((call) => call.name === wanted).map((call) => call.args), name);

test("quitting asks where work would stop, names it, and can let it go on", async () => {
  await show("scene=sidebar&host=desktop");
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  await page.keyboard.press("Control+q");
  const dialog = page.getByRole("dialog", { name: "3 workspaces still work" });
  await dialog.getByText("Ask before the crane moves").waitFor();
  expect(await calls("system.quit")).toEqual([]);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.keyboard.press("Control+q");
  await dialog.getByRole("button", { name: "Close, and let them work" }).click();
  await expect.poll(() => calls("system.quit")).toEqual([{ stop: false }]);
});

test("quitting asks nothing where nothing works", async () => {
  await show("scene=nowork&host=desktop");
  await page.getByText("Make a workspace").first().waitFor();
  await page.keyboard.press("Control+q");
  await expect.poll(() => calls("system.quit")).toEqual([{}]);
});

test("the menu of the application runs what the list of commands declares", async () => {
  await show("scene=main");
  await page.getByRole("button", { name: "Carrel: all commands" }).click();
  await page.getByRole("menuitem", { name: "Interface" }).press("ArrowRight");
  await page.getByRole("menuitem", { name: "Switch between comfortable and compact" }).click();
  await expect.poll(() => page.evaluate(() => document.documentElement.dataset["density"])).toBe("compact");
  expect(await page.getByRole("menuitem", { name: "Quit Carrel" }).count()).toBe(0); // a browser is left by its own means
});

test("the page of all components shows at both widths without an error", async () => {
  await show("scene=ui");
  await page.getByRole("heading", { name: "Buttons" }).waitFor();
  await page.getByText("This part of the page could not be loaded.").waitFor();
  await page.setViewportSize({ width: 375, height: 812 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(375);
});
