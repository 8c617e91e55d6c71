// Pictures of the main screens, for people to look at: `npm run screenshots`.
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launch, servePage, watchErrors } from "../browser";

const out = join(import.meta.dirname, "../../screenshots");
const sizes = [
  { name: "wide", width: 1440, height: 900, touch: false },
  { name: "narrow", width: 375, height: 812, touch: true },
] as const;
const themes = ["dark", "light"] as const;

interface Screen {
  name: string;
  scene: string;
  prepare?: (page: Page, narrow: boolean) => Promise<void>;
  only?: "wide" | "narrow";
}

/** Writes into the composer once its editor is there. */
const write = (text: string, ...keys: string[]) => async (page: Page) => {
  const box = page.locator(".cm-content[aria-label=Message]");
  await box.click();
  await box.pressSequentially(text);
  for (const key of keys) await page.keyboard.press(key);
  await page.waitForTimeout(300);
};

const press = (keys: string) => async (page: Page) => {
  await page.keyboard.press(keys);
  await page.waitForTimeout(350);
};

/** The dialog of a new workspace with a branch chosen that is in use. */
async function heldBranch(page: Page): Promise<void> {
  await press("Alt+N")(page);
  await page.getByRole("radio", { name: "Existing" }).click();
  await page.getByRole("combobox", { name: "Check out" }).click();
  await page.getByRole("option", { name: /^upload-jitter/ }).click();
  await page.waitForTimeout(350);
}

/** Puts pictures beside the message, and something that is none. */
async function attach(page: Page): Promise<void> {
  const icon = await readFile(join(import.meta.dirname, "../../../app/desktop/icon.png"));
  const picture = (name: string) => ({ name, mimeType: "image/png", buffer: icon });
  await page.locator("input[type=file]").setInputFiles([picture("icon.png"), picture("another.png"), { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("x") }]);
}

/** Coder's card, opened. */
const openCoder = (button: string) => async (page: Page) => {
  await press("Control+,")(page);
  await page.getByRole("tab", { name: "Providers" }).click();
  const card = page.getByRole("region", { name: "Coder" });
  await card.getByRole("button", { name: button }).click();
  await card.scrollIntoViewIfNeeded();
  await page.waitForTimeout(300);
};

/** Brings about what only a pointer or the focus does, and makes the picture as high as the page. */
async function forced(page: Page): Promise<void> {
  const client = await page.context().newCDPSession(page);
  await client.send("DOM.enable");
  await client.send("CSS.enable");
  const { root } = await client.send("DOM.getDocument");
  for (const state of ["hover", "active", "focus-visible"]) {
    const { nodeIds } = await client.send("DOM.querySelectorAll", { nodeId: root.nodeId, selector: `[data-force="${state}"] :is(button, input)` });
    for (const nodeId of nodeIds) await client.send("CSS.forcePseudoState", { nodeId, forcedPseudoClasses: [state] });
  }
  const high = await page.evaluate(() => Math.ceil(document.querySelector("main")?.scrollHeight ?? 900));
  const { width } = page.viewportSize() ?? { width: 1440 };
  await page.setViewportSize({ width, height: high });
  await page.waitForTimeout(200);
}

