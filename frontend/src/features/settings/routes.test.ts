import { expect, test } from "vitest";
import type { CoderState, Model } from "../../host/host";
import { modelRoutes, nativeRoutes, viaMark } from "./routes";

const model = (changes: Partial<Model> = {}): Model => ({ id: "anthropic:opus", name: "Opus", provider: "anthropic", aliases: [], levels: [], available: true, ...changes });
const coder = (changes: Partial<CoderState> = {}): CoderState => ({
  connected: true, loaded: false, models: 0,
  providers: [{ name: "anthropic", type: "anthropic" }, { name: "claude-corp", type: "anthropic" }, { name: "gemini", type: "google" }],
  routes: [{ native: "anthropic", provider: "anthropic" }, { native: "openai" }, { native: "google" }],
  ...changes,
});
const labels = (options: { label: string }[]) => options.map((one) => one.label);

test("a model's routes say what the default is now", () => {
  expect(labels(modelRoutes(model(), coder()))).toEqual(["Default (direct)", "Direct", "Coder"]);
  expect(labels(modelRoutes(model({ via: "coder:anthropic/opus" }), coder()))).toEqual(["Default (Coder)", "Direct", "Coder"]);
  expect(labels(modelRoutes(model({ available: false }), coder()))[0]).toBe("Default");
});

test("there is no choice without Coder, or where Coder has nothing for the model", () => {
  expect(modelRoutes(model(), undefined)).toEqual([]);
  expect(modelRoutes(model(), coder({ connected: false }))).toEqual([]);
  expect(modelRoutes(model({ provider: "xai" }), coder())).toEqual([]);
  expect(modelRoutes(model({ provider: "openai" }), coder())).toEqual([]);
});

test("a choice that was made can be taken back also where Coder is gone", () => {
  expect(labels(modelRoutes(model({ route: "coder" }), coder({ connected: false })))).toEqual(["Default", "Direct", "Coder"]);
  expect(labels(modelRoutes(model({ provider: "openai", route: "coder" }), coder()))).toEqual(["Default", "Direct", "Coder"]);
});

test("a native provider is served by one of its own type, and one that is gone says so", () => {
  const state = coder();
  const of = (native: string, mapped?: string) => labels(nativeRoutes({ native, ...(mapped ? { mapped } : {}) }, state));
  expect(of("anthropic")).toEqual(["Default (anthropic)", "anthropic", "claude-corp"]);
  expect(of("openai")).toEqual(["Default (not through Coder)"]);
  expect(of("google")).toEqual(["Default (not through Coder)", "gemini"]);
  expect(of("anthropic", "gone")).toEqual(["Default (anthropic)", "anthropic", "claude-corp", "gone (not found)"]);
});

test("only what went through Coder is marked", () => {
  expect(viaMark("coder:anthropic/opus")).toBe("via Coder");
  expect(viaMark(undefined)).toBe("");
});
