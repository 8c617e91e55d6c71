// Preferences, models, providers and what is running.
import { createContext } from "svelte";
import type { About, Host, Model, Provider, Settings as Preferences } from "../../host/host";
import { servedTheme } from "./theme";

export class Settings {
  #host: Host;
  preferences = $state.raw<Preferences>({ theme: servedTheme(), defaultModel: "" });
  models = $state.raw<Model[]>([]);
  providers = $state.raw<Provider[]>([]);
  about = $state.raw<About | undefined>();

  constructor(host: Host) {
    this.#host = host;
    host.listen({
      event: (event) => {
        if (event.name === "settings.changed") void this.refresh();
      },
      reset: () => void this.refresh(),
    });
  }

  async refresh(): Promise<void> {
    const { settings, system } = this.#host.api;
    const [preferences, models, providers, about] = await Promise.all([settings.get(), settings.models(), settings.providers(), system.about()]);
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
    return model.demo && !/demo/i.test(model.name) ? `${model.name} (demo)` : model.name;
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
