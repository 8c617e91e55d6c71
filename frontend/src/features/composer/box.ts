// What the composer knows of the box that a message is written in: a plain textarea until the editor is
// loaded, then the editor.

/** Where Vim's modes are; "" while they are off. */
export type Mode = "" | "insert" | "normal" | "visual" | "visual line" | "replace";

/** What a box tells. */
export interface BoxListener {
  /** The text after a change that the person made. */
  text(text: string): void;
  /** Where the cursor is now, in UTF-16 units; undefined while something is selected. */
  cursor(at: number | undefined): void;
  /** A key press, before the box takes it; true when it is dealt with. */
  key(event: KeyboardEvent): boolean;
  paste(event: ClipboardEvent): boolean;
  blur(): void;
  /** The mode, and the keys of a command that is not whole yet. */
  mode(mode: Mode, pending: string): void;
  /** Text that Vim's yank took. */
  yank(text: string): void;
}

/** How a box shows itself. */
export interface BoxLook {
  placeholder: string;
  /** No text can be written. */
  disabled: boolean;
  /** Vim's modes are on. */
  vim: boolean;
  /** Attributes of the element that has the focus, for assistive technology. */
  attributes: Readonly<Record<string, string>>;
}

/** A box. Positions are in UTF-16 units, as in strings. */
export interface Box {
  readonly text: string;
  /** Takes a text from elsewhere; the cursor goes behind it, unless `at` says where. */
  write(text: string, at?: number): void;
  /** Replaces a part and puts the cursor behind what comes in its place. */
  replace(from: number, to: number, by: string): void;
  selection(): { from: number; to: number };
  select(from: number, to: number): void;
  focus(): void;
  focused(): boolean;
  look(look: BoxLook): void;
  /** Back to writing, after a message went out. */
  restart(): void;
  destroy(): void;
}
