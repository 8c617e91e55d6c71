import { defineConfig } from "vitest/config";

// Journeys and screenshots drive a real Chromium, one at a time.
export default defineConfig({
  test: {
    environment: "node",
    include: ["e2e/**/*.e2e.ts"],
    globalSetup: "e2e/setup.ts",
    fileParallelism: false,
    testTimeout: 180_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
