// What must be there before a journey starts. Nothing is built here: `make core` does that.
import { existsSync } from "node:fs";
import { executable } from "./browser";
import { binary } from "./carrel";

export default function setup(): void {
  if (!existsSync(binary)) throw new Error(`The journeys drive the real bin/carrel, and ${binary} is missing: run "make core" first.`);
  if (!existsSync(executable)) throw new Error(`The journeys need Chromium, and ${executable} is missing: run "make setup", or name another one in CARREL_CHROMIUM.`);
}
