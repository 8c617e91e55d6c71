// Every value of settings.jsonc with where it comes from, as long as the settings are open.
import { createContext } from "svelte";
import { sentence, type Host, type Setting, type SettingsView } from "../../host/host";

export class Values {
  #host: Host;
  view = $state.raw<SettingsView | undefined>();
  problem = $state("");
  /** Counts what was asked, so that an older answer is not taken for a newer one. */
  #asked = 0;

  constructor(host: Host) {
    this.#host = host;
  }

  /** Follows the core; call it in an effect. */
  follow(): () => void {
    void this.load();
    return this.#host.listen({ event: (event) => void (event.name === "settings.changed" && this.load()), reset: () => void this.load() });
  }

  async load(): Promise<void> {
    const asked = ++this.#asked;
    try {
      const view = await this.#host.api.settings.values();
      if (asked !== this.#asked) return;
      this.view = view;
      this.problem = "";
    } catch (error) {
      if (asked === this.#asked) this.problem = sentence(error);
    }
  }

  get all(): readonly Setting[] {
    return this.view?.values ?? [];
  }

  of(section: string): Setting[] {
    return this.all.filter((one) => one.section === section && one.kind !== "panel");
  }

  /** Changes a value, or with undefined takes it out of the file. It shows at once; a refusal is thrown. */
  async put(setting: Setting, value: unknown): Promise<void> {
    const before = this.view;
    const changed: Setting = { ...setting, problem: "", value: value === undefined ? setting.usual : JSON.stringify(value) };
    if (before) this.view = { ...before, values: before.values.map((one) => (one.key === setting.key ? changed : one)) };
    this.#asked++;
    try {
      await this.#host.api.settings.put({ path: setting.key.split("."), ...(value === undefined ? {} : { value: JSON.stringify(value) }) });
    } catch (error) {
      this.view = before;
      throw error;
    } finally {
      await this.load();
    }
  }
}

export const [useValues, provideValues] = createContext<Values>();

/** The value as the control has it; what can't be read is the default's. */
export function valueOf(setting: Setting): unknown {
  try {
    return JSON.parse(setting.value) as unknown;
  } catch {
    return undefined;
  }
}

export const textOf = (setting: Setting): string => {
  const value = valueOf(setting);
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
};

export const listOf = (setting: Setting): string[] => {
  const value = valueOf(setting);
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
};

/** The default in words, as the view's options call it. */
export function usualWords(setting: Setting): string {
  const usual = valueOf({ ...setting, value: setting.usual });
  if (typeof usual === "boolean") return usual ? "on" : "off";
  if (Array.isArray(usual)) return "empty";
  const text = typeof usual === "string" || typeof usual === "number" ? String(usual) : "";
  return (setting.options ?? []).find((one) => one.value === text)?.label ?? text;
}
