// Our Vim mode against Vim. VIM_CASES says how many sequences, VIM_SEED which come first.
import { expect, test } from "vitest";
import { differs } from "./differences";
import { makeCase } from "./generate";
import { inOurs } from "./ours";
import { inVim, type State } from "./real";

const count = Number(process.env["VIM_CASES"] ?? 250);
const first = Number(process.env["VIM_SEED"] ?? 1);

function same(a: State | undefined, b: State | undefined): boolean {
  return a !== undefined && b !== undefined && a.line === b.line && a.column === b.column && a.register === b.register && a.linewise === b.linewise && a.lines.join("\n") === b.lines.join("\n");
}

test("sequences of commands do what they do in Vim", { timeout: 600_000 }, async () => {
  const cases = Array.from({ length: count }, (_, i) => makeCase(first + i));
  const wanted = inVim(cases);
  const bad: string[] = [];
  const differences = new Map<string, number>();
  const byCommand = new Map<string, number>();
  for (const [i, one] of cases.entries()) {
    const got = await inOurs(one);
    const want = wanted[i] ?? [];
    for (let j = 0; j < one.commands.length; j++) {
      if (same(got[j], want[j])) continue;
      const known = differs(one.commands[j]?.keys ?? "", one.commands.slice(0, j), j > 0 ? want[j - 1] : undefined, one, want[j], got[j]);
      if (known !== undefined) {
        differences.set(known, (differences.get(known) ?? 0) + 1);
        break;
      }
      const before = j > 0 ? want[j - 1] : { lines: one.lines, line: one.line, column: one.column, register: "", linewise: false };
      bad.push(`seed ${first + i}, after ${JSON.stringify(one.commands.slice(0, j).map(({ keys, tail = "" }) => keys + tail))}: ${JSON.stringify(one.commands[j])}\n  from ${JSON.stringify(before)}\n  vim  ${JSON.stringify(want[j])}\n  ours ${JSON.stringify(got[j])}`);
      const kind = (one.commands[j]?.keys ?? "").replace(/\d+/g, "#").replace(/([fFtT])./g, "$1_").slice(0, 8);
      byCommand.set(kind, (byCommand.get(kind) ?? 0) + 1);
      break;
    }
  }
  if (process.env["VIM_CASES"]) console.log(`${count} sequences from seed ${first}; ended by a known difference: ${[...differences].map(([what, times]) => `${what} ${times}`).join(", ") || "none"}`);
  if (bad.length > 0) console.log(`${bad.length} of ${count}:`, [...byCommand].sort((a, b) => b[1] - a[1]).slice(0, 60).map(([k, n]) => `${k} ${n}`).join(", "));
  expect(bad.slice(0, Number(process.env["VIM_SHOW"] ?? 5)).join("\n\n")).toBe("");
});
