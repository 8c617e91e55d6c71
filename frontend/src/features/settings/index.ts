export { modelOptions, needsKey } from "./options";
export { viaMark } from "./routes";
export { provideSettings, Settings, useSettings } from "./store.svelte";
export { applyDensity, applyTheme, shownTheme } from "./theme";
