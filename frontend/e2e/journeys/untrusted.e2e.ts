import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { write } from "../carrel";
import type { Person } from "../person";
import { useStage } from "../stage";

const stage = useStage();

const pwn = "window.__pwned=1";
const attacks = [
  `<img src=x onerror="${pwn}">`,
  `<svg onload="${pwn}"></svg>`,
  `<iframe srcdoc="<script>parent.${pwn}</script>"></iframe>`,
  `<script>${pwn}</script>`,
  `<a href="data:text/html,<script>${pwn}</script>">data</a>`,
  `<style>@import url(https://evil.example/x.css)</style>`,
  `<form action="https://evil.example"><input autofocus onfocus="${pwn}"></form>`,
  `[js](javascript:${pwn})`,
  `[file](file:///etc/passwd)`,
  `[data](data:text/html,<script>${pwn}</script>)`,
  `![img](https://evil.example/pixel.png)`,
  "```html\n<img src=x onerror=\"" + pwn + "\">\n```",
  "```mermaid\ngraph TD\n  A[\"#lt;img src=x onerror=" + pwn + "#gt;\"] --> B[x]\n  click B href \"javascript:" + pwn + "\"\n```",
  "```mermaid\n---\ntitle: \"\\x3cimg src=x onerror=" + pwn + ">\"\nconfig:\n  securityLevel: loose\n  htmlLabels: true\n  themeCSS: \"body { display: none }\"\n---\ngraph TD; A[a] --> B[b]\n```",
  "```mermaid\nsequenceDiagram\n  A->>B: <svg onload=" + pwn + ">\n  link A: x @ javascript:" + pwn + "\n```",
  "$\\href{javascript:" + pwn + "}{x}\\includegraphics{https://evil.example/x.png}\\htmlStyle{position:fixed}{y}$",
  `<details><summary><img src=x onerror="${pwn}"></summary>\n\n<img src=x onerror="${pwn}">\n\n</details>`,
  "```mermaid\ngraph TD; A[\"<img src=x onerror=" + pwn + ">\"]\n```",
];
/** As a file, branch or commit name, where few characters are allowed. */
const short = `<img src=x onerror=${pwn}>`;
const branch = `<svg/onload=${pwn}>`;

/** Nothing ran, no element of an attack (the composer has images without a source of its own) is in the page, and no odd link leads anywhere. */
async function unharmed(person: Person): Promise<void> {
  const found = await person.page.evaluate(() => ({
    ran: (window as { __pwned?: unknown }).__pwned,
    elements: document.querySelectorAll("img[src]:not([src^='blob:']), img[srcset], iframe, script:not([src]), [onerror], [onload], [onfocus], form:not([id]) input[autofocus], base, object, embed").length,
    links: [...document.querySelectorAll("a[href]")].map((link) => new URL(link.getAttribute("href") ?? "", location.href).protocol).filter((scheme) => !["http:", "https:", "mailto:"].includes(scheme)),
  }));
  expect(found).toEqual({ ran: undefined, elements: 0, links: [] });
}

// O-DESK-03
test("what a model says and a command prints stays text", async () => {
  const model = await stage.model();
  const carrel = await stage.carrel({ model });
  const ada = await stage.person(carrel);
  await ada.settle(await carrel.repository("hostile"), "Answers");
  const all = attacks.join("\n\n");
  model.answers(
    async (say) => {
      say.thought(all);
      // In pieces, so that half-written tags pass through the page as well.
      for (const piece of all.match(/[\s\S]{1,7}/g) ?? []) say.text(piece);
      say.call("bash", { script: `cat <<'END'\n${all}\nEND`, timeout_secs: 20, display_name: short });
    },
    (say) => say.text("Nothing happened."),
  );
  await ada.ask(`Attack me ${short}`);
  await ada.log.getByText("Nothing happened.").waitFor();
  await unharmed(ada);
  await ada.tool(/^Run/).click();
  await ada.log.getByLabel(/^Output of/).getByText("file:///etc/passwd").waitFor();
  await unharmed(ada);

  // Whatever can be clicked in the answer opens nothing that is not an ordinary address.
  for (const word of ["js", "file", "data"]) {
    await ada.log.getByText(word, { exact: true }).evaluateAll((shown) => shown.forEach((one) => one instanceof HTMLElement && one.click()));
  }
  await ada.log.hover();
  await expect.poll(async () => (await ada.page.mouse.wheel(0, -20_000), ada.log.getByRole("button", { name: /^Thought/ }).count())).toBe(1);
  await ada.log.getByRole("button", { name: /^Thought/ }).click();
  await unharmed(ada);
  expect(ada.page.url()).toBe(`${carrel.origin}/`);
  await ada.page.reload();
  await ada.log.getByText("Nothing happened.").waitFor();
  await unharmed(ada);
});

// O-DESK-03
test("a repository with hostile names, contents and history stays text", async () => {
  const model = await stage.model();
  const carrel = await stage.carrel({ model });
  const repo = await carrel.repository(`hostile ${branch.replace("/", " ")}`, {
    [`${short}.txt`]: attacks.join("\n"),
    "AGENTS.md": attacks.join("\n"),
    ".carrel/init": `#!/bin/sh\ncat <<'END'\n${attacks.join("\n")}\nEND\nexit 1\n`,
  });
  await chmod(join(repo, ".carrel/init"), 0o755);
  await carrel.git(repo, "checkout", "--quiet", "-b", branch);
  await carrel.git(repo, "commit", "--quiet", "--all", "-m", attacks.join("\n"));
  const ada = await stage.person(carrel);

  await ada.addProject(repo);
  await ada.page.getByRole("dialog", { name: /^Do you trust/ }).getByRole("button", { name: /^Trust/ }).click();
  await expect.poll(() => ada.dialog("New workspace").getByRole("combobox", { name: "Starts from" }).inputValue()).toBe(branch);
  await ada.createWorkspace(short);
  await ada.log.getByLabel("Output of the init hook").getByText("file:///etc/passwd").first().waitFor();
  await unharmed(ada);

  const folder = await carrel.folder(await carrel.git(repo, "for-each-ref", "--sort=-creatordate", "--format=%(refname:short)", "refs/heads").then((all) => all.split("\n").find((name) => name !== "main" && name !== branch) ?? ""));
  await write(folder, { [`${short}.txt`]: `${attacks.join("\n")}\nmore\n`, [`new ${short}`]: attacks.join("\n") });
  await ada.menu("Ask git again");
  await ada.changes.getByRole("option", { name: /more|new|img/ }).first().waitFor();
  for (const option of await ada.changes.getByRole("option").all()) {
    await option.click();
    await ada.changes.getByRole("figure").getByText(`graph TD; A["${short}"]`).waitFor();
  }
  model.answers((say) => {
    say.call("file_edit_insert", { path: "made.md", content: `${attacks.join("\n")}\n` });
    say.call("file_read", { path: `${short}.txt` });
    say.call(short, { [short]: attacks });
    say.call("todo_write", { todos: [{ content: short, status: "in_progress" }] });
  });
  await ada.ask("Touch them");
  const closed = ada.log.getByRole("button", { expanded: false });
  await closed.evaluateAll((rows) => rows.forEach((row) => row instanceof HTMLElement && !row.hasAttribute("aria-haspopup") && row.click()));
  await ada.log.locator(".tree").getByText(short, { exact: true }).first().waitFor();
  await unharmed(ada);
  await ada.menu("Delete…");
  await ada.dialog(/^Delete/).getByText("This work exists nowhere else").waitFor();
  await unharmed(ada);
});
