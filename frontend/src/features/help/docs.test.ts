import { expect, test } from "vitest";
import { shortcutsPage } from "./docs";

test("docs/shortcuts.md is what the registry says; else run make generate", async () => {
  await expect(shortcutsPage()).toMatchFileSnapshot("../../../../docs/shortcuts.md");
});
