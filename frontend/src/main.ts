import "@fontsource-variable/inter";
import "@fontsource-variable/jetbrains-mono";
import "./ui/tokens.css";
import "./ui/base.css";
import "./ui/menu.css";
import { mount, type Component } from "svelte";
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

/** What is mounted: the app, or on the fake build's #scene=ui the page of all components. */
async function root(): Promise<Component<{ host: Host }>> {
  if (import.meta.env.MODE === "fake" && location.hash.includes("scene=ui")) return (await import("./gallery/Gallery.svelte")).default;
  return App;
}

void Promise.all([host(), root()]).then(([found, Root]) => {
  const target = document.getElementById("app");
  if (target) mount(Root, { target, props: { host: found } });
});
