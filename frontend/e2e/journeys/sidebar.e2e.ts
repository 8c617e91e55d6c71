import { expect, test } from "vitest";
import type { Person } from "../person";
import { faults } from "../faults";
import { useStage } from "../stage";

const stage = useStage();

/** The titles of a section's rows, from the top. */
const order = (person: Person, section: string) => person.page.getByRole("navigation").getByRole("region", { name: section, exact: true }).locator(".title").allInnerTexts();

/** Chooses from the menu at the pointer. */
async function choose(person: Person, row: string, item: string): Promise<void> {
  await person.row(row).click({ button: "right" });
  await person.page.getByRole("menuitem", { name: item, exact: true }).click();
}

test("workspaces and projects stay where they are put: by dragging, by keys, and after a restart", async () => {
  const carrel = await stage.carrel();
  const ada = await stage.person(carrel);
  await ada.settle(await carrel.repository("harbor"), "First");
  await ada.newWorkspace("Second");
  await ada.newWorkspace("Third");
  await expect.poll(() => order(ada, "harbor")).toEqual(["Third", "Second", "First"]);

  // By dragging: the line shows where it will be, and the press chooses nothing.
  const from = await ada.row("First").boundingBox();
  const to = await ada.row("Third").boundingBox();
  if (!from || !to) throw new Error("no rows");
  await ada.page.mouse.move(from.x + 60, from.y + 10);
  await ada.page.mouse.down();
  await ada.page.mouse.move(from.x + 60, from.y - 20, { steps: 3 });
  await ada.page.mouse.move(to.x + 60, to.y + 4, { steps: 3 });
  await ada.page.locator(".item.before").waitFor();
  await ada.page.mouse.up();
  await expect.poll(() => order(ada, "harbor")).toEqual(["First", "Third", "Second"]);
  await ada.page.getByRole("heading", { level: 1, name: "Third" }).waitFor();

  // A drag that is given up moves nothing.
  await ada.page.mouse.move(from.x + 60, from.y + 10);
  await ada.page.mouse.down();
  await ada.page.mouse.move(to.x + 60, to.y + 4, { steps: 3 });
  await ada.page.keyboard.press("Escape");
  await ada.page.mouse.up();

  // By keys: the focus goes along, and what happened is said.
  await ada.row("Second").focus();
  await ada.page.keyboard.press("Alt+ArrowUp");
  await expect.poll(() => order(ada, "harbor")).toEqual(["First", "Second", "Third"]);
  await ada.page.getByRole("status").getByText("Second is 2 of 3 now").waitFor();
  await expect.poll(() => ada.row("Second").evaluate((row) => row === document.activeElement)).toBe(true);
  await ada.page.keyboard.press("ArrowDown");
  await expect.poll(() => ada.row("Third").evaluate((row) => row === document.activeElement)).toBe(true);

  await ada.addProject(await carrel.repository("quay"));
  await ada.createWorkspace("On the quay");
  await ada.page.getByRole("button", { name: "quay", exact: true }).focus();
  await ada.page.keyboard.press("Alt+ArrowUp");
  const projects = () => ada.page.getByRole("navigation").getByRole("group", { name: /^Project / }).evaluateAll((all) => all.map((one) => one.getAttribute("aria-label")));
  await expect.poll(projects).toEqual(["Project quay", "Project harbor"]);

  await carrel.stop();
  await carrel.start();
  await ada.connected();
  await expect.poll(projects).toEqual(["Project quay", "Project harbor"]);
  await expect.poll(() => order(ada, "harbor")).toEqual(["First", "Second", "Third"]);
});

