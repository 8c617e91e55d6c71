// When a key press sends. Enter while an input method composes only picks its candidate.

export type KeyAction = "send" | "none";

/** What a key press in the composer means. */
export function keyAction(event: Pick<KeyboardEvent, "key" | "shiftKey" | "altKey" | "isComposing" | "keyCode">, composing: boolean): KeyAction {
  if (event.key !== "Enter" || event.shiftKey || event.altKey) return "none";
  // 229 stands for "the input method has it"; WebKit ends the composition before this event.
  if (event.isComposing || composing || event.keyCode === 229) return "none";
  return "send";
}
