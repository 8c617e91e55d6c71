import { expect, test } from "vitest";
import type { Workspace } from "../../host/host";
import { workspace } from "../../host/fake/world";
import { rowsOf, unfolded } from "./tree";

const make = (id: string, changes: Partial<Workspace> = {}) => workspace({ id, name: id, projectId: "p", createdAt: "2026-01-01T00:00:00Z", ...changes });
const shown = (all: Workspace[], folded: string[] = []) => unfolded(rowsOf(all), new Set(folded)).map((row) => "-".repeat(row.depth) + row.workspace.id).join(" ");

test("what nobody placed comes first, the newest at the top, then what the person placed", () => {
  expect(shown([make("b", { position: 2 }), make("a", { position: 1 }), make("old"), make("new", { createdAt: "2026-02-01T00:00:00Z" })])).toBe("new old a b");
});

test("a workspace is shown under the one that it belongs to", () => {
  const all = [make("up", { position: 2 }), make("other", { position: 1 }), make("sub", { parent: "up" }), make("deep", { parent: "sub" })];
  expect(shown(all)).toBe("other up -sub --deep");
  expect(shown(all, ["up"])).toBe("other up");
  expect(rowsOf(all)[1]?.inside.map((one) => one.id)).toEqual(["sub", "deep"]);
});

test("one whose parent is gone, archived or pinned stands by itself", () => {
  expect(shown([make("a", { parent: "gone" })])).toBe("a");
  expect(shown([make("up", { archivedAt: "2026-01-02T00:00:00Z" }), make("a", { parent: "up" })])).toBe("a");
  expect(shown([make("up", { pinned: true }), make("a", { parent: "up" })])).toBe("a");
});

test("workspaces that belong to each other are all shown", () => {
  expect(shown([make("a", { parent: "b" }), make("b", { parent: "a" }), make("c", { parent: "c" })]).split(" ").sort()).toEqual(["a", "b", "c"]);
});
