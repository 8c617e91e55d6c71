import { expect, test } from "vitest";
import { remedyOf } from "./remedy";

test("what can only be mended in the settings leads there", () => {
  for (const code of ["auth", "quota", "no_key"]) expect(remedyOf(code).settings).toBe("providers");
  for (const code of ["model", "not_found"]) expect(remedyOf(code).settings).toBe("models");
  for (const code of ["network", "overloaded", "server", "something_new"]) expect(remedyOf(code).settings).toBeUndefined();
});

test("a stop is no failure, and a crash may be gone on from", () => {
  expect(remedyOf("interrupted").kind).toBe("stopped");
  expect(remedyOf("crashed")).toMatchObject({ kind: "crashed", goOn: true });
  expect(remedyOf("budget").kind).toBe("budget");
});
