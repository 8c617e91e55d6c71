// Models as a list to choose from.
import type { Model, Provider } from "../../host/host";
import { price, tokens } from "../../lib/format";
import type { Option } from "../../ui/Select.svelte";
import { viaMark } from "./routes";

/** What a model can take and what it costs, in one line; "" when nothing is known. */
export function modelFacts(model: Model): string {
  const facts: string[] = [];
  if (model.demo) facts.push("scripted, offline");
  if (model.context) facts.push(`${tokens(model.context)} context`);
  if (model.prices) facts.push(model.prices.input === 0 && model.prices.output === 0 ? "free" : `${price(model.prices.input)} in, ${price(model.prices.output)} out`);
  return facts.join(" · ");
}

/** A model's name; the demo model always says that it is one. */
export function nameOf(model: Model): string {
  return model.demo && !/demo/i.test(model.name) ? `${model.name} (demo)` : model.name;
}

/** The models, grouped by provider, those that cannot answer yet at the end and greyed. */
export function modelOptions(models: Model[], providers: Provider[], always?: string): Option[] {
  const name = (id: string) => providers.find((provider) => provider.id === id)?.name ?? id;
  const options: Option[] = models
    .filter((model) => model.available)
    .map((model) => {
      const facts = [viaMark(model.via), modelFacts(model)].filter((one) => one !== "").join(" · ");
      const aliases = (model.aliases ?? []).join(", ");
      return {
        value: model.id,
        label: nameOf(model),
        group: name(model.provider),
        ...(aliases ? { note: aliases } : {}),
        ...(facts ? { detail: facts } : {}),
      };
    });
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