test("pins, unread marks and sub-workspaces, in each window and after a restart", async () => {
  const carrel = await stage.carrel();
  const ada = await stage.person(carrel);
  const ben = await stage.person(carrel);
  await ada.settle(await carrel.repository("harbor"), "Deep work");
  await ada.newWorkspace("Side work");

  await choose(ada, "Side work", "Pin");
  await expect.poll(() => order(ben, "Pinned")).toEqual(["Side work"]);
  await expect.poll(() => order(ben, "harbor")).toEqual(["Deep work"]);

  // The one that shows stays unread until somebody looks at it anew.
  await choose(ada, "Side work", "Mark as unread");
  await ben.row("Side work").getByText("unread", { exact: true }).waitFor({ state: "attached" });
  await ada.row("Deep work").click();
  await ada.page.getByRole("heading", { level: 1, name: "Deep work" }).waitFor();
  await ada.row("Side work").getByText("unread", { exact: true }).waitFor({ state: "attached" });

  // What belongs to a workspace starts from its branch and is shown below it.
  await ada.ask("Make a commit");
  await choose(ada, "Deep work", "New sub-workspace…");
  await ada.dialog("New sub-workspace").getByLabel("What is it for?").fill("A part of it");
  await ada.dialog("New sub-workspace").getByRole("button", { name: /Create workspace/ }).click();
  await ada.page.getByRole("heading", { level: 1, name: "A part of it" }).waitFor();
  expect(await carrel.git(await carrel.folder("a-part-of-it"), "log", "-1", "--format=%s")).not.toBe("First");
  await expect.poll(() => order(ada, "harbor")).toEqual(["Deep work", "A part of it"]);

  await ada.button("1 sub-workspace").click();
  await expect.poll(() => order(ada, "harbor")).toEqual(["Deep work"]);
  expect(await faults(ada, "sidebar")).toEqual([]);

  await carrel.stop();
  await carrel.start();
  await ada.page.reload();
  await ada.connected();
  await expect.poll(() => order(ada, "Pinned")).toEqual(["Side work"]);
  await expect.poll(() => order(ada, "harbor")).toEqual(["Deep work"]); // the fold is kept, too
  await ada.row("Side work").getByText("unread", { exact: true }).waitFor({ state: "attached" });
  await ada.row("Side work").click();
  await ada.row("Side work").getByText("unread", { exact: true }).waitFor({ state: "detached" });
});

test("the filter finds by every word, and Enter goes to the first", async () => {
  const carrel = await stage.carrel();
  const ada = await stage.person(carrel);
  await ada.settle(await carrel.repository("harbor"), "Mend the crane");
  await ada.newWorkspace("Paint the crane");
  await ada.newWorkspace("Count ropes");

  await ada.button("Filter workspaces").click();
  const filter = ada.page.getByRole("textbox", { name: "Filter workspaces" });
  await filter.fill("crane paint");
  await expect.poll(() => order(ada, "harbor")).toEqual(["Paint the crane"]);
  await filter.press("Enter");
  await ada.page.getByRole("heading", { level: 1, name: "Paint the crane" }).waitFor();
  await filter.fill("<img src=x>");
  await ada.page.getByText("No workspace fits “<img src=x>”.").waitFor();
  await filter.press("Escape");
  await expect.poll(() => order(ada, "harbor")).toHaveLength(3);
});

test("widths, hidden columns, the tab and the chosen workspace are there again in a new window", async () => {
  const carrel = await stage.carrel();
  const ada = await stage.person(carrel);
  await ada.settle(await carrel.repository("harbor"), "Here");
  await ada.newWorkspace("There");
  await ada.page.getByRole("separator", { name: "Width of the sidebar" }).focus();
  await ada.page.keyboard.press("End");
  await ada.page.getByRole("tab", { name: "Costs" }).click();
  await ada.page.getByRole("tab", { name: "Costs", selected: true }).waitFor();

  // Another window shows the same once the core has it.
  await expect.poll(async () => {
    const ben = await stage.person(carrel);
    const { page } = ben;
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    const shown = [await page.getByRole("separator", { name: "Width of the sidebar" }).getAttribute("aria-valuenow"), await page.getByRole("tab", { selected: true }).innerText(), await page.getByRole("heading", { level: 1 }).first().innerText()];
    await page.context().close();
    return shown;
  }).toEqual(["420", "Costs", "There"]);
});

test("names of repositories, titles and branches are shown and do nothing", async () => {
  const carrel = await stage.carrel();
  const ada = await stage.person(carrel);
  const name = `<img src=x onerror=alert(1)>`;
  await ada.settle(await carrel.repository(name), "<b>bold</b> & <i>more</i>");
  const folder = await carrel.folder("b-bold-b-i-more-i");
  await carrel.git(folder, "checkout", "--quiet", "-b", `"><script>alert(1)</script>`);
  await ada.page.getByRole("navigation").getByText(`"><script>alert(1)</script>`).first().waitFor();
  await ada.page.getByRole("navigation").getByRole("region", { name, exact: true }).waitFor();
  expect(await ada.page.locator("nav img, nav script, nav i").count()).toBe(0);
});
