// The theme before the first paint. The core writes into the page what the person chose.
{
  const root = document.documentElement;
  const choice = root.dataset.themeChoice;
  const system = matchMedia("(prefers-color-scheme: light)").matches ? "light" : "dark";
  root.dataset.theme = choice === "light" || choice === "dark" ? choice : system;
}
