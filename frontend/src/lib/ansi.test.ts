import { describe, expect, test } from "vitest";
import { Ansi, linesMost, type Line } from "./ansi";

const show = (lines: readonly Line[]) => lines.map((line) => line.spans.map((span) => (span.look ? `{${span.look}:${span.text}}` : span.text)).join("")).join("\n");
const read = (text: string) => show(new Ansi().update(text));

test("colours and marks become classes", () => {
  expect(read("\u001b[31mred\u001b[0m plain \u001b[1;92mok\u001b[22m thin\u001b[39;49m")).toBe("{fg-red:red} plain {fg-hi-green bold:ok}{fg-hi-green: thin}");
  expect(read("\u001b[38;5;196ma\u001b[48;2;0;0;200mb\u001b[mc")).toMatch(/^\{fg-(hi-)?red:a\}\{fg-(hi-)?red bg-blue:b\}c$/);
  expect(read("\u001b[7mx\u001b[27m\u001b[4;9my")).toBe("{fg-base bg-text:x}{under strike:y}");
  expect(read("\u001b[38;5;999;1mx\u001b[;;;m\u001b[38mz")).toBe("{fg-hi-white bold:x}z");
});

test("a line that is rewritten shows as it looked last", () => {
  expect(read("10 %\r100 %\ndone\r\n")).toBe("100 %\ndone");
  expect(read("long word\rab\u001b[K\nx\bz\u001b[3Cq")).toBe("ab\nz   q");
});

// O-BASH: whatever is no colour does nothing.
describe("every other sequence is dropped", () => {
  test.each([
    ["a\u001b[2J\u001b[1;1Hb", "ab"],
    ["a\u001b]0;title\u0007b", "ab"],
    ["a\u001b]8;;javascript:alert(1)\u001b\\link\u001b]8;;\u001b\\b", "alinkb"],
    ["a\u001b]52;c;cm0gLXJm\u0007b", "ab"],
    ["a\u001bP1$r0m\u001b\\b", "ab"],
    ["a\u001b[?1049h\u001b[?25lb", "ab"],
    ["a\u001b[>4;1mb", "ab"],
    ["a\u0000\u0007b", "ab"],
    ["a\u001b(0b\u001bc", "ab"],
    ["<img src=x onerror=alert(1)>\u001b[31m<script>", "<img src=x onerror=alert(1)>{fg-red:<script>}"],
    ["\u001b[31;\"><script>m x", null],
  ])("%j", (text, wanted) => {
    const shown = read(text);
    if (wanted !== null) expect(shown).toBe(wanted);
    // eslint-disable-next-line no-control-regex -- none may be left
    expect(shown).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f]/);
    for (const line of new Ansi().update(text)) for (const span of line.spans) expect(span.look).toMatch(/^[a-z -]*$/);
  });
});

test("output reads the same, however it was cut, and complete lines stay as they are", () => {
  const text = "\u001b[31mone\n\u001b[1;34mtwo\u001b[0m\r\u001b[Kthree\n\u001b]0;a title\u0007four ü😀\n";
  for (const step of [1, 2, 5]) {
    const ansi = new Ansi();
    for (let end = step; end < text.length; end += step) ansi.update(text.slice(0, end));
    expect(show(ansi.update(text)), `step ${step}`).toBe(read(text));
  }
  const ansi = new Ansi();
  const before = ansi.update("one\ntwo\nth");
  const after = ansi.update("one\ntwo\nthree");
  expect(after[0]).toBe(before[0]);
  expect(after[1]).toBe(before[1]);
});

test("output without an end stays bounded", () => {
  const ansi = new Ansi();
  const lines = ansi.update("x\n".repeat(10_000) + "y".repeat(100_000));
  expect(lines.length).toBeLessThan(linesMost + 202);
  expect(ansi.dropped + lines.length).toBe(10_001);
  expect(lines.at(-1)?.spans[0]?.text.length).toBe(4000);
  expect(read("\u001b]never ends ".repeat(1000) + "\nz")).toContain("z");
});
