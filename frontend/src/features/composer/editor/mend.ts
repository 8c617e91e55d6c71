// Where the library does otherwise than Vim in what our Vim mode promises, and keys that it must leave to the page.
import { Vim } from "@replit/codemirror-vim";

let mended = false;

/** Keys with Ctrl are the page's and the system's, but for Ctrl+R, Ctrl+[ and Ctrl+C. */
const left: readonly (readonly [key: string, context?: string])[] = [
  ["<C-n>"], ["<C-p>"], ["<C-f>"], ["<C-b>"], ["<C-d>"], ["<C-u>"], ["<C-u>", "insert"], ["<C-w>", "insert"], ["<C-w>", "normal"], ["<C-i>"], ["<C-o>"],
  ["<C-e>"], ["<C-y>"], ["<C-v>"], ["<C-q>"], ["<C-r><register>", "insert"], ["<C-o>", "insert"], ["<C-a>"], ["<C-x>"], ["<C-t>", "insert"], ["<C-d>", "insert"],
  // Enter sends.
  ["<CR>", "normal"],
];

/** Changes the library's keys, once. */
export function mend(): void {
  if (mended) return;
  mended = true;
  let filler = 0;
  for (const [key, context] of left) {
    Vim.unmap(key, context as string);
    // The library counts its keys; one that no keyboard has keeps the number.
    Vim.mapCommand(`<F${90 + filler++}>`, "idle", "", {}, {});
  }
}
