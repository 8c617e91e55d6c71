// What helps when a turn did not end well, by its code.
import type { SettingsSection } from "../../lib/shell.svelte";

export interface Remedy {
  kind: "stopped" | "crashed" | "budget" | "failed";
  title: string;
  /** What to say when the core said nothing. */
  text: string;
  /** The settings that mend it. */
  settings?: SettingsSection;
  /** Whether another model may help. */
  model?: boolean;
  /** Whether the agent may go on from what it has, besides trying again. */
  goOn?: boolean;
}

const keys = new Set(["auth", "quota", "no_key", "bad_key", "bad_base_url", "bad_provider", "unknown_provider", "provider_disabled"]);
const models = new Set(["model", "not_found", "no_model", "unknown_model", "bad_model"]);
const otherModel = new Set(["overflow", "filter", "bad_request", "overloaded", "rate_limit", "server"]);
const partial = new Set(["output_cut", "steps", "filter"]);

/** What to offer for a code. */
export function remedyOf(code: string): Remedy {
  if (code === "interrupted" || code === "cancelled") return { kind: "stopped", title: "Stopped", text: "You stopped the agent." };
  if (code === "crashed") return { kind: "crashed", title: "Carrel ended while this turn ran", text: "What was done until then is kept. Nothing was run twice.", goOn: true };
  if (code === "budget") return { kind: "budget", title: "The budget is used up", text: "Raise it or take it away to go on." };
  if (keys.has(code)) return { kind: "failed", title: "The model could not be asked", text: "Look at the provider's settings.", settings: "providers", model: code === "quota" };
  if (models.has(code)) return { kind: "failed", title: "The model could not be asked", text: "Choose another model.", settings: "models", model: true };
  return { kind: "failed", title: "The turn failed", text: "Try again, or choose another model.", model: otherModel.has(code), goOn: partial.has(code) };
}
