import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { useStage } from "../stage";
import { answer, question, writeTurns } from "../transcript";

const stage = useStage();

test("costs are summed up, and a budget stops the agent until it is raised", async () => {
  const model = await stage.model();
  const carrel = await stage.carrel({ model });
  const ada = await stage.person(carrel);
  await ada.settle(await carrel.repository("money"), "Costs something");
  await ada.ask("Hello");

  await ada.changes.getByRole("tab", { name: "Costs" }).click();
  const row = ada.changes.getByRole("row", { name: /costs-something/ });
  await row.getByText(/\$0\.0\d|<\$0\.01/).waitFor();
  expect(await row.getByRole("cell").first().innerText()).toBe("1");
  await ada.ask("Once more");
  await expect.poll(() => row.getByRole("cell").first().innerText()).toBe("2");
  for (const by of ["By project", "By model", "By day"]) {
    await ada.changes.getByLabel("Costs by").click();
    await ada.page.getByRole("option", { name: by }).click();
    await ada.changes.getByRole("columnheader", { name: by.slice(3, 4).toUpperCase() + by.slice(4) }).waitFor();
  }

  // What a response cost is told at the response.
  await ada.log.getByText("Done.").last().hover();
  await ada.log.getByText(/1\.2k in · 340 out · /).last().waitFor();

  await ada.changes.getByRole("button", { name: "Set a budget" }).click();
  const box = ada.changes.getByLabel("Budget in dollars");
  await box.fill("five");
  await box.press("Enter");
  await ada.changes.getByText("Write an amount in dollars, such as 5 or 2.50.").waitFor();
  await box.fill("0.0001");
  await box.press("Enter");
  await ada.changes.getByText(/100 % of/).waitFor();
  await ada.write("A third time");
  await ada.log.getByText("The budget is used up", { exact: true }).waitFor();
  expect(model.asked).toHaveLength(2);
  await ada.log.getByRole("button", { name: "Change the budget" }).waitFor();
  await ada.changes.getByRole("button", { name: "Take away" }).click();
  await ada.changes.getByText("No budget").waitFor();
  await ada.log.getByRole("button", { name: "Try again" }).click();
  await expect.poll(() => model.asked.length).toBe(3);
  await ada.rest();
});

test("a search finds what was said anywhere, and goes there", async () => {
  const model = await stage.model();
  const carrel = await stage.carrel({ model });
  const ada = await stage.person(carrel);
  const repo = await carrel.repository("find");
  await ada.settle(repo, "Long ago");
  await ada.page.goto("about:blank");
  await carrel.stop();
  await writeTurns(await carrel.session(), 700);
  await carrel.start();
  await ada.page.goto(carrel.link);
  await ada.log.getByText(answer(700)).waitFor();
  await ada.newWorkspace("Just now");
  await ada.ask("The <b>heron</b> stands in the reeds");

  const search = ada.dialog("Search all conversations");
  const open = async (text: string) => {
    await ada.page.keyboard.press("Control+Shift+F");
    await search.getByRole("combobox").fill(text);
  };
  await open("heron");
  const hit = search.getByRole("option").filter({ hasText: "You" });
  await hit.getByText("The <b>heron</b> stands").waitFor();
  expect(await hit.locator("b").count()).toBe(0);
  expect(await hit.locator("mark").innerText()).toBe("heron");
  await ada.page.keyboard.press("Escape");
  await search.waitFor({ state: "detached" });

  await open('"Answer 17."');
  await search.getByRole("option").filter({ hasText: "Long ago" }).filter({ hasText: "Agent" }).first().waitFor();
  await ada.page.keyboard.press("Enter");
  await search.waitFor({ state: "detached" });
  await ada.page.getByRole("heading", { level: 1, name: "Long ago" }).waitFor();
  await ada.log.getByText(answer(17), { exact: false }).first().waitFor();
  const inView = () =>
    ada.log.evaluate((box, text) => {
      const found = [...box.querySelectorAll<HTMLElement>(".answer")].find((one) => one.innerText.startsWith(text));
      if (!found) return false;
      const [at, view] = [found.getBoundingClientRect(), box.getBoundingClientRect()];
      return at.top >= view.top && at.top < view.bottom;
    }, answer(17));
  await expect.poll(inView).toBe(true);
  await ada.log.getByText(question(17)).first().waitFor();

  await open("no such words anywhere");
  await search.getByText("Nothing was said like that").waitFor();
});

test("a conversation is exported as a file", async () => {
  const model = await stage.model();
  const carrel = await stage.carrel({ model });
  const ada = await stage.person(carrel);
  await ada.settle(await carrel.repository("export"), "Take it home");
  await ada.ask("Say that you are done");
  const download = ada.page.waitForEvent("download");
  await ada.menu("Export as Markdown");
  const file = await download;
  expect(file.suggestedFilename()).toMatch(/\.md$/);
  const text = await readFile(await file.path(), "utf8");
  expect(text).toContain("Say that you are done");
  expect(text).toContain("Done.");
});
