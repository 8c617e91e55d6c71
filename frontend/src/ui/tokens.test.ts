import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const css = readFileSync(join(import.meta.dirname, "tokens.css"), "utf8");

function tokens(selector: string): Map<string, string> {
  const start = css.indexOf(selector);
  const body = css.slice(css.indexOf("{", start), css.indexOf("}", start));
  return new Map([...body.matchAll(/--([\w-]+):\s*(#[0-9a-f]{6})\b/g)].map((match) => [match[1] ?? "", match[2] ?? ""]));
}

function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const c = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string): number {
  const [hi = 0, lo = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (hi + 0.05) / (lo + 0.05);
}

const surfaces = ["bg", "bg-side", "bg-raised", "bg-hover", "bg-selected", "bg-code"];
const texts = ["fg", "fg-2", "fg-3", "ok", "warn", "bad", "accent"];
const pairs: [string, string][] = [
  ...texts.flatMap((text) => surfaces.map((surface): [string, string] => [text, surface])),
  ["on-accent", "accent"],
  ["on-accent", "accent-hover"],
  ["on-bad", "bad-fill"],
  ["add-fg", "add-bg"],
  ["del-fg", "del-bg"],
  ["fg", "warn-bg"],
  ["fg-3", "warn-bg"],
];

for (const [theme, selector] of [["dark", ":root {"], ["light", ':root[data-theme="light"]']] as const) {
  const found = tokens(selector);
  const of = (name: string) => found.get(name) ?? "#000000";
  test(`text has the contrast of WCAG AA in the ${theme} theme`, () => {
    const low = pairs.map(([a, b]) => ({ pair: `${a} on ${b}`, ratio: contrast(of(a), of(b)) })).filter((one) => one.ratio < 4.5);
    expect(low.map((one) => `${one.pair}: ${one.ratio.toFixed(2)}`)).toEqual([]);
  });
  test(`edges of controls stand out in the ${theme} theme`, () => {
    for (const surface of ["bg", "bg-input", "bg-raised"]) expect(contrast(of("line-control"), of(surface)), surface).toBeGreaterThanOrEqual(3);
  });
}
