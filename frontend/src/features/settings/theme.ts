// The theme of the page: what the person chose, else what the system says.

const light = "(prefers-color-scheme: light)";

/** The theme that was chosen when the page was loaded; theme.js has shown it before the first paint. */
export function servedTheme(): string {
  return document.documentElement.dataset["themeChoice"] ?? "system";
}

/** Shows a theme and follows the system while it is asked to. The result stops following. */
export function applyTheme(theme: string): () => void {
  const query = matchMedia(light);
  const show = () => {
    const shown = theme === "light" || theme === "dark" ? theme : query.matches ? "light" : "dark";
    document.documentElement.dataset["theme"] = shown;
  };
  show();
  query.addEventListener("change", show);
  return () => query.removeEventListener("change", show);
}

/** The density that was chosen when the page was loaded. */
export function servedDensity(): string {
  return document.documentElement.dataset["density"] ?? "comfortable";
}

/** Shows how closely things stand: comfortable or compact. */
export function applyDensity(density: string): void {
  document.documentElement.dataset["density"] = density === "compact" ? "compact" : "comfortable";
}

/** The theme that shows now. */
export function shownTheme(): "light" | "dark" {
  return document.documentElement.dataset["theme"] === "light" ? "light" : "dark";
}
