// When a key press sends. Enter while an input method composes only picks its candidate.

/** "turn" sends the message after the turn that runs, "send" after its step. */
export type KeyAction = "send" | "turn" | "none";

type Press = Pick<KeyboardEvent, "key" | "shiftKey" | "altKey" | "ctrlKey" | "metaKey" | "isComposing" | "keyCode">;

/** Whether the press belongs to an input method. */
export function isComposed(event: Press, composing: boolean): boolean {
  // 229 stands for "the input method has it"; WebKit ends the composition before this event.
  return event.isComposing || composing || event.keyCode === 229;
}

/** What a key press in the composer means. */
export function keyAction(event: Press, composing: boolean): KeyAction {
  if (event.key !== "Enter" || event.shiftKey || event.altKey || isComposed(event, composing)) return "none";
  return event.ctrlKey || event.metaKey ? "turn" : "send";
}
