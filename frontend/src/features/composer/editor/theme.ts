// How the editor looks: as the textarea before it.
import { EditorView } from "@codemirror/view";

export const theme = EditorView.theme({
  "&": { backgroundColor: "transparent", color: "inherit", maxHeight: "33vh" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "inherit", fontSize: "inherit", lineHeight: "var(--leading)", overflow: "auto" },
  ".cm-content": { padding: "var(--s3) 0 var(--s1)", minHeight: "44px", boxSizing: "border-box", caretColor: "var(--fg)", overflowWrap: "anywhere" },
  ".cm-line": { padding: "0 var(--s3)" },
  ".cm-placeholder": { color: "var(--fg-3)" },
  ".cm-cursor": { borderLeft: "1.5px solid var(--fg)" },
  ".cm-selectionBackground": { background: "var(--accent-bg)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": { background: "var(--accent-bg)" },
  ".cm-fat-cursor, &.cm-focused .cm-fat-cursor": { background: "var(--fg-2)", color: "var(--bg-raised) !important" },
  "&:not(.cm-focused) .cm-fat-cursor": { background: "none", outline: "1px solid var(--fg-3)", color: "transparent !important" },
  ".cm-panels": { background: "var(--bg-sunken)", color: "var(--fg)", border: "0", fontSize: "var(--text-s)" },
});
