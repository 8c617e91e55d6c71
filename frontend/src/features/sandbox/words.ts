// What the page says about a sandbox.
import type { NetworkDecision, SandboxStatus } from "../../host/host";
import { bytes } from "../../lib/format";
import type { Status } from "../../ui/StatusDot.svelte";

/** How strongly commands are confined, in a word and a shape. */
export interface Mark {
  shape: Status;
  word: string;
  /** A sentence. */
  says: string;
}

const strengths: Record<string, string> = {
  A: "Commands run in namespaces and mounts of their own.",
  B: "Commands run confined by bubblewrap.",
  C: "Commands are confined by Landlock and seccomp.",
  seatbelt: "Commands are confined by macOS's sandbox.",
};

export function markOf(status: SandboxStatus): Mark {
  if (status.mode === "danger-full-access") return { shape: "off", word: "Off", says: "The sandbox is off: commands can do all that you can." };
  if (!status.on) return { shape: "bad", word: "None", says: "Nothing confines commands on this machine, so each one asks." };
  const tier = status.tier ?? "";
  const says = strengths[tier] ?? "Commands are confined.";
  const word = tierName(tier) + (status.mode === "read-only" ? ", read-only" : "");
  return { shape: status.why ? "wait" : "done", word, says: status.mode === "read-only" ? `${says} They can write nothing of the project.` : says };
}

export function tierName(tier: string): string {
  return tier.length === 1 ? `Tier ${tier}` : tier.charAt(0).toUpperCase() + tier.slice(1);
}

const networks: Record<string, string> = {
  allow: "Commands reach every host.",
  deny: "Commands reach no host.",
  allowlist: "Commands reach listed hosts only, through Carrel's proxy.",
};

export function networkSays(status: SandboxStatus): string {
  return networks[status.network] ?? status.network;
}

/** Where a decision was about. */
export function target(one: NetworkDecision): string {
  if (!one.port || one.port === 443 || one.port === 80) return one.host;
  return one.host.includes(":") ? `[${one.host}]:${one.port}` : `${one.host}:${one.port}`;
}

/** What became of it. */
export function outcome(one: NetworkDecision): string {
  if (!one.allowed) return one.reason || one.rule;
  if (!one.ended) return "Connected";
  return `${bytes(one.received)} received, ${bytes(one.sent)} sent`;
}

/** The entries that would let a refused host pass, each once, newest first. */
export function waiting(list: NetworkDecision[], next: string[]): Set<string> {
  const seen = new Set<string>(next);
  const first = new Set<string>();
  for (const one of list) {
    if (one.allowed || !one.grant || seen.has(one.grant)) continue;
    seen.add(one.grant);
    first.add(one.id);
  }
  return first;
}
