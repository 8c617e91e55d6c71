import { access } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { faults } from "../faults";
import { useStage } from "../stage";

const stage = useStage();

test("a newcomer is led through the first turn on a sample project, with the demo model", async () => {
  const carrel = await stage.carrel({ env: { CARREL_DEMO_DELAY: "0", CARREL_MODE: "ask" } });
  const ada = await stage.person(carrel);
  await ada.button("Look around with a sample").click();

  const tour = ada.page.getByRole("region", { name: /\d of 5$/ });
  const heading = (text: string) => tour.getByRole("heading", { name: text }).waitFor();
  await heading("A desk of its own 1 of 5");
  await tour.getByText("~/carrel-sample").waitFor();
  await access(join(carrel.home, "carrel-sample", "harbor.sh"));
  expect(await faults(ada, "the tour")).toEqual([]);

  await tour.getByRole("button", { name: "Next" }).click();
  await heading("Ask for something 2 of 5");
  await ada.page.reload(); // it goes on where it was
  await heading("Ask for something 2 of 5");
  await expect.poll(() => ada.composer.inputValue().catch(() => ada.composer.innerText())).toContain("Say in the README who keeps this harbor");
  await ada.composer.press("Enter");
  await heading("It asks before it changes things 3 of 5");
  const once = ada.page.getByRole("button", { name: /^Allow once/ });
  await once.waitFor();
  const review = tour.getByRole("heading", { name: /4 of 5/ });
  await expect
    .poll(async () => {
      // One question follows the other in the same place.
      if (await once.isVisible()) await once.click({ timeout: 2_000 }).catch(() => undefined);
      return review.isVisible();
    })
    .toBe(true);
  await heading("Review what came out 4 of 5");
  await ada.changes.getByRole("option", { name: /DEMO\.md/ }).waitFor();
  await tour.getByRole("button", { name: "Next" }).click();
  await heading("Now your own 5 of 5");
  await tour.getByRole("button", { name: "Add a project" }).click();
  await ada.dialog("Add a project").waitFor();
  await tour.waitFor({ state: "detached" });
});
