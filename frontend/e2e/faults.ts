// What WCAG finds fault with on a page, asked of axe.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Person } from "./person";

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Axe {
  run(context: object, options: object): Promise<{ violations: { id: string; nodes: { target: unknown[]; failureSummary?: string }[] }[] }>;
}

/** What WCAG A and AA find fault with, in both themes. */
export async function faults(person: Person, screen: string): Promise<string[]> {
  const found: string[] = [];
  for (const colorScheme of ["dark", "light"] as const) {
    await person.page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await person.page.evaluate(axe);
    const { violations } = await person.page.evaluate(async () => {
      await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
      // What is behind a dialog is dimmed on purpose, and nobody can reach it.
      const top = [...document.querySelectorAll("[role='dialog'], [role='menu']")].at(-1) ?? document;
      return (window as unknown as { axe: Axe }).axe.run({ include: [top], exclude: [[".palette-list"]] }, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"] });
    });
    for (const { id, nodes } of violations) for (const node of nodes) found.push(`${screen}, ${colorScheme}: ${id} at ${node.target.join(" ")}: ${node.failureSummary ?? ""}`);
  }
  return found;
}
