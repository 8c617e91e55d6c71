// Preferences, models, providers and what is running.
import { createContext } from "svelte";
import type { About, Host, Model, Provider, Settings as Preferences } from "../../host/host";
import { Coder } from "./coder.svelte";
import { nameOf } from "./options";
import { servedDensity, servedTheme } from "./theme";

export class Settings {
  #host: Host;
  preferences = $state.raw<Preferences>({ theme: servedTheme(), density: servedDensity(), defaultModel: "" });
  models = $state.raw<Model[]>([]);
  providers = $state.raw<Provider[]>([]);
  about = $state.raw<About | undefined>();
  readonly coder: Coder;

  constructor(host: Host) {
    this.#host = host;
    this.coder = new Coder(host);
    host.listen({
      event: (event) => {
        if (event.name === "settings.changed") void this.refresh();
      },
      reset: () => void this.refresh(),
    });
  }

  async refresh(): Promise<void> {
    const { settings, system } = this.#host.api;
    const [preferences, models, providers, about] = await Promise.all([settings.get(), settings.models(), settings.providers(), system.about(), this.coder.refresh()]);
    this.preferences = preferences;
    this.models = models ?? [];
    this.providers = providers ?? [];
    this.about = about;
  }

  /** Changes preferences; the page shows them at once, the core keeps them. */
  async change(changes: Partial<Preferences>): Promise<void> {
    const before = this.preferences;
    this.preferences = { ...before, ...changes };
    try {
      await this.#host.api.settings.set(this.preferences);
    } catch (error) {
      this.preferences = before;
      throw error;
    }
  }

  /** A model's name; the demo model always says that it is one. */
  modelName(id: string): string {
    const model = this.models.find((one) => one.id === id);
    if (!model) return id.slice(id.indexOf(":") + 1) || "No model";
    return nameOf(model);
  }

  /** The name of a model's provider. */
  providerName(model: string): string {
    const id = model.slice(0, Math.max(0, model.indexOf(":")));
    return this.providers.find((one) => one.id === id)?.name ?? (id || "The provider");
  }

  /** The choice of one message, such as "anthropic:claude-opus-5-5+high", in words. */
  onceName(once: string): string {
    const at = once.lastIndexOf("+");
    const model = at < 0 ? once : once.slice(0, at);
    const level = at < 0 ? "" : once.slice(at + 1);
    return [model && this.modelName(model), level].filter((one) => one !== "").join(" · ");
  }

  /** The choice of one message as a person types it; "" when the model has no short name. */
  onceCommand(once: string): string {
    const at = once.lastIndexOf("+");
    const id = at < 0 ? once : once.slice(0, at);
    const level = at < 0 ? "" : once.slice(at);
    const alias = id === "" ? "" : this.models.find((one) => one.id === id)?.aliases?.[0];
    return alias === undefined || once === "" ? "" : `/${alias}${level} `;
  }

  /** The model of a workspace that asks for none. */
  get defaultModel(): string {
    const wanted = this.preferences.defaultModel;
    return this.available.some((model) => model.id === wanted) ? wanted : (this.available[0]?.id ?? wanted);
  }

  /** The models that can answer. */
  get available(): Model[] {
    return this.models.filter((model) => model.available);
  }
}

export const [useSettings, provideSettings] = createContext<Settings>();
