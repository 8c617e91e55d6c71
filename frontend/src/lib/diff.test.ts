import { expect, test } from "vitest";
import { parseDiff } from "./diff";

test("numbers lines by their own side and keeps the headings of hunks", () => {
  expect(parseDiff("@@ -3,3 +3,4 @@ func f()\n a\n-b\n+c\n+d\n e\n@@ -20 +21 @@\n-x\n\\ No newline at end of file\n+x\n")).toEqual([
    { kind: "gap", text: "func f()" },
    { kind: "same", number: 3, text: "a" },
    { kind: "del", number: 4, text: "b" },
    { kind: "add", number: 4, text: "c" },
    { kind: "add", number: 5, text: "d" },
    { kind: "same", number: 6, text: "e" },
    { kind: "gap", text: "" },
    { kind: "del", number: 20, text: "x" },
    { kind: "note", text: "No newline at end of file" },
    { kind: "add", number: 21, text: "x" },
  ]);
});

test("leaves file headers out and takes text that looks like one as text", () => {
  expect(parseDiff("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a\n+++ b\n")).toEqual([
    { kind: "del", number: 1, text: "-- a" },
    { kind: "add", number: 1, text: "++ b" },
  ]);
});

test("says nothing of an empty patch", () => {
  expect(parseDiff("")).toEqual([]);
});
