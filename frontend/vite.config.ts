import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

// `vite build` makes the page that the core serves. `vite build --mode fake` makes the same page on
// a host that lives in the page itself, for screenshots and tests; it never ships.
export default defineConfig(({ mode }) => ({
  plugins: [svelte()],
  build: {
    target: "es2022",
    outDir: mode === "fake" ? ".fake" : "dist",
    emptyOutDir: true,
    // Fonts stay files: the page's policy allows no data: fonts.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 900,
    modulePreload: { polyfill: false },
  },
}));
