import { expect, test } from "vitest";
import { lines, visible } from "./format";

test("names that would read as others show what is in them", () => {
  expect(visible("photo\u202egnp.exe")).toBe("photo‹U+202E›gnp.exe");
  expect(visible("a\u200bb\u2066c\u0000d\u001b[31m\ufeff")).toBe("a‹U+200B›b‹U+2066›c‹U+0000›d‹U+001B›[31m‹U+FEFF›");
  for (const plain of ["src/größe.ts", "a\tb\nc", "日本", "👩‍💻", "می‌خواهم", "שלום"]) expect(visible(plain)).toBe(plain);
});

test("a list is read line by line", () => {
  expect(lines(" a.example \n\n*.b.example\n")).toEqual(["a.example", "*.b.example"]);
});
