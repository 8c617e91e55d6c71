// Which of a provider's own settings there are to choose from.
import type { Provider, SetProvider } from "../../host/host";
import type { Option } from "../../ui/Select.svelte";

/** One setting of a provider: a choice of words, a yes or no, or a word to type. */
export type ProviderOption =
  | { kind: "choice"; field: "wireFormat" | "serviceTier" | "speed" | "cacheTtl"; label: string; hint: string; options: Option[] }
  | { kind: "switch"; field: "webSearch" | "cyber"; label: string; hint: string; usual: boolean }
  | { kind: "word"; field: "region"; label: string; hint: string; placeholder: string };

/** Stands for the setting's absence, which a select can't hold. */
export const usual = "default";

const speed: ProviderOption = { kind: "choice", field: "speed", label: "Speed", hint: "Fast is up to 2.5 times as fast at twice the price, for the newest Opus models.", options: [{ value: usual, label: "Normal" }, { value: "fast", label: "Fast" }] };
const cache: ProviderOption = { kind: "choice", field: "cacheTtl", label: "Prompt cache", hint: "An hour pays when you answer slowly; writing to the cache then costs more.", options: [{ value: usual, label: "5 minutes" }, { value: "1h", label: "1 hour" }] };
const wire: ProviderOption = { kind: "choice", field: "wireFormat", label: "API", hint: "Chat Completions is for gateways that have no Responses.", options: [{ value: usual, label: "Responses" }, { value: "chatCompletions", label: "Chat Completions" }] };
const tier: ProviderOption = {
  kind: "choice",
  field: "serviceTier",
  label: "Service tier",
  hint: "Flex is slower at half the price, priority costs twice, ultrafast six times (GPT-6 Astra alone).",
  options: [{ value: usual, label: "The account's own" }, { value: "flex", label: "Flex" }, { value: "priority", label: "Priority" }, { value: "ultrafast", label: "Ultrafast" }],
};
const cyber: ProviderOption = { kind: "switch", field: "cyber", label: "Offer cyber mode", hint: "For accounts that OpenAI approved.", usual: false };
const region: ProviderOption = { kind: "word", field: "region", label: "Region", hint: "Without one, AWS_REGION counts.", placeholder: "us-east-1" };
const search = (on: boolean): ProviderOption => ({ kind: "switch", field: "webSearch", label: "Web search", hint: "The provider's own; it bills each search.", usual: on });

const byId: Record<string, ProviderOption[]> = {
  anthropic: [speed, cache, search(false)],
  openai: [wire, tier, search(false), cyber],
  google: [search(false)],
  xai: [search(true)],
  openrouter: [search(false)],
  zai: [search(false)],
  bedrock: [region],
};

/** The settings of a provider beside key and address. */
export function optionsOf(provider: Provider): ProviderOption[] {
  const own = provider.custom ? [] : (byId[provider.id] ?? []);
  // A tier that was written into the file by hand is kept in the list.
  return own.map((one) => {
    if (one.kind !== "choice") return one;
    const now = provider[one.field];
    if (!now || one.options.some((option) => option.value === now)) return one;
    const isUsual = (one.field === "cacheTtl" && now === "5m") || (one.field === "wireFormat" && now === "responses");
    return isUsual ? one : { ...one, options: [...one.options, { value: now, label: now }] };
  });
}

/** What the option is set to, as its select shows it. */
export function chosen(provider: Provider, option: ProviderOption & { kind: "choice" }): string {
  const now = provider[option.field];
  return now !== undefined && option.options.some((one) => one.value === now) ? now : usual;
}

/** The change that a choice asks for. */
export function changeTo(option: ProviderOption & { kind: "choice" }, value: string): Omit<SetProvider, "id"> {
  return { [option.field]: value === usual ? "" : value };
}
