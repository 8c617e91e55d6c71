import "@fontsource-variable/inter";
import "@fontsource-variable/jetbrains-mono";
import "./ui/tokens.css";
import "./ui/base.css";
import "./ui/menu.css";
import { mount } from "svelte";
import App from "./App.svelte";
import type { Host } from "./host/host";
import { connectPage } from "./host/page";

async function host(): Promise<Host> {
  if (import.meta.env.MODE === "fake") {
    const { fakePage } = await import("./host/fake/page");
    return fakePage();
  }
  return connectPage(import.meta.env.VITE_VERSION ?? "dev");
}

void host().then((found) => {
  const target = document.getElementById("app");
  if (target) mount(App, { target, props: { host: found } });
});
