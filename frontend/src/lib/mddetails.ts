// <details> in Markdown: a fold with a summary. It is the one piece of HTML that is understood; its parts
// stay Markdown, and everything else that looks like HTML stays text.
import type MarkdownIt from "markdown-it";

type Parser = InstanceType<typeof MarkdownIt>;
type Block = Parameters<Parser["block"]["ruler"]["push"]>[1];

const open = /^<details(?: open)?>\s*(?:<summary>(.*?)<\/summary>)?\s*$/i;
const summaryLine = /^<summary>(.*?)(?:<\/summary>)?\s*$/i;

const rule: Block = (state, from, to, silent) => {
  const line = (n: number) => state.src.slice((state.bMarks[n] ?? 0) + (state.tShift[n] ?? 0), state.eMarks[n] ?? 0).trimEnd();
  const head = open.exec(line(from));
  if (!head || (state.sCount[from] ?? 0) - state.blkIndent >= 4) return false;
  if (silent) return true;
  let first = from + 1;
  let summary = head[1];
  if (summary === undefined && first < to) {
    const own = summaryLine.exec(line(first));
    if (own) {
      summary = own[1];
      first++;
    }
  }
  // Without an end, as while the text still comes, it goes on to the end of what holds it.
  let depth = 1;
  let end = first;
  let fence = "";
  for (; end < to; end++) {
    const here = line(end);
    const mark = /^(`{3,}|~{3,})/.exec(here)?.[1] ?? "";
    if (fence !== "") {
      if (mark.startsWith(fence)) fence = "";
      continue;
    }
    if (mark !== "") fence = mark;
    else if (open.test(here)) depth++;
    else if (/^<\/details>$/i.test(here) && --depth === 0) break;
  }
  const opened = state.push("details_open", "details", 1);
  opened.map = [from, Math.min(end + 1, to)];
  opened.info = (summary ?? "").trim();
  opened.content = state.getLines(first, end, state.blkIndent, false);
  state.push("summary_open", "summary", 1);
  const inline = state.push("inline", "", 0);
  inline.content = opened.info || "Details";
  inline.children = [];
  state.push("summary_close", "summary", -1);
  const [parent, max] = [state.parentType, state.lineMax];
  state.lineMax = end;
  state.md.block.tokenize(state, first, end);
  [state.parentType, state.lineMax] = [parent, max];
  state.push("details_close", "details", -1);
  state.line = Math.min(end + 1, to);
  return true;
};

/** Adds the rule to a Markdown parser. */
export function withDetails(md: Parser): void {
  md.block.ruler.before("html_block", "details", rule, { alt: ["paragraph", "reference", "blockquote"] });
}
