// What may go to a terminal from the clipboard without a question.

export interface Pasted {
  /** Without what only a hostile page puts on a clipboard: escapes and other controls. */
  text: string;
  lines: number;
  /** Controls were left out. */
  controls: boolean;
}

export function readPaste(clip: string): Pasted {
  const plain = clip.replace(/\r\n?/g, "\n");
  // eslint-disable-next-line no-control-regex
  const text = plain.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "");
  return { text, lines: text.replace(/\n$/, "").split("\n").length, controls: text !== plain };
}

/** Whether the person is asked first: the shell would run lines at once, they are many, or something was hidden. */
export function asks(pasted: Pasted, bracketed: boolean): boolean {
  return pasted.controls || pasted.lines > (bracketed ? 5 : 1) || (!bracketed && pasted.text.endsWith("\n"));
}
