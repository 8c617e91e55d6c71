// Models as a list to choose from.
import type { Model, Provider } from "../../host/host";
import type { Option } from "../../ui/Select.svelte";

/** The models, grouped by provider, those that cannot answer yet at the end and greyed. */
export function modelOptions(models: Model[], providers: Provider[], always?: string): Option[] {
  const name = (id: string) => providers.find((provider) => provider.id === id)?.name ?? id;
  const options: Option[] = models
    .filter((model) => model.available)
    .map((model) => ({
      value: model.id,
      label: model.demo && !/demo/i.test(model.name) ? `${model.name} (demo)` : model.name,
      group: name(model.provider),
      ...(model.demo ? { note: "scripted, offline" } : {}),
    }));
  const missing = new Set(models.filter((model) => !model.available).map((model) => model.provider));
  for (const provider of missing) {
    options.push({ value: `needs-key:${provider}`, label: `Add a key for ${name(provider)}…`, group: "Not set up" });
  }
  if (always && !options.some((option) => option.value === always)) {
    options.unshift({ value: always, label: always.slice(always.indexOf(":") + 1), note: "not available" });
  }
  return options;
}

/** The provider whose key the choice asks for. */
export function needsKey(value: string): string | undefined {
  return value.startsWith("needs-key:") ? value.slice("needs-key:".length) : undefined;
}
