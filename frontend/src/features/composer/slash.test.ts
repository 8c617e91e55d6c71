import { expect, test } from "vitest";
import { models } from "../../host/fake/world";
import { hintsFor, readCommand } from "./slash";

const sonnet = models[0];
const texts = (typed: string) => hintsFor(typed, models, sonnet).map((hint) => hint.text);

test("commands are read, and everything else is a message", () => {
  expect(readCommand("/model opus ")).toEqual({ kind: "model", name: "opus" });
  expect(readCommand("/fork try-two\n\nGo on\nthere")).toEqual({ kind: "fork", name: "try-two", message: "Go on\nthere" });
  expect(readCommand("/clear")).toEqual({ kind: "clear", soft: false });
  expect(readCommand("/clear --soft")).toEqual({ kind: "clear", soft: true });
  expect(readCommand("/sandbox")).toEqual({ kind: "sandbox" });
  expect(readCommand("/sandbox off")).toEqual({ kind: "sandbox", on: false });
  expect(readCommand("/sandbox ON")?.kind).toBe("problem");
  for (const message of ["/usr/bin is broken", "/opus+high why?", "clear", "/modelling", ""]) expect(readCommand(message)).toBeUndefined();
});

test("a command that says too much is not done and not sent", () => {
  for (const text of ["/clear the table", "/model a b", "/fork two words", "/clear --soft\nnow"]) expect(readCommand(text)?.kind).toBe("problem");
});

test("hints tell the commands, then the models", () => {
  expect(texts("/")).toEqual(["/model ", "/fork ", "/clear", "/clear --soft", "/sandbox", "/sandbox off", "/sandbox on", "/sonnet ", "/opus ", "/demo ", "/+"]);
  expect(texts("/cl")).toEqual(["/clear", "/clear --soft"]);
  expect(texts("/model so")).toEqual(["/model sonnet"]);
  expect(texts("/opus+h")).toEqual(["/opus+high "]);
  expect(texts("/+m")).toEqual(["/+medium ", "/+max "]);
});

test("an ordinary text gets none", () => {
  for (const text of ["", "hello", "/usr/bin", "/clear\nx", "/opus why"]) expect(texts(text)).toEqual([]);
});
