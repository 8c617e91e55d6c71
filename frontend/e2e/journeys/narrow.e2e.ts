import { expect, test } from "vitest";
import type { Person } from "../person";
import { useStage } from "../stage";

const stage = useStage();
const phone = { viewport: { width: 375, height: 812 }, hasTouch: true, isMobile: true };

/** Nothing is wider than the screen, and the composer ends with it. */
async function fits(person: Person): Promise<void> {
  expect(await person.page.evaluate(() => document.documentElement.scrollWidth)).toBe(375);
  expect(await person.page.evaluate(() => document.documentElement.scrollHeight)).toBe(812);
}

test("on a phone: sheets for the sidebar and the changes, and a composer that stays", async () => {
  const carrel = await stage.carrel();
  const repo = await carrel.repository("pocket");
  const ada = await stage.person(carrel, phone);

  await ada.button("Add a project").first().tap();
  const add = ada.dialog("Add a project");
  await add.getByLabel("Folder", { exact: true }).fill(repo);
  await fits(ada);
  await add.getByRole("button", { name: "Add project" }).tap();
  await ada.createWorkspace("In my pocket");
  await ada.ask("Look around and commit");
  await fits(ada);
  const box = await ada.composer.boundingBox();
  expect(box && box.y + box.height).toBeGreaterThan(700);
  expect(box && box.y + box.height).toBeLessThanOrEqual(812);

  // Reading back does not move the composer.
  await ada.log.evaluate((log) => log.scrollTo(0, 0));
  expect((await ada.composer.boundingBox())?.y).toBe(box?.y);

  await ada.button("Workspaces").tap();
  const sheet = ada.dialog("Workspaces");
  await sheet.getByRole("navigation").getByText("In my pocket").waitFor();
  await fits(ada);
  await sheet.getByRole("button", { name: "New workspace", exact: true }).tap();
  await ada.createWorkspace("Another");
  await ada.button("Workspaces").tap();
  await sheet.getByRole("button", { name: /^In my pocket/ }).tap();
  await sheet.waitFor({ state: "detached" });
  await ada.page.getByRole("heading", { level: 1, name: "In my pocket" }).waitFor();

  await ada.button(/^Changes/).tap();
  const changes = ada.dialog("In my pocket");
  await changes.getByRole("option", { name: /DEMO\.md/ }).waitFor();
  await changes.getByText("Asked: “Look around and commit”").waitFor();
  await fits(ada);
  await changes.getByRole("button", { name: "Close" }).tap();
  await changes.waitFor({ state: "detached" });

  // What a finger has to hit is large enough.
  const small = await ada.page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>("button, a[href], [role=button]")]
      .filter((one) => one.checkVisibility())
      .map((one) => ({ name: one.getAttribute("aria-label") ?? one.innerText.slice(0, 30), height: one.getBoundingClientRect().height }))
      .filter((one) => one.height > 0 && one.height < 24),
  );
  expect(small).toEqual([]);
});
