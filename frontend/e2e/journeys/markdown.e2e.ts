import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { faults } from "../faults";
import { gate } from "../model";
import { useStage } from "../stage";

const stage = useStage();

const rich = `Half of $x^2$ is \\(\\frac{x^2}{2}\\), and it costs $5 or $6.

$$
\\sum_{n=0}^{k} n = \\frac{k(k+1)}{2}
$$

|${" wide |".repeat(40)}
|${" ---: |".repeat(40)}
|${" 1 |".repeat(40)}

\`\`\`mermaid
graph LR
  A[From here] --> B[To there]
\`\`\`

\`\`\`mermaid
graph what is this
\`\`\`

<details><summary>More *of* it</summary>

Folded words.

</details>

$\\notacommand{$
`;

test("an answer shows formulas, diagrams, tables and folds, and their sources where they can't be drawn", async () => {
  const model = await stage.model();
  const carrel = await stage.carrel({ model });
  const ada = await stage.person(carrel, { permissions: ["clipboard-read", "clipboard-write"] });
  await ada.settle(await carrel.repository("rich"), "Rich");
  model.answers((say) => say.text(rich));
  const libraries = () => ada.requests.filter((one) => /katex|mermaid/.test(one)).length;
  expect(libraries()).toBe(0);
  await ada.ask("Show me");

  await expect.poll(() => ada.log.locator(".katex").count()).toBe(3);
  await ada.log.getByRole("img", { name: /^Diagram of: graph LR/ }).waitFor();
  await ada.log.getByText("mermaid, which could not be drawn").waitFor();
  await ada.log.locator("code.formula").getByText("\\notacommand{").waitFor();
  await ada.log.getByText("it costs $5 or $6").waitFor();
  expect(libraries()).toBeGreaterThan(1);
  const wide = ada.log.locator(".table");
  expect(await wide.evaluate((box) => [box.scrollWidth > box.clientWidth, document.documentElement.scrollWidth <= innerWidth])).toEqual([true, true]);

  await ada.button("More of it").click();
  await ada.log.getByText("Folded words.").waitFor();
  await ada.button("Show the source").click();
  await ada.log.getByText("graph LR").waitFor();
  await ada.button("Show the diagram").click();
  await ada.log.getByRole("img", { name: /^Diagram of: graph LR/ }).waitFor();
  await ada.button("Copy the source").click();
  await expect.poll(() => ada.page.evaluate(() => navigator.clipboard.readText())).toBe("graph LR\n  A[From here] --> B[To there]");
  expect(await faults(ada, "rich")).toEqual([]);
});

test("while an answer streams in, what was drawn stays where and what it is", async () => {
  const model = await stage.model();
  const carrel = await stage.carrel({ model });
  const ada = await stage.person(carrel);
  await ada.settle(await carrel.repository("calm"), "Calm");
  const door = gate();
  model.answers(async (say) => {
    say.text("First words.\n\n1. one\n2. two\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n");
    await door.opened;
    const rest = `A paragraph of **bold** words and \`code\`.\n\n- list\n  - inside\n\n\`\`\`go\nfunc f() {\n}\n\`\`\`\n\n| c | d |\n| - | - |\n| 3 | 4 |\n\n> quoted\n\n`.repeat(8);
    for (const piece of rest.match(/[\s\S]{1,20}/g) ?? []) {
      say.text(piece);
      await new Promise((done) => setTimeout(done, 4));
    }
    say.text("The end of it.");
  });
  await ada.write("Write");
  const first = ada.log.getByText("First words.");
  await first.waitFor();
  await ada.log.locator("td", { hasText: "2" }).waitFor();

  // Shifts that the person's own message and the view's following cause come before, or are scrolling.
  await ada.page.evaluate(() => {
    const seen: number[] = [];
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) seen.push((entry as PerformanceEntry & { value: number }).value);
    }).observe({ type: "layout-shift" });
    const kept = document.querySelector(".markdown .block p");
    Object.assign(window, { shifts: seen, kept });
  });
  door.open();
  await ada.log.getByText("The end of it.").waitFor();
  await ada.rest();
  const { shift, same } = await ada.page.evaluate(() => {
    const { shifts, kept } = window as unknown as { shifts: number[]; kept: Element };
    return { shift: Math.max(0, ...shifts), same: kept.isConnected ? kept === document.querySelector(".markdown .block p") : "scrolled away" };
  });
  expect(same).not.toBe(false);
  expect(shift).toBeLessThan(0.1);
});

test("a command's colours show while it runs and afterwards, and what an unknown tool got is a tree", async () => {
  const model = await stage.model();
  const carrel = await stage.carrel({ model });
  const ada = await stage.person(carrel);
  await ada.settle(await carrel.repository("colours"), "Colours");
  model.answers((say) => {
    say.call("bash", { script: "printf '\\033[31mred\\033[0m \\033]0;title\\007\\nhalf\\rHALF\\n'; while [ ! -e go-on ]; do sleep 0.05; done; printf '\\033[1;32mgreen\\033[0m\\n'", timeout_secs: 60, display_name: "colours" });
    say.call("no_such_tool", { list: [1, { deep: "<b>value</b>" }] });
  });
  await ada.write("Colours, please");
  const row = ada.tool(/^Run/);
  await row.click();
  const output = ada.log.getByLabel(/^Output of printf/);
  await output.locator(".fg-red", { hasText: "red" }).waitFor();
  await writeFile(join(await carrel.folder("colours"), "go-on"), "");
  await ada.rest();
  await output.locator(".fg-green.bold", { hasText: "green" }).waitFor();
  expect(await output.innerText()).toBe("red \nHALF\ngreen");
  await ada.page.reload();
  await ada.tool(/^Run/).click();
  await output.locator(".fg-green", { hasText: "green" }).waitFor();
  await ada.log.locator(".tree").getByText("<b>value</b>").waitFor();
  expect(await faults(ada, "output")).toEqual([]);
});