const screens: Screen[] = [
  ...["tokens", "controls", "content"].map((part): Screen => ({ name: `ui-${part}`, scene: `scene=ui&part=${part}`, prepare: forced })),
  { name: "ui-compact", scene: "scene=ui&part=controls&density=compact", only: "wide", prepare: forced },
  { name: "ui-menu", scene: "scene=ui&part=controls", prepare: async (page) => { await page.getByRole("button", { name: "Open the menu" }).click(); await page.waitForTimeout(300); } },
  { name: "ui-dialog", scene: "scene=ui&part=controls", prepare: async (page) => { await page.getByRole("button", { name: "Open the dialog" }).click(); await page.waitForTimeout(300); } },
  { name: "ui-toasts", scene: "scene=ui" },
  { name: "main", scene: "scene=main" },
  { name: "failed", scene: "scene=main&workspace=w3" },
  { name: "missing", scene: "scene=main&workspace=w5" },
  { name: "welcome", scene: "scene=main&workspace=w4" },
  { name: "composer-vim", scene: "scene=main&workspace=w4", prepare: write("Make the retry loop wait longer,\nand say why in the log.", "Escape", "0", "v", "e", "e"), only: "wide" },
  { name: "composer-files", scene: "scene=main&workspace=w4", prepare: write("Look at @retry") },
  { name: "composer-symbols", scene: "scene=main&workspace=w4", prepare: write("for all x \\in \\R with \\sub") },
  { name: "first", scene: "scene=first" },
  { name: "no-workspace", scene: "scene=nowork" },
  { name: "refused", scene: "scene=refused" },
  { name: "offline", scene: "scene=offline" },
  { name: "older", scene: "scene=older" },
  { name: "new-workspace", scene: "scene=main", prepare: press("Alt+N") },
  { name: "held-branch", scene: "scene=main", prepare: heldBranch },
  { name: "detached", scene: "scene=main", prepare: async (page) => { await heldBranch(page); await page.getByRole("button", { name: "Detached checkout" }).click(); await page.waitForTimeout(350); } },
  { name: "unborn", scene: "scene=unborn&workspace=w1", prepare: press("Alt+N") },
  { name: "add-project", scene: "scene=main", prepare: press("Control+Shift+A") },
  { name: "settings", scene: "scene=main", prepare: press("Control+,") },
  { name: "providers", scene: "scene=main", prepare: async (page) => { await press("Control+,")(page); await page.getByRole("tab", { name: "Providers" }).click(); await page.getByRole("button", { name: "Add key" }).click(); await page.waitForTimeout(300); } },
  { name: "provider", scene: "scene=main", prepare: async (page) => { await press("Control+,")(page); await page.getByRole("tab", { name: "Providers" }).click(); await page.getByRole("region", { name: "Anthropic" }).getByRole("button", { name: "Test" }).click(); await page.getByRole("region", { name: "Local server" }).getByRole("button", { name: "Test" }).click(); await page.getByRole("region", { name: "Anthropic" }).getByRole("button", { name: "Change" }).click(); await page.waitForTimeout(300); } },
  { name: "models", scene: "scene=main", prepare: async (page) => { await press("Control+,")(page); await page.getByRole("tab", { name: "Models" }).click(); await page.waitForTimeout(300); } },
  { name: "models-add", scene: "scene=main", prepare: async (page) => { await press("Control+,")(page); await page.getByRole("tab", { name: "Models" }).click(); await page.getByRole("combobox", { name: "Model ID" }).click(); await page.waitForTimeout(300); } },
  { name: "fallbacks", scene: "scene=main", prepare: async (page) => { await press("Control+,")(page); await page.getByRole("tab", { name: "Models" }).click(); await page.getByRole("region", { name: "When a model refuses" }).scrollIntoViewIfNeeded(); await page.waitForTimeout(300); } },
  { name: "custom", scene: "scene=main", prepare: async (page) => { await press("Control+,")(page); await page.getByRole("tab", { name: "Providers" }).click(); await page.getByRole("button", { name: "Add a custom provider" }).click(); await page.getByRole("button", { name: "Add provider" }).scrollIntoViewIfNeeded(); await page.waitForTimeout(300); } },
  { name: "coder-login", scene: "scene=main", prepare: openCoder("Connect") },
  { name: "coder", scene: "scene=coder&workspace=w1", prepare: openCoder("Change") },
  { name: "routes", scene: "scene=coder&workspace=w1", prepare: async (page) => { await press("Control+,")(page); await page.getByRole("tab", { name: "Models" }).click(); await page.getByLabel("Route of Claude Opus 5").click(); await page.waitForTimeout(300); } },
  { name: "pictures", scene: "scene=pictures", prepare: async (page) => { await attach(page); await page.getByRole("textbox", { name: "Message", exact: true }).fill("What is wrong here?"); await page.waitForTimeout(300); } },
  { name: "picture", scene: "scene=pictures", prepare: async (page) => { await page.getByRole("button", { name: "Show before.png" }).first().click(); await page.waitForTimeout(300); } },
  { name: "picture-edit", scene: "scene=pictures", prepare: async (page) => { await page.getByRole("textbox", { name: "Message", exact: true }).press("ArrowUp"); await page.waitForTimeout(300); } },
  { name: "rich", scene: "scene=rich", prepare: async (page) => { await page.locator("img[src^='blob:']").waitFor(); await page.locator(".katex").first().waitFor(); await page.waitForTimeout(350); } },
  { name: "rich-tools", scene: "scene=rich", prepare: async (page) => { await page.locator(".katex").first().waitFor(); await page.getByRole("log").evaluate((box) => { box.dispatchEvent(new WheelEvent("wheel")); box.scrollTo(0, 0); }); await page.getByRole("button", { name: /lookup/ }).click(); await page.getByRole("button", { name: /Why full jitter/ }).scrollIntoViewIfNeeded().catch(() => undefined); await page.getByRole("log").evaluate((box) => box.scrollTo(0, 0)); await page.waitForTimeout(350); } },
  { name: "find", scene: "scene=rich", prepare: async (page) => { await page.locator("img[src^='blob:']").waitFor(); await press("Control+F")(page); await page.getByRole("textbox", { name: "Find in this conversation" }).fill("jitter"); await page.getByText(/1 of \d/).waitFor(); await page.waitForTimeout(400); } },
  { name: "answer-menu", scene: "scene=main", prepare: async (page, narrow) => { if (!narrow) await page.getByText("The uploader retries at once").hover(); await page.getByRole("button", { name: "Actions for this answer" }).first().click(); await page.waitForTimeout(350); } },
  { name: "records", scene: "scene=rich", prepare: async (page, narrow) => { await page.locator("img[src^='blob:']").waitFor(); if (!narrow) await page.getByText("Try it:").hover(); await page.getByRole("button", { name: "Actions for this answer" }).click(); await page.getByRole("menuitem", { name: "Show the records" }).click(); await page.waitForTimeout(400); } },
  { name: "start-here", scene: "scene=rich", prepare: async (page, narrow) => { await page.locator("img[src^='blob:']").waitFor(); if (!narrow) await page.getByText("Try it:").hover(); await page.getByRole("button", { name: "Actions for this answer" }).click(); await page.getByRole("menuitem", { name: "Start here" }).click(); await page.getByRole("button", { name: "Undo" }).waitFor(); await page.waitForTimeout(900); await page.getByText("The model goes on from this alone").scrollIntoViewIfNeeded(); await page.waitForTimeout(300); } },
  { name: "retrying", scene: "scene=retrying" },
  { name: "model-picker", scene: "scene=main", prepare: async (page) => { await page.getByLabel("Model", { exact: true }).click(); await page.waitForTimeout(300); } },
  { name: "level-picker", scene: "scene=main", prepare: async (page) => { await page.getByRole("button", { name: /^Thinking/ }).click(); await page.waitForTimeout(300); } },
  { name: "send-menu", scene: "scene=main", prepare: async (page) => { await page.getByRole("textbox", { name: "Message", exact: true }).fill("And then?"); await page.getByRole("button", { name: "When to send" }).click(); await page.waitForTimeout(300); } },
  { name: "edit", scene: "scene=main", prepare: async (page, narrow) => { if (narrow) { await page.getByRole("log").evaluate((box) => box.dispatchEvent(new WheelEvent("wheel"))); await page.getByRole("log").evaluate((box) => box.scrollTo(0, 0)); await page.getByRole("button", { name: "Actions for this message" }).click(); await page.getByRole("menuitem", { name: "Edit" }).click(); } else { await page.locator(".user").hover(); await page.getByRole("button", { name: "Edit", exact: true }).click(); } await page.waitForTimeout(300); } },
  { name: "queue-edit", scene: "scene=main", prepare: async (page) => { await page.getByRole("button", { name: "Then write a line in the changelog." }).click(); await page.waitForTimeout(300); } },
  { name: "facts", scene: "scene=main", only: "wide", prepare: async (page) => { await page.getByText("The uploader retries at once").hover(); await page.waitForTimeout(300); } },
  { name: "costs", scene: "scene=main", prepare: async (page, narrow) => { if (narrow) await page.getByRole("button", { name: /Changes/ }).click(); await page.getByRole("tab", { name: "Costs" }).click(); await page.getByText("Total").waitFor(); await page.getByRole("button", { name: "Set a budget" }).click(); await page.waitForTimeout(350); } },
  { name: "sandbox", scene: "scene=main", prepare: async (page) => { await page.getByRole("button", { name: /^Sandbox: / }).click(); await page.getByText("telemetry.example.com is not").waitFor(); await page.waitForTimeout(350); } },
  { name: "tour", scene: "scene=first", prepare: async (page) => { await page.getByRole("button", { name: "Look around with a sample" }).click(); await page.getByRole("heading", { name: /1 of 5/ }).waitFor(); } },
  { name: "output", scene: "scene=main", prepare: async (page) => { await press("F4")(page); await page.keyboard.type("Show Output"); await page.keyboard.press("Enter"); await page.getByText("the core is ready").waitFor(); } },
  { name: "sandbox-policy", scene: "scene=main", prepare: async (page) => { await page.getByRole("button", { name: /^Sandbox: / }).click(); await page.getByText("Every step").click(); await page.getByText("Can be written").click(); await page.getByText("Every step").scrollIntoViewIfNeeded(); await page.waitForTimeout(350); } },
  { name: "sandbox-rules", scene: "scene=main", prepare: async (page) => { await page.getByRole("button", { name: /^Sandbox: / }).click(); await page.getByText("Can't be changed in there").click(); await page.getByText("Temporary files go").scrollIntoViewIfNeeded(); await page.waitForTimeout(350); } },
  { name: "asking", scene: "scene=asking", prepare: async (page) => { await page.getByRole("radio", { name: "What begins like it" }).click(); await page.getByText("The whole command").click(); await page.waitForTimeout(350); } },
  { name: "saved-rules", scene: "scene=main", prepare: async (page) => { await press("Control+,")(page); await page.getByRole("dialog").getByRole("tab", { name: "Sandbox" }).click(); await page.getByRole("region", { name: "Saved rules" }).scrollIntoViewIfNeeded(); await page.waitForTimeout(350); } },
  { name: "sandbox-settings", scene: "scene=main", prepare: async (page) => { await press("Control+,")(page); await page.getByRole("dialog").getByRole("tab", { name: "Sandbox" }).click(); await page.getByRole("textbox", { name: "Allowed hosts" }).fill("example.org"); await page.waitForTimeout(350); } },
  { name: "search", scene: "scene=main", prepare: async (page) => { await press("Control+Shift+F")(page); await page.getByRole("combobox", { name: "Search" }).fill("jitter"); await page.getByRole("dialog").getByRole("option").first().waitFor(); } },
  { name: "fork", scene: "scene=main", prepare: async (page) => { await page.getByRole("button", { name: "More", exact: true }).click(); await page.getByRole("menuitem", { name: "Fork…" }).click(); await page.waitForTimeout(350); } },
  { name: "shortcuts", scene: "scene=main", prepare: press("F1") },
  { name: "settings-permissions", scene: "scene=main", prepare: async (page) => { await press("Control+,")(page); await page.getByRole("tab", { name: "Permissions" }).click(); await page.waitForTimeout(300); } },
  { name: "settings-search", scene: "scene=main", prepare: async (page) => { await press("Control+,")(page); await page.getByRole("searchbox", { name: "Search the settings" }).fill("net"); await page.waitForTimeout(300); } },
  { name: "keys", scene: "scene=main", prepare: async (page) => { await press("Control+,")(page); await page.getByRole("tab", { name: "Keys" }).click(); await page.getByRole("button", { name: "Add a key: Choose a model" }).click(); await press("Control+k")(page); } },
  { name: "palette", scene: "scene=main", prepare: press("Control+Shift+P") },
  { name: "palette-commands", scene: "scene=main", prepare: press("F4") },
  { name: "palette-slash", scene: "scene=main", prepare: async (page) => { await press("Control+Shift+P")(page); await page.keyboard.type("/"); } },
  { name: "arranged", scene: "scene=sidebar", prepare: async (page, narrow) => { if (narrow) await page.getByRole("button", { name: "Workspaces" }).click(); await page.waitForTimeout(350); } },
  { name: "row-menu", scene: "scene=sidebar", only: "wide", prepare: async (page) => { await page.getByRole("navigation").getByText("Only the back-off").click({ button: "right" }); await page.waitForTimeout(300); } },
  { name: "compact", scene: "scene=sidebar&density=compact", only: "wide" },
  { name: "app-menu", scene: "scene=main", only: "wide", prepare: async (page) => { await page.getByRole("button", { name: "Carrel: all commands" }).click(); await page.getByRole("menuitem", { name: "Workspaces" }).hover(); await page.waitForTimeout(400); } },
  { name: "quit", scene: "scene=sidebar&host=desktop", prepare: async (page) => { await press("Control+q")(page); await page.getByRole("dialog").waitFor(); await page.waitForTimeout(300); } },
  { name: "sidebar", scene: "scene=main", only: "narrow", prepare: async (page) => { await page.getByRole("button", { name: "Workspaces" }).click(); await page.waitForTimeout(350); } },
  { name: "changes", scene: "scene=main", only: "narrow", prepare: async (page) => { await page.getByRole("button", { name: /Changes/ }).click(); await page.waitForTimeout(350); } },
  { name: "delete", scene: "scene=main", prepare: async (page) => { await page.getByRole("button", { name: "More", exact: true }).click(); await page.getByRole("menuitem", { name: "Delete…" }).click(); await page.waitForTimeout(350); } },
  { name: "menu", scene: "scene=main", prepare: async (page) => { await page.getByRole("button", { name: "More", exact: true }).click(); await page.waitForTimeout(300); } },
];

