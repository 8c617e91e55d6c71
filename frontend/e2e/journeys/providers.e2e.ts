import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { useStage } from "../stage";

const stage = useStage();

test("a provider is tested: it works, or it says what is wrong and how to mend it", async () => {
  const model = await stage.model();
  const carrel = await stage.carrel({ model });
  const ada = await stage.person(carrel);
  await ada.button("Settings").click();
  const dialog = ada.dialog("Settings");
  await dialog.getByRole("tab", { name: "Providers" }).click();
  const card = dialog.getByRole("region", { name: "Anthropic", exact: true });

  await card.getByRole("button", { name: "Test" }).click();
  await card.getByText(/^It works: .+ answered in \d/).waitFor();
  model.answers((say) => say.refuse(401, "authentication_error", "invalid x-api-key"));
  await card.getByRole("button", { name: "Test" }).click();
  await card.getByText(/^It works/).waitFor({ state: "detached" });
  const result = card.getByRole("status");
  await expect.poll(async () => (await result.locator("p").allInnerTexts()).length).toBe(2);
  expect(await result.innerText()).toMatch(/key/i);
  expect(await result.innerText()).not.toContain("sk-fake");

  // A provider's own settings are kept as they are chosen.
  await card.getByRole("button", { name: "Change" }).click();
  await card.getByLabel("Prompt cache").click();
  await ada.page.getByRole("option", { name: "1 hour" }).click();
  const kept = () => readFile(join(carrel.root, "providers.jsonc"), "utf8");
  await expect.poll(kept).toContain('"1h"');
  await card.getByRole("switch", { name: "Web search" }).click();
  await expect.poll(kept).toContain('"webSearch"');
  await card.getByRole("switch", { name: "Enabled" }).click();
  await card.getByText("off", { exact: true }).waitFor();
  expect(await kept()).toContain("sk-fake");
});

test("a server of one's own is added, and its models are suggested", async () => {
  const model = await stage.model();
  model.listed = ["heron-large", "heron-small"];
  const carrel = await stage.carrel({ model });
  const ada = await stage.person(carrel);
  await ada.button("Settings").click();
  const dialog = ada.dialog("Settings");
  await dialog.getByRole("tab", { name: "Providers" }).click();
  await dialog.getByRole("button", { name: "Add a custom provider" }).click();
  const form = dialog.getByRole("form", { name: "Add a custom provider" });
  await form.getByLabel("Id").fill("marsh");
  await form.getByLabel("Name").fill("The marsh");
  await form.getByLabel("API that it speaks").click();
  await ada.page.getByRole("option", { name: /Messages/ }).click();
  await form.getByLabel("Base address").fill("ftp://nowhere");
  await form.getByRole("button", { name: "Add provider" }).click();
  await form.getByRole("alert").waitFor();
  await form.getByLabel("Base address").fill((model.providers as { anthropic: { baseUrl: string } }).anthropic.baseUrl);
  await form.getByRole("button", { name: "Add provider" }).click();
  const card = dialog.getByRole("region", { name: "The marsh" });
  await card.waitFor();

  await dialog.getByRole("tab", { name: "Models" }).click();
  const adder = dialog.getByRole("group", { name: "Add a model" });
  await adder.getByLabel("Provider", { exact: true }).click();
  await ada.page.getByRole("option", { name: "The marsh" }).click();
  const field = adder.getByRole("combobox", { name: "Model ID" });
  await field.click();
  await adder.getByRole("option", { name: /heron-large/ }).waitFor();
  await field.press("ArrowDown");
  await field.press("Enter");
  const models = dialog.getByRole("region", { name: "The marsh" });
  await models.getByText("marsh:heron-large").waitFor();
  await field.fill("egret");
  await field.press("Enter");
  await models.getByText("marsh:egret").waitFor();
  await models.getByRole("button", { name: /^Remove egret/ }).click();
  await models.getByText("marsh:egret").waitFor({ state: "detached" });

  await dialog.getByRole("tab", { name: "Providers" }).click();
  await card.getByRole("button", { name: "Change" }).click();
  await card.getByRole("button", { name: "Remove the provider" }).click();
  await card.getByRole("button", { name: "Remove", exact: true }).click();
  await card.waitFor({ state: "detached" });
});

test("chains of models for refusals can be changed", async () => {
  const model = await stage.model();
  const carrel = await stage.carrel({ model });
  const ada = await stage.person(carrel);
  await ada.button("Settings").click();
  const dialog = ada.dialog("Settings");
  await dialog.getByRole("tab", { name: "Models" }).click();
  const chains = dialog.getByRole("region", { name: "When a model refuses" });
  await chains.getByLabel("Add a chain").click();
  await ada.page.getByRole("option", { name: /^Haiku 5\.5|Haiku/ }).first().click();
  const chain = chains.getByRole("group", { name: /^When .*Haiku.* refuses/ });
  await chain.getByLabel("Then ask").click();
  await ada.page.getByRole("option", { name: /Opus/ }).first().click();
  await chain.getByRole("button", { name: /^Take .*Opus.* out/ }).waitFor();
  const kept = () => readFile(join(carrel.root, "settings.jsonc"), "utf8").catch(() => "");
  await expect.poll(kept).toMatch(/haiku[^\]]*opus/s);
  await chain.getByRole("button", { name: /^Take .*Opus.* out/ }).click();
  await chain.waitFor({ state: "detached" });
  await expect.poll(kept).not.toMatch(/haiku[^\]]*opus/s);
});
