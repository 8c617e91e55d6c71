import { expect, test } from "vitest";
import { faults } from "../faults";
import { gate } from "../model";
import { draw, give } from "../pictures";
import { useStage } from "../stage";

const stage = useStage();
test("every screen keeps the rules of WCAG AA, dark and light", async () => {
  const model = await stage.model();
  const carrel = await stage.carrel({ model });
  const repo = await carrel.repository("a11y", { "README.md": "# A\n", ".carrel/init": "#!/bin/sh\n" });
  const ada = await stage.person(carrel);
  // Colours that are on their way from one theme to the other are nobody's fault.
  await ada.page.addStyleTag({ content: "*, *::before, *::after { transition: none !important; }" });
  const found: string[] = [];
  const look = async (screen: string) => found.push(...(await faults(ada, screen)));
  const close = async () => {
    await ada.page.keyboard.press("Escape");
    await ada.page.getByRole("dialog").waitFor({ state: "detached" });
  };

  await look("the first screen");
  await ada.button("Add a project").first().click();
  await ada.dialog("Add a project").getByRole("button", { name: "a11y git" }).waitFor();
  await look("adding a project");
  await close();
  await ada.addProject(repo);
  const trust = ada.dialog("Do you trust a11y?");
  await trust.getByText(".carrel/init").waitFor();
  await look("trusting a project");
  await trust.getByRole("button", { name: "Not now" }).click();
  await ada.dialog("New workspace").getByRole("combobox", { name: "Starts from" }).waitFor();
  await look("a new workspace");
  await ada.createWorkspace("Look at me");
  await look("an empty workspace");

  model.answers(
    (say) => {
      say.thought("Let me think about that.");
      say.text("# A heading\n\nText with `code`, a [link](https://example.org), and\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```go\nfunc f() {}\n```\n\n> quoted");
      say.call("todo_write", { todos: [{ content: "first", status: "completed" }, { content: "second", status: "in_progress" }] });
      say.call("bash", { script: "echo out; exit 3", timeout_secs: 10, display_name: "Fail" });
      say.call("file_edit_replace_string", { path: "README.md", old_string: "# A", new_string: "# B" });
    },
    (say) => say.text("There."),
  );
  await ada.ask("Show me everything");
  await ada.changes.getByRole("option", { name: /README/ }).waitFor();
  await ada.tool(/^Run/).click();
  await look("a conversation");
  await ada.changes.getByRole("tab", { name: "Costs" }).click();
  await ada.changes.getByText("Total").waitFor();
  await look("the costs");
  await ada.changes.getByRole("button", { name: "Set a budget" }).click();
  await look("a budget");
  await ada.composer.pressSequentially("/");
  await ada.page.getByRole("listbox", { name: "Commands" }).waitFor();
  await look("the hints");
  await ada.composer.fill("");
  await ada.composer.press("ArrowUp");
  await ada.log.getByRole("textbox", { name: "Your message" }).waitFor();
  await look("a message that is edited");
  await ada.page.keyboard.press("Escape");
  await ada.button(/^Thinking/).click();
  await ada.page.getByRole("menu").waitFor();
  await look("the levels");
  await ada.page.keyboard.press("Escape");
  await ada.page.getByRole("menu").waitFor({ state: "detached" });
  await ada.page.keyboard.press("Control+Shift+F");
  await ada.dialog("Search all conversations").getByRole("combobox").fill("everything");
  await ada.dialog("Search all conversations").getByRole("option").first().waitFor();
  await look("a search");
  await close();
  const door = gate();
  model.answers(async (say) => {
    say.text("Wait.");
    await door.opened;
  });
  await ada.write("Wait");
  await ada.log.getByText("Wait.").waitFor();
  for (const text of ["one", "two"]) await ada.write(text);
  await ada.waiting.getByText("two", { exact: true }).waitFor();
  await ada.composer.fill("three");
  await give(ada.page, "paste", await draw(ada.page, "shot.png", "purple"));
  await give(ada.page, "paste", { name: "words.txt", mimeType: "text/html", buffer: Buffer.from("words") });
  const attached = ada.page.getByRole("region", { name: "Attached pictures" });
  await attached.getByRole("alert").waitFor();
  await look("a queue, and pictures that are attached");
  await attached.getByRole("button", { name: "Show shot.png" }).click();
  await ada.dialog("shot.png").waitFor();
  await look("a picture");
  await close();
  await attached.getByRole("button", { name: "Remove shot.png" }).click();
  await ada.composer.fill("");
  model.answers((say) => say.refuse(529, "overloaded_error", "Overloaded", { "retry-after": "55" }));
  door.open();
  const strip = ada.page.getByRole("region", { name: "Trying again" });
  await strip.waitFor();
  await look("the wait for another attempt");
  await strip.getByRole("button", { name: /^Stop/ }).click();
  await ada.log.getByRole("button", { name: "Try again" }).waitFor();
  await look("a failed turn");
  await ada.menu("Fork…");
  await ada.dialog(/^Fork/).waitFor();
  await look("a fork");
  await close();
  await ada.button("More").click();
  await ada.page.getByRole("menu").waitFor();
  await look("a menu");
  await ada.page.getByRole("menuitem", { name: "Delete…" }).click();
  await ada.dialog(/^Delete/).getByText("This work exists nowhere else").waitFor();
  await look("deleting");
  await close();
  await ada.page.keyboard.press("F1");
  await look("the shortcuts");
  await close();
  await ada.page.keyboard.press("Control+Shift+P");
  await look("the palette");
  await close();
  await ada.button("Settings").click();
  for (const tab of ["General", "Providers", "Models", "Permissions", "Sandbox", "About"]) {
    await ada.dialog("Settings").getByRole("tab", { name: tab }).click();
    if (tab === "Providers") {
      await ada.dialog("Settings").getByRole("region", { name: "Anthropic" }).getByRole("button", { name: "Change" }).click();
      await ada.dialog("Settings").getByRole("button", { name: "Add a custom provider" }).click();
      await ada.dialog("Settings").getByRole("button", { name: "Connect" }).click();
    }
    if (tab === "About") await ada.dialog("Settings").getByText("git", { exact: true }).waitFor();
    await look(`settings, ${tab}`);
  }
  expect(found).toEqual([]);
});
