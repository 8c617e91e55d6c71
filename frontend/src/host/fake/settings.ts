// Settings in memory.
import type { PutSetting, Setting, SettingsView } from "../host";

const file = "/home/ada/.carrel/settings.jsonc";

const usual = (key: string, section: string, title: string, help: string, kind: Setting["kind"], value: unknown, more: Partial<Setting> = {}): Setting => ({ key, section, title, help, kind, value: JSON.stringify(value), usual: JSON.stringify(value), source: "default", ...more });

const options = (...pairs: [value: string, label: string][]) => pairs.map(([value, label]) => ({ value, label }));

const values: Setting[] = [
  usual("theme", "general", "Theme", "How the page looks.", "choice", "system", { options: options(["system", "Like the system"], ["light", "Light"], ["dark", "Dark"]) }),
  usual("defaultModel", "general", "Default model", "New workspaces start with it. Each workspace can have its own.", "model", "", { value: JSON.stringify("anthropic:claude-sonnet-5"), source: "file", line: 4 }),
  usual("gpu", "general", "Drawing of the window", "Counts from the window's next start. Never helps where a window stays blank.", "choice", "auto", { options: options(["auto", "With the GPU where there is one"], ["always", "Always with the GPU"], ["never", "Never with the GPU"]), source: "environment", env: "CARREL_GPU=never" }),
  usual("permissions.mode", "permissions", "Mode", "How much runs without a question, in workspaces for which none was chosen.", "choice", "ask", { options: options(["ask", "Ask"], ["accept-edits", "Accept edits"], ["plan", "Plan: nothing writes"], ["auto", "Auto"], ["bypass", "Bypass: everything runs"]), over: "a workspace's own mode, and carrel run --mode" }),
  usual("permissions.allow", "permissions", "Allow", "What runs without a question, one rule a line, such as Bash(go test:*).", "list", [], { value: JSON.stringify(["Bash(go test:*)", "Bash(git status)"]), source: "file", line: 9 }),
  usual("permissions.ask", "permissions", "Always ask", "What asks in every mode but bypass, one rule a line.", "list", []),
  usual("permissions.deny", "permissions", "Deny", "What never runs, one rule a line. A denial beats a question, a question beats a permission.", "list", []),
  usual("sandbox.enabled", "sandbox", "Confine commands", "Commands of agents write only in the project and can't read your credentials. Off, they can do all that you can.", "switch", true),
  usual("sandbox.network", "sandbox", "Network", "What confined commands reach. A list is held by a filtering proxy, which shows what it refused.", "choice", "allow", { options: options(["allow", "Every host"], ["allowlist", "Listed hosts only"], ["deny", "No host"]), problem: "Network must be one of allow, allowlist, deny.", line: 12 }),
  usual("models", "models", "What you know of models", "Names, limits, levels and prices of models, by provider:id.", "panel", {}),
  usual("keys", "keys", "Keys", "The keys of a command, by its id, in place of the usual ones.", "panel", {}),
];

export class FakeSettings {
  values = values.map((one) => ({ ...one }));
  problems: SettingsView["problems"] = [];
  keys: Record<string, string[]> = {};

  view(): SettingsView {
    return { file, values: this.values, problems: this.problems };
  }

  put({ path, value }: PutSetting): void {
    const [first = "", id = ""] = path;
    if (first === "keys") {
      const others = Object.entries(this.keys).filter(([other]) => other !== id);
      this.keys = Object.fromEntries(value === undefined ? others : [...others, [id, JSON.parse(value) as string[]]]);
      return;
    }
    this.values = this.values.map((one) => (one.key !== path.join(".") ? one : { ...one, problem: "", value: value ?? one.usual, source: value === undefined ? "default" : "file", line: value === undefined ? 0 : 7 }));
  }
}
