// The README's picture, taken of the real Carrel at work: `make picture`.
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gate } from "../model";
import type { Person } from "../person";
import { useStage } from "../stage";
import { change, files, moreFiles, readme, tests } from "./harbor";

const stage = useStage();
const file = join(import.meta.dirname, "../../../docs/screenshot.png");
/** A picture that everyone who reads the README loads. */
const most = 400 * 1024;

const run = (script: string, display_name: string) => ({ script, timeout_secs: 60, display_name });
const pick = async (ada: Person, project: string, title: string) => {
  await ada.page.getByRole("group", { name: `Project ${project}` }).hover();
  await ada.button(`New workspace in ${project}`).click();
  await ada.createWorkspace(title);
};

test("the README's picture", { timeout: 120_000 }, async () => {
  const model = await stage.model();
  const carrel = await stage.carrel({ model });
  const harbor = await carrel.repository("harbor", files);
  const tidepool = await carrel.repository("tidepool", moreFiles);
  const ada = await stage.person(carrel, { viewport: { width: 1440, height: 900 }, colorScheme: "dark" });
  await ada.settle(tidepool, "Rename Pool to Basin");
  model.answers((say) => say.call("bash", run("sed -i 's/Pool/Basin/g' *.js && git commit -qam 'Rename Pool to Basin'", "Rename")));
  await ada.ask("Rename Pool to Basin everywhere.");
  await ada.addProject(harbor);
  await ada.createWorkspace("Docs for the new flags");

  await pick(ada, "harbor", "Flaky clock test");
  model.answers(async (say) => {
    say.text("I run the test until it fails.");
    say.call("bash", run("echo pass; sleep 100", "Repeat the test"));
  });
  await ada.write("test/clock.test.js fails once in fifty runs. Find out why.");
  await ada.tool(/^Run/).waitFor();

  await pick(ada, "harbor", "Split the config loader");
  const door = gate();
  model.answers(
    (say) => say.call("file_edit_insert", { path: "src/config/file.js", content: "export const read = (path) => JSON.parse(path);\n" }),
    async (say) => {
      say.text("The file reader stands on its own now.");
      await door.opened;
    },
  );
  await ada.write("Split src/config.js by where the values come from.");
  await ada.log.getByText("The file reader").waitFor();

  await pick(ada, "harbor", "Retry uploads with jitter");
  model.answers(
    (say) => {
      say.thought("The loop gives up at the first answer that is not 200. A 503 must be tried again, later each time, and not by all clients at once.");
      say.text("I look at how uploads are sent today, and at what the tests cover.");
      say.call("file_read", { path: "src/upload.js" });
      say.call("bash", run("grep -rn \"upload(\" src test", "Find callers"));
    },
    (say) => {
      say.call("todo_write", { todos: [{ content: "Retry 503 and 429 with backoff and full jitter", status: "in_progress" }, { content: "Test it with a clock that does not wait", status: "pending" }, { content: "Say so in the README", status: "pending" }] });
      say.call("file_edit_replace_string", { path: "src/upload.js", ...change });
    },
    (say) => {
      say.call("file_edit_insert", { path: "test/upload.test.js", content: tests });
      say.call("file_edit_replace_string", { path: "README.md", ...readme });
      say.call("bash", run("node --test", "Run the tests"));
      say.call("bash", run("git add --all && git commit -qm 'upload: retry with backoff and jitter' && git log --oneline -1", "Commit"));
    },
    (say) => say.call("todo_write", { todos: ["Retry 503 and 429 with backoff and full jitter", "Test it with a clock that does not wait", "Say so in the README"].map((content) => ({ content, status: "completed" })) }),
    (say) => say.text("Uploads now survive a store that is busy for a moment:\n\n- `upload` tries **503** and **429** again, up to five times. The wait doubles from 200 ms and is drawn at random below that, so that clients do not come back together.\n- Any other answer fails at once, as before.\n- Three tests cover it; they pass a clock in, so nothing sleeps.\n\nIt is one commit on `retry-uploads-with-jitter`. I left the timeout of a single try alone: 30 s is generous, but that is another change."),
  );
  await ada.ask("An upload fails for good when the store answers 503 once. Retry with backoff and jitter, and test it.");
  await ada.changes.getByRole("option", { name: /upload\.test\.js/ }).click();
  await ada.changes.getByText("a busy store is tried again").waitFor();
  await ada.row("Retry uploads with jitter").getByText("↑1").waitFor();
  await ada.row("Rename Pool to Basin").getByText("↑1").waitFor();
  // One edit is shown open; the others are one line each, as a reader would leave them.
  for (const name of [/^Edit test/, /^Edit README/]) await ada.tool(name).click();
  await ada.log.evaluate((log) => log.scrollTo(0, log.scrollHeight));
  await ada.page.mouse.move(700, 450);
  await ada.page.evaluate(() => document.fonts.ready);
  await ada.page.screenshot({ path: file, animations: "disabled" });
  expect((await stat(file)).size).toBeLessThan(most);
});
