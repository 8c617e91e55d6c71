import { describe, expect, test } from "vitest";
import { commands } from "./commands";
import { linesFor, readQuery, type Offer, type Place } from "./palette";

const place = (id: string, title: string, note = "carrel · main"): Place => ({ id, title, note, dot: "idle", word: "" });
const offer: Offer = {
  places: [place("1", "Alpha"), place("2", "Beta", "carrel · fix/login"), place("3", "Alphabet")],
  here: "1",
  commands,
  slashes: [{ text: "/clear", note: "Clear the conversation" }, { text: "/model ", note: "Choose another model" }],
  placeWeight: (id) => (id === "3" ? 1 : id === "2" ? 0.5 : 0.9),
  commandWeight: (id) => (id === "theme.toggle" ? 1 : 0),
};
const keys = (text: string, changes: Partial<Offer> = {}) => linesFor(text, { ...offer, ...changes }).map((line) => line.key);

describe("the palette", () => {
  test("goes to workspaces, the last ones first and the present one last", () => {
    expect(keys("")).toEqual(["place 3", "place 2", "place 1"]);
    expect(keys("alpha")).toEqual(["place 1", "place 3"]);
    expect(keys("login")).toEqual(["place 2"]);
  });

  test("runs commands behind >, what was used last first", () => {
    expect(keys(">")[0]).toBe("command theme.toggle");
    expect(keys("> new workspace")[0]).toBe("command workspace.new");
    expect(keys("> work").every((key) => key.startsWith("command "))).toBe(true);
    expect(readQuery("  > x y ")).toEqual({ mode: "commands", words: "x y" });
  });

  test("lists slash commands behind /", () => {
    expect(keys("/")).toEqual(["slash /clear", "slash /model "]);
    expect(keys("/mod")).toEqual(["slash /model "]);
  });

  test("lists nothing but workspaces without a prefix, and says where else the words are", () => {
    expect(keys("settings")).toEqual(["elsewhere"]);
    expect(keys("qqqq")).toEqual([]);
    expect(keys("> qqqq")).toEqual([]);
  });
});
