import { expect, test } from "vitest";
import { faults } from "../faults";
import { useStage } from "../stage";

const stage = useStage();

test("the core's log is shown, filtered, cleared, and its level kept", async () => {
  const carrel = await stage.carrel();
  const repo = await carrel.repository("logged");
  const ada = await stage.person(carrel);
  await ada.settle(repo, "Read the log");
  const run = async (title: string) => {
    await ada.page.keyboard.press("F4");
    await ada.page.keyboard.type(title);
    await ada.page.getByRole("option", { name: title }).first().waitFor();
    await ada.page.keyboard.press("Enter");
  };
  await run("Show Output");
  const log = ada.page.getByRole("log", { name: "Log of the core" });
  await log.getByText("the core is ready").waitFor();
  expect(await faults(ada, "the output")).toEqual([]);

  await ada.page.getByRole("radio", { name: "This workspace" }).click();
  await expect.poll(() => log.getByText("the core is ready").count()).toBe(0);
  await ada.page.getByRole("radio", { name: "All" }).click();
  await log.getByText("the core is ready").waitFor();

  await ada.page.getByLabel("Least level that is shown").click();
  await ada.page.getByRole("option", { name: "Errors" }).click();
  await ada.page.getByText("None of the lines so far is of that kind.").waitFor();
  await ada.page.reload();
  await ada.log.waitFor();
  await run("Show Output");
  await ada.page.getByLabel("Least level that is shown").getByText("Errors").waitFor();

  await ada.page.getByLabel("Least level that is shown").click();
  await ada.page.getByRole("option", { name: "Debug" }).click();
  await log.getByText("the core is ready").waitFor();
  await ada.page.getByRole("button", { name: "Clear the log, on disk too" }).click();
  await expect.poll(() => log.getByText("the core is ready").count()).toBe(0);

  await run("Hide Output");
  await log.waitFor({ state: "detached" });
});
