// Which way a model's requests go: to its provider, or through Coder's gateway.
import type { CoderRoute, CoderState, Model } from "../../host/host";
import type { Option } from "../../ui/Select.svelte";

/** Stands for "as it is for all", which a select can't hold. */
export const usualRoute = "default";

const types: Record<string, string> = { anthropic: "Anthropic", openai: "OpenAI", google: "Google", bedrock: "Bedrock", azure: "Azure", "openai-compat": "OpenAI-compatible" };

/** The name of a kind of provider that a gateway has. */
export function typeName(type: string): string {
  return types[type] ?? type;
}

/** What is said of a model that is asked through Coder; "" of any other. */
export function viaMark(via: string | undefined): string {
  return via?.startsWith("coder:") ? "via Coder" : "";
}

/** The ways to a model; none where there is no choice. */
export function modelRoutes(model: Model, coder: CoderState | undefined): Option[] {
  const route = coder?.routes.find((one) => one.native === model.provider);
  const chosen = model.route ?? "";
  if (!coder || !route || (!(coder.connected && route.provider) && chosen === "")) return [];
  const now = chosen !== "" || !model.available ? "" : model.via ? " (Coder)" : " (direct)";
  const options: Option[] = [{ value: usualRoute, label: `Default${now}` }, { value: "direct", label: "Direct" }];
  if (route.provider || chosen === "coder") options.push({ value: "coder", label: "Coder", ...(route.provider ? { note: route.provider } : {}) });
  return options;
}

/** The gateway's providers that can serve a native provider's models. */
export function nativeRoutes(route: CoderRoute, coder: CoderState): Option[] {
  const fit = coder.providers.filter((one) => one.type === route.native);
  const same = fit.find((one) => one.name === route.native);
  const usual = route.native !== "google" && same ? same.name : "not through Coder";
  const options: Option[] = [{ value: usualRoute, label: `Default (${usual})` }, ...fit.map((one) => ({ value: one.name, label: one.name }))];
  if (route.mapped && !fit.some((one) => one.name === route.mapped)) options.push({ value: route.mapped, label: `${route.mapped} (not found)` });
  return options;
}
