import { expect, test } from "vitest";
import type { Person } from "../person";
import { useStage } from "../stage";

const stage = useStage();

/** What has the focus, by its name, and whether one can see that. */
async function focus(person: Person): Promise<{ name: string; visible: boolean }> {
  return person.page.evaluate(() => {
    const element = document.activeElement;
    if (!(element instanceof HTMLElement) || element === document.body) return { name: "", visible: false };
    const ring = getComputedStyle(element);
    const mark = getComputedStyle(element, "::before");
    // The composer's frame and a splitter's bar stand in for the ring.
    const frame = element.closest(".composer:focus-within") !== null || (mark.content !== "none" && mark.backgroundColor !== "rgba(0, 0, 0, 0)");
    const label = element.getAttribute("aria-label") ?? (element instanceof HTMLInputElement ? element.labels?.[0]?.textContent : undefined) ?? element.innerText;
    return { name: label.trim().replace(/\s+/g, " "), visible: (ring.outlineStyle !== "none" && parseFloat(ring.outlineWidth) >= 1) || frame };
  });
}

/** Presses Tab until the named thing has the focus, which must be seen at every step. */
async function tabTo(person: Person, name: RegExp): Promise<void> {
  const passed: string[] = [];
  for (let i = 0; i < 40; i++) {
    await person.page.keyboard.press("Tab");
    const now = await focus(person);
    if (now.name === "") continue;
    expect(now, `after ${passed.join(", ")}`).toMatchObject({ visible: true });
    if (name.test(now.name)) return;
    passed.push(now.name);
  }
  throw new Error(`Tab never came to ${name}; it passed ${passed.join(", ")}`);
}

test("a first run without a mouse", async () => {
  const carrel = await stage.carrel();
  const repo = await carrel.repository("keys");
  const ada = await stage.person(carrel);
  const keyboard = ada.page.keyboard;

  await tabTo(ada, /^Add a project$/);
  await keyboard.press("Enter");
  await expect.poll(async () => (await focus(ada)).name).toBe("Folder");
  await keyboard.type(repo);
  await keyboard.press("Enter");
  await ada.dialog("Add a project").getByRole("button", { name: /^Up to/ }).getByText(carrel.home).waitFor();
  await keyboard.press("Enter");

  const dialog = ada.dialog("New workspace");
  await expect.poll(async () => (await focus(ada)).name).toBe("What is it for?");
  await dialog.getByRole("combobox", { name: "Starts from" }).waitFor();
  await keyboard.type("By keys alone");
  await keyboard.press("Enter");
  await dialog.waitFor({ state: "detached" });
  await expect.poll(async () => (await focus(ada)).name).toBe("Message");
  await keyboard.type("Two");
  await keyboard.press("Shift+Enter");
  await keyboard.type("lines");
  await keyboard.press("Enter");
  await ada.log.getByText("To review it:").waitFor();
  await ada.rest();
  await ada.log.evaluate((log) => log.scrollTo(0, 0));
  await expect.poll(() => ada.said()).toEqual(["Two\nlines"]);
  await keyboard.press("Control+i");

  // The sidebar, the conversation's rows and the changes are all within reach.
  await tabTo(ada, /DEMO\.md/);
  await keyboard.press("Control+i");
  await expect.poll(async () => (await focus(ada)).name).toBe("Message");
  for (let i = 0; i < 20 && !/^Edit DEMO/.test((await focus(ada)).name); i++) await keyboard.press("Shift+Tab");
  await ada.log.getByLabel("Change of DEMO.md").waitFor();
  await keyboard.press("Enter");
  await ada.log.getByLabel("Change of DEMO.md").waitFor({ state: "detached" });
  await keyboard.press("Control+i");
  await expect.poll(async () => (await focus(ada)).name).toBe("Message");
});

test("shortcuts, the sheet that lists them, and the palette", async () => {
  const carrel = await stage.carrel();
  const ada = await stage.person(carrel);
  const keyboard = ada.page.keyboard;
  await ada.settle(await carrel.repository("keys"), "Alpha");
  await ada.newWorkspace("Beta");

  await keyboard.press("F1");
  const sheet = ada.dialog("Keyboard shortcuts");
  await sheet.getByText("Stop the agent", { exact: true }).waitFor();
  await keyboard.press("Escape");
  await sheet.waitFor({ state: "detached" });

  await keyboard.press("Control+Shift+P");
  await ada.page.getByRole("combobox").or(ada.page.getByPlaceholder(/^Go to a workspace/)).first().waitFor();
  await keyboard.type("alp");
  await keyboard.press("Enter");
  await ada.page.getByRole("heading", { level: 1, name: "Alpha" }).waitFor();
  await keyboard.press("Control+j");
  await ada.page.getByRole("heading", { level: 1, name: "Beta" }).waitFor();
  await keyboard.press("Control+2");
  await ada.page.getByRole("heading", { level: 1, name: "Alpha" }).waitFor();

  await keyboard.press("F2");
  await ada.dialog("Rename workspace").waitFor();
  await keyboard.press("Escape");
  await keyboard.press("Control+p");
  await ada.page.getByRole("navigation").waitFor({ state: "detached" });
  await keyboard.press("Control+p");
  await ada.page.getByRole("navigation").waitFor();
  await keyboard.press("Control+Shift+D");
  await ada.changes.waitFor({ state: "detached" });
  await keyboard.press("Control+Shift+D");
  await ada.changes.waitFor();
});