let browser: Browser;
let server: Awaited<ReturnType<typeof servePage>>;

beforeAll(async () => {
  await mkdir(out, { recursive: true });
  server = await servePage(join(import.meta.dirname, "../../.fake"));
  browser = await launch();
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
});

const only = process.env["SCREENS"]?.split(",");

for (const size of sizes) {
  for (const theme of themes) {
    test(`${size.name} ${theme}`, { timeout: 240_000 }, async () => {
      const page = await browser.newPage({ viewport: size, hasTouch: size.touch, isMobile: size.touch, deviceScaleFactor: 1 });
      const errors = watchErrors(page);
      for (const screen of screens) {
        if ((screen.only && screen.only !== size.name) || (only && !only.includes(screen.name))) continue;
        await page.setViewportSize(size);
        await page.goto("about:blank");
        await page.goto(`${server.address}/#theme=${theme}&${screen.scene}`);
        await page.waitForSelector("main");
        await page.evaluate(() => document.fonts.ready);
        await page.waitForTimeout(400);
        await screen.prepare?.(page, size.name === "narrow");
        await page.screenshot({ path: join(out, `${size.name}-${theme}-${screen.name}.png`) });
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        expect(wide, `${screen.name} scrolls sideways`).toBeLessThanOrEqual(0);
      }
      await page.close();
      expect(errors).toEqual([]);
    });
  }
}
