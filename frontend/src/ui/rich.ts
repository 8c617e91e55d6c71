// What Markdown may use beyond text: the typesetter, the draughtsman, and a terminal to run code in. They
// are shared by all texts of a page, and load when the first text wants them.
import { createContext } from "svelte";
import type { Diagrams } from "../lib/diagrams";
import type { Formulas } from "../lib/formulas.svelte";

export interface Rich {
  formulas: Formulas;
  diagrams: Diagrams;
  /** Puts code at the prompt of a terminal, without Enter; absent where there is none. */
  readonly run: ((code: string) => void) | undefined;
}

export const [useRich, provideRich] = createContext<Rich>();
