import { afterEach, beforeEach, expect, test } from "vitest";
import { FakeCoder } from "../coder";
import { faults } from "../faults";
import { useStage } from "../stage";

const stage = useStage();
let coder: FakeCoder;

beforeEach(async () => {
  coder = await FakeCoder.start();
  await coder.set({
    Providers: [{ Name: "anthropic", Type: "anthropic" }, { Name: "claude-corp", Type: "anthropic" }, { Name: "llm", Type: "openai-compat" }],
    Models: { anthropic: ["claude-opus-5-5", "claude-haiku-5-5"], "claude-corp": ["claude-opus-5-5"] },
  });
});
afterEach(() => coder.close());

test("someone logs in at Coder, chooses what goes through it, and gets an answer without a key", async () => {
  const carrel = await stage.carrel();
  const ada = await stage.person(carrel);
  ada.expect(coder.url);
  ada.expect(`${carrel.origin}/auth/coder/callback`);
  await ada.button("Settings").click();
  const dialog = ada.dialog("Settings");
  await dialog.getByRole("tab", { name: "Providers" }).click();
  const card = dialog.getByRole("region", { name: "Coder", exact: true });
  await card.getByText("not connected").waitFor();
  await card.getByRole("button", { name: "Connect" }).click();
  const login = card.getByRole("button", { name: "Login with Coder" });

  // What is no deployment is told.
  await card.getByLabel("Deployment URL").fill("ftp://coder.example.com");
  await login.click();
  await card.getByRole("alert").getByText("must be like https://coder.example.com").waitFor();

  // Nobody approves it yet, and it is given up.
  const context = ada.page.context();
  await context.route(`${coder.url}/oauth2/authorize**`, () => undefined);
  await card.getByLabel("Deployment URL").fill(coder.url);
  await login.click();
  await card.getByText("Approve the login in your browser.").waitFor();
  expect(await card.getByLabel("Deployment URL").isDisabled()).toBe(true);
  await card.getByRole("button", { name: "Cancel" }).click();
  await login.waitFor();
  expect(await card.getByRole("alert").count()).toBe(0);
  await context.unrouteAll({ behavior: "ignoreErrors" });
  await ada.comeBack();

  await login.click();
  await card.getByText(`logged in at ${new URL(coder.url).host}`).waitFor();
  await ada.comeBack();
  await card.getByText("claude-corp", { exact: true }).waitFor();
  const routing = card.getByRole("group", { name: "Model routing" });
  await routing.getByText("Routes to Anthropic.").waitFor();
  await card.getByRole("button", { name: "Load model catalog" }).click();
  await card.getByRole("button", { name: "Refresh model catalog (3)" }).waitFor();
  await routing.getByLabel("Who serves the models of Anthropic").click();
  await ada.page.getByRole("option", { name: "claude-corp" }).click();
  await routing.getByLabel("Who serves the models of Anthropic").getByText("claude-corp").waitFor();

  expect(await faults(ada, "Coder")).toEqual([]);

  // A model of the gateway is added from its catalogue.
  await card.getByRole("button", { name: "Choose models…" }).click();
  const adder = dialog.getByRole("group", { name: "Add a model" });
  await adder.getByLabel("Provider", { exact: true }).click();
  await ada.page.getByRole("option", { name: "Coder" }).click();
  await adder.getByRole("combobox", { name: "Model ID" }).fill("haiku");
  await adder.getByRole("option", { name: "anthropic/claude-haiku-5-5" }).click();
  await dialog.getByRole("region", { name: "Coder" }).getByText("coder:anthropic/claude-haiku-5-5").waitFor();

  // claude-corp lists Opus alone, so Haiku does not go through Coder.
  const models = dialog.getByRole("region", { name: "Anthropic", exact: true });
  const opus = models.getByRole("listitem").filter({ hasText: "anthropic:claude-opus-5-5" });
  const route = opus.getByLabel(/^Route of/);
  await route.getByText("Default (Coder)").waitFor();
  await opus.getByText("via Coder").waitFor();
  expect(await models.getByRole("listitem").filter({ hasText: "anthropic:claude-haiku-5-5" }).getByText("via Coder").count()).toBe(0);
  await route.click();
  await ada.page.getByRole("option", { name: "Direct" }).click();
  await opus.getByText("via Coder").waitFor({ state: "detached" });
  await route.click();
  await ada.page.getByRole("option", { name: /^Coder/ }).click();
  await opus.getByText("via Coder").waitFor();
  expect(await faults(ada, "routes")).toEqual([]);
  await ada.page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });

  await ada.settle(await carrel.repository("gateway"), "Through the gateway");
  await ada.write("/model opus");
  await ada.page.getByRole("main").getByLabel("Model", { exact: true }).getByText(/Opus/).waitFor();
  await ada.ask("Hello");
  const answer = ada.log.getByText("Hello from the gateway.");
  await answer.hover();
  await ada.log.getByText(/Opus.* · via Coder · /).waitFor();

  await ada.button("Settings").click();
  await dialog.getByRole("tab", { name: "Providers" }).click();
  await card.getByRole("button", { name: "Change" }).click();
  await card.getByRole("button", { name: "Disconnect…" }).click();
  await card.getByRole("button", { name: "Disconnect", exact: true }).click();
  await card.getByText("not connected").waitFor();
});

test("a login that is refused in the browser says so", async () => {
  await coder.set({ Deny: true });
  const carrel = await stage.carrel();
  const ada = await stage.person(carrel);
  ada.expect(coder.url);
  ada.expect(`${carrel.origin}/auth/coder/callback`);
  await ada.button("Settings").click();
  const dialog = ada.dialog("Settings");
  await dialog.getByRole("tab", { name: "Providers" }).click();
  const card = dialog.getByRole("region", { name: "Coder", exact: true });
  await card.getByRole("button", { name: "Connect" }).click();
  await card.getByLabel("Deployment URL").fill(coder.url);
  await card.getByRole("button", { name: "Login with Coder" }).click();
  await card.getByRole("alert").getByText("The login was not approved.").waitFor();
});
