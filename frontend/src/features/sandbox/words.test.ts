import { expect, test } from "vitest";
import type { NetworkDecision, SandboxStatus } from "../../host/host";
import { markOf, outcome, target, waiting } from "./words";

const status = (changes: Partial<SandboxStatus>): SandboxStatus => ({ mode: "workspace-write", on: true, tier: "A", tiers: [], network: "allow", allowed: [], denied: [], allowPrivate: [], write: [], denyRead: [], caches: [], guards: [], holds: [], ...changes });
const decision = (changes: Partial<NetworkDecision>): NetworkDecision => ({ id: "1-1", time: "2026-01-01T10:00:00Z", host: "example.org", port: 443, rule: "not-listed", allowed: false, ended: true, sent: 0, received: 0, ...changes });

test("the mark says tier, weakness and off, by shape and word", () => {
  expect(markOf(status({}))).toMatchObject({ shape: "done", word: "Tier A" });
  expect(markOf(status({ tier: "C", why: "user namespaces are refused" }))).toMatchObject({ shape: "wait", word: "Tier C" });
  expect(markOf(status({ mode: "read-only" })).word).toBe("Tier A, read-only");
  expect(markOf(status({ on: false, mode: "danger-full-access" }))).toMatchObject({ shape: "off", word: "Off" });
  expect(markOf(status({ on: false, tier: "D" }))).toMatchObject({ shape: "bad", word: "None" });
});

test("a target names its port where that is not the usual one", () => {
  expect(target(decision({}))).toBe("example.org");
  expect(target(decision({ port: 8443 }))).toBe("example.org:8443");
  expect(target(decision({ host: "2001:db8::1", port: 8443 }))).toBe("[2001:db8::1]:8443");
});

test("an outcome is a reason, or what went through", () => {
  expect(outcome(decision({ reason: "example.org is not in allowed_domains" }))).toBe("example.org is not in allowed_domains");
  expect(outcome(decision({ allowed: true, ended: false }))).toBe("Connected");
  expect(outcome(decision({ allowed: true, sent: 10, received: 2048 }))).toBe("2.0 KB received, 10 B sent");
});

test("each refused host is offered once, and not while it waits for the next command", () => {
  const list = [decision({ id: "3", grant: "a.example" }), decision({ id: "2", grant: "a.example" }), decision({ id: "1", grant: "b.example" }), decision({ id: "0" })];
  expect([...waiting(list, [])]).toEqual(["3", "1"]);
  expect([...waiting(list, ["a.example"])]).toEqual(["1"]);
});
