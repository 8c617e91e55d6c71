import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";

const dist = join(import.meta.dirname, "../../dist");

/** The most JavaScript, gzipped, that the page may need before it shows itself. */
const budget = 250 * 1024;

/** The scripts that a page asks for before it runs: its own, and whatever they import at once. */
async function first(): Promise<Map<string, number>> {
  const html = await readFile(join(dist, "index.html"), "utf8");
  const found = new Map<string, number>();
  const next = [...html.matchAll(/(?:src|href)="\/([^"]+\.js)"/g)].map((match) => match[1] ?? "");
  for (let path = next.pop(); path !== undefined; path = next.pop()) {
    if (found.has(path)) continue;
    const text = await readFile(join(dist, path));
    found.set(path, gzipSync(text, { level: 9 }).length);
    for (const [, name = ""] of text.toString().matchAll(/\b(?:import|from)\s*["']\.\/([^"']+\.js)["']/g)) next.push(`assets/${name}`);
  }
  return found;
}

test("the page needs at most 250 KB of JavaScript before its first paint", async () => {
  const scripts = await first();
  const sum = [...scripts.values()].reduce((all, one) => all + one, 0);
  expect(scripts.size).toBeGreaterThan(1);
  expect(sum, JSON.stringify([...scripts])).toBeLessThanOrEqual(budget);
});
