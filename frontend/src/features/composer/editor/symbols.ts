// Symbols by name, as they are typed.
import { EditorState, type Extension } from "@codemirror/state";
import { typedSymbol } from "../symbols";

/** Names become symbols in the change that completes them. What an input method composes is left alone. */
export function symbols(): Extension {
  return EditorState.transactionFilter.of((transaction) => {
    if (!transaction.docChanged || !transaction.isUserEvent("input.type") || transaction.isUserEvent("input.type.compose")) return transaction;
    const { main } = transaction.newSelection;
    if (!main.empty || transaction.newSelection.ranges.length > 1) return transaction;
    const near = transaction.newDoc.sliceString(Math.max(0, main.head - 64), main.head);
    if (!near.includes("\\")) return transaction;
    const change = typedSymbol(transaction.newDoc.sliceString(0, main.head));
    if (!change) return transaction;
    return [transaction, { changes: { from: change.from, to: change.to, insert: change.by }, sequential: true }];
  });
}
