import { describe, expect, test } from "vitest";
import { fuzzy, rank } from "./fuzzy";

const titles = ["New workspace", "Next workspace", "Rename this workspace", "Show or hide the sidebar", "Think harder", "Choose a model", "Next model"];
const found = (query: string, recency: (title: string) => number = () => 0) => rank(titles, query, { text: (title) => title, recency }).map((match) => match.item);

describe("finding by some letters", () => {
  test("puts words before parts of words and parts before letters", () => {
    expect(found("model")).toEqual(["Choose a model", "Next model"]);
    expect(found("new")[0]).toBe("New workspace");
    expect(found("side")[0]).toBe("Show or hide the sidebar");
  });

  test("takes the first letters of words", () => {
    expect(found("nw").slice(0, 2)).toEqual(["New workspace", "Next workspace"]);
    expect(found("rtw")).toEqual(["Rename this workspace"]);
  });

  test("needs every word, in any order", () => {
    expect(found("workspace ren")).toEqual(["Rename this workspace"]);
    expect(found("workspace zebra")).toEqual([]);
  });

  test("lets what was used last decide between equals, and no more", () => {
    expect(found("next", (title) => (title === "Next model" ? 1 : 0))[0]).toBe("Next model");
    expect(found("new workspace", (title) => (title === "Next workspace" ? 1 : 0))[0]).toBe("New workspace");
    expect(found("", (title) => (title === "Think harder" ? 1 : 0))[0]).toBe("Think harder");
  });

  test("marks the characters that it found", () => {
    expect([...(fuzzy("th", "Rename this")?.marks ?? [])]).toEqual([7, 8]);
    expect([...(rank(["Alpha"], "main", { text: (item) => item, more: () => "main" })[0]?.marks ?? [])]).toEqual([]);
  });

  test("stays quick with hostile names", () => {
    const long = "a".repeat(100_000);
    expect(fuzzy("a".repeat(300) + "b", long)).toBeUndefined();
  });
});
