import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { Carrel } from "../carrel";
import { faults } from "../faults";
import { useStage } from "../stage";

const stage = useStage();
const confined = { CARREL_SANDBOX: "workspace-write" };
let close: (() => Promise<void>) | undefined;
afterEach(() => close?.());

/** A server on this machine, which commands reach by the proxy only. */
async function greeter(): Promise<string> {
  const server = createServer((_, response) => response.end("hello from outside\n"));
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  close = () => new Promise((done) => server.close(() => done()));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

async function listNothing(carrel: Carrel): Promise<void> {
  await writeFile(join(carrel.root, "settings.jsonc"), `{\n  // mine\n  "sandbox": { "network": "allowlist", "allowed_domains": [] }\n}\n`, { mode: 0o600 });
}

test("a refused host is shown, allowed for the next command, and then for the project", async () => {
  const model = await stage.model();
  const carrel = await stage.carrel({ model, env: confined, started: false });
  await listNothing(carrel);
  await carrel.start();
  const address = await greeter();
  const repo = await carrel.repository("fetcher");
  const ada = await stage.person(carrel);
  await ada.settle(repo, "Fetch it");
  const fetchIt = () => model.answers((say) => say.call("bash", { script: `curl -sS --noproxy '' -w '%{http_code}' ${address}`, timeout_secs: 20, display_name: "Fetch" }));
  const got = () => model.asked.at(-1)?.results.join("\n") ?? "";

  await ada.page.getByRole("button", { name: /^Sandbox: / }).click();
  const panel = ada.changes.getByRole("tabpanel");
  await panel.getByText("No command has reached for a host yet.").waitFor();

  fetchIt();
  await ada.ask("Fetch the greeting");
  expect(got()).toContain("403");
  const network = panel.getByRole("region", { name: "Network" });
  await network.getByText("the address 127.0.0.1 has no entry of its own in allowed_domains").waitFor();
  expect(await faults(ada, "a refused host")).toEqual([]);

  await network.getByRole("button", { name: "Allow for the next command: 127.0.0.1" }).click();
  await network.getByText("The next command may also reach 127.0.0.1.").waitFor();
  fetchIt();
  await ada.ask("Fetch it again");
  expect(got()).toContain("hello from outside");
  await network.getByText(/19 B received/).waitFor();

  fetchIt();
  await ada.ask("And again");
  expect(got()).toContain("403");
  await network.getByRole("button", { name: "Always in this project: 127.0.0.1" }).click();
  await ada.page.getByText(/127\.0\.0\.1 is allowed in this project/).waitFor();
  fetchIt();
  await ada.ask("Once more");
  expect(got()).toContain("hello from outside");
  fetchIt();
  await ada.ask("And for good");
  expect(got()).toContain("hello from outside");
  expect(await readFile(join(carrel.root, "settings.jsonc"), "utf8")).toContain("// mine");

  await network.getByRole("radio", { name: /^Refused/ }).click();
  expect(await network.getByRole("listitem").count()).toBe(2);
});

test("what a command left is put away, shown and restored", async () => {
  const model = await stage.model();
  const carrel = await stage.carrel({ model, env: confined });
  const repo = await carrel.repository("leaver");
  const ada = await stage.person(carrel);
  await ada.settle(repo, "Leave something");
  const place = join(await carrel.folder("leave-something"), ".envrc");
  model.answers((say) => say.call("bash", { script: "echo 'touch /tmp/ran' > .envrc", timeout_secs: 20, display_name: "Leave" }));
  await ada.ask("Leave a file for the shell");
  expect(model.asked.at(-1)?.results.join("\n")).toContain("moved into quarantine");
  await expect(readFile(place, "utf8")).rejects.toThrow();

  await ada.composer.fill("/sandbox");
  await ada.composer.press("Enter");
  const kept = ada.changes.getByRole("region", { name: "Quarantine" });
  await kept.getByRole("button", { name: /^Restore .*\.envrc$/ }).click();
  await kept.waitFor({ state: "detached" });
  expect(await readFile(place, "utf8")).toContain("touch");
});

test("/sandbox off and on hold for the conversation, and the header says which", async () => {
  const model = await stage.model();
  const carrel = await stage.carrel({ model, env: confined });
  const repo = await carrel.repository("switcher");
  const ada = await stage.person(carrel);
  await ada.settle(repo, "Switch it");
  const touch = async () => {
    model.answers((say) => say.call("bash", { script: "touch ~/outside && echo written", timeout_secs: 20, display_name: "Touch" }));
    await ada.ask("Touch a file at home");
    return model.asked.at(-1)?.results.join("\n") ?? "";
  };
  expect(await touch()).not.toContain("written");
  await ada.write("/sandbox off");
  await ada.button("Sandbox: Off").waitFor();
  await ada.changes.getByText("The sandbox is off: commands can do all that you can.").waitFor();
  expect(await touch()).toContain("written");
  await ada.write("/sandbox on");
  await ada.button("Sandbox: Off").waitFor({ state: "detached" });
  expect(await touch()).not.toContain("written");
});

test("the settings are kept with their comments, and what can't be read is refused", async () => {
  const carrel = await stage.carrel({ env: confined, started: false });
  await listNothing(carrel);
  await carrel.start();
  const ada = await stage.person(carrel);
  await ada.button("Settings").click();
  const dialog = ada.dialog("Settings");
  await dialog.getByRole("tab", { name: "Sandbox" }).click();
  const hosts = dialog.getByRole("textbox", { name: "Allowed hosts" });
  await hosts.fill("example.org\nhttps://example.net/");
  await dialog.getByRole("button", { name: "Save: Allowed hosts" }).click();
  await dialog.getByText(/write the host alone, without a scheme/).waitFor();
  expect(await faults(ada, "the sandbox's settings")).toEqual([]);
  await hosts.fill("example.org\n*.example.net");
  await dialog.getByRole("button", { name: "Save: Allowed hosts" }).click();
  await dialog.getByRole("button", { name: "Save: Allowed hosts" }).waitFor({ state: "detached" });
  await dialog.getByRole("switch", { name: "Lend commands the SSH agent" }).click();
  await expect.poll(() => readFile(join(carrel.root, "settings.jsonc"), "utf8")).toMatch(/"allow_ssh_agent": true/);
  const kept = await readFile(join(carrel.root, "settings.jsonc"), "utf8");
  expect(kept).toContain("// mine");
  expect(kept).toContain("*.example.net");
});
