import { expect, test } from "vitest";
import { faults } from "../faults";
import { useStage } from "../stage";

const stage = useStage();

test("the palette goes to workspaces, runs commands and writes slash commands", async () => {
  const carrel = await stage.carrel();
  const ada = await stage.person(carrel);
  const keyboard = ada.page.keyboard;
  await ada.settle(await carrel.repository("desk"), "Alpha");
  await ada.newWorkspace("Beta");
  const heading = (name: string) => ada.page.getByRole("heading", { level: 1, name }).waitFor();
  const palette = ada.dialog("Go to a workspace or run a command");
  const field = palette.getByRole("combobox");
  const chosen = palette.getByRole("option", { selected: true });

  // From the composer: the workspace before this one is one Enter away.
  await keyboard.press("Control+i");
  await keyboard.press("Control+Shift+P");
  await chosen.getByText("Alpha", { exact: true }).waitFor();
  expect(await palette.getByRole("option").allInnerTexts()).toEqual([expect.stringContaining("Alpha"), expect.stringContaining("Beta")]);
  await keyboard.press("Enter");
  await heading("Alpha");

  // Its key again closes it, and Escape too.
  await keyboard.press("Control+Shift+P");
  await field.waitFor();
  await keyboard.press("Control+Shift+P");
  await palette.waitFor({ state: "detached" });

  // Commands, by some of their letters.
  await keyboard.press("F4");
  await expect.poll(() => field.inputValue()).toBe(">");
  await keyboard.type("rtw");
  await chosen.getByText("Rename this workspace").waitFor();
  await keyboard.press("Enter");
  await ada.dialog("Rename workspace").waitFor();
  await keyboard.press("Escape");
  await ada.dialog("Rename workspace").waitFor({ state: "detached" });
  await keyboard.press("F4");
  await chosen.getByText("Rename this workspace").waitFor();
  expect(await faults(ada, "the palette's commands")).toEqual([]);

  // Words that no workspace has lead to the commands.
  await keyboard.press("Control+Shift+P");
  await expect.poll(() => field.inputValue()).toBe("");
  await keyboard.type("costs");
  await chosen.getByText("Look among the commands").waitFor();
  await keyboard.press("Enter");
  await chosen.getByText("Show the costs").waitFor();

  // A slash command goes into the composer.
  await field.fill("/cl");
  await chosen.getByText("/clear", { exact: true }).waitFor();
  expect(await faults(ada, "the palette's slash commands")).toEqual([]);
  await keyboard.press("Enter");
  await palette.waitFor({ state: "detached" });
  await expect.poll(() => ada.page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? "")).toBe("Message");
  await ada.page.getByText("/clear").first().waitFor();

  await keyboard.press("F4");
  await field.fill("> no such thing");
  await palette.getByText("Nothing matches “no such thing”.").waitFor();
  await keyboard.press("Escape");
  await palette.waitFor({ state: "detached" });
});
