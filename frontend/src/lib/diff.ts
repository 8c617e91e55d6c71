// Reads a unified diff into lines.

/** One line of a diff. A gap stands for lines that were left out; its text is the hunk's heading. */
export interface DiffLine {
  kind: "same" | "add" | "del" | "gap" | "note";
  /** The line's number: the new one, for a deleted line the old one. */
  number?: number;
  text: string;
}

const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)$/;

/** The lines of a patch; file headers and git's own lines are left out. */
export function parseDiff(patch: string): DiffLine[] {
  const lines: DiffLine[] = [];
  let before = 0;
  let after = 0;
  let inside = false;
  const source = patch.split("\n");
  if (source[source.length - 1] === "") source.pop();
  for (const line of source) {
    const head = hunk.exec(line);
    if (head) {
      before = Number(head[1]);
      after = Number(head[2]);
      if (inside || after > 1) lines.push({ kind: "gap", text: head[3] ?? "" });
      inside = true;
      continue;
    }
    if (!inside) continue;
    const text = line.slice(1).replace(/\r$/, "");
    if (line.startsWith("+")) lines.push({ kind: "add", number: after++, text });
    else if (line.startsWith("-")) lines.push({ kind: "del", number: before++, text });
    else if (line.startsWith("\\")) lines.push({ kind: "note", text: text.trim() });
    else {
      lines.push({ kind: "same", number: after++, text });
      before++;
    }
  }
  return lines;
}
