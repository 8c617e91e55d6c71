// What Vim itself does with cases.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Case } from "./generate";

/** What one sees after a command; columns count characters. */
export interface State {
  lines: string[];
  line: number;
  column: number;
  register: string;
  linewise: boolean;
  /** Where the selection begins, in visual mode. */
  anchor?: { line: number; column: number };
}

const script = `
set nocompatible encoding=utf-8 backspace=indent,eol,start nofixendofline noautoindent nojoinspaces noswapfile virtualedit= whichwrap=b,s cpoptions=aABceFs_ startofline
nnoremap <C-_> <Nop>
onoremap <C-_> <Nop>
xnoremap <C-_> <Nop>
func s:keys(text)
  return substitute(a:text, '<\\(Esc\\|C-r\\|Home\\|End\\)>', '\\=eval("\\"\\\\<" . submatch(1) . ">\\"")', 'g')
endfunc
func s:state()
  let l:state = {'lines': getline(1, '$'), 'line': line('.') - 1, 'column': charcol('.') - 1, 'register': getreg('"'), 'linewise': getregtype('"') ==# 'V' ? v:true : v:false}
  if mode() =~# "[vV]"
    let l:state.anchor = {'line': line('v') - 1, 'column': charcol('v') - 1}
  endif
  return l:state
endfunc
" Known difference: Esc takes the cursor to where the selection begins.
func s:leave()
  let l:place = [getcharpos('v')[1:2], getcharpos('.')[1:2]]
  let l:first = l:place[0][0] < l:place[1][0] || (l:place[0][0] == l:place[1][0] && l:place[0][1] < l:place[1][1]) ? l:place[0] : l:place[1]
  call feedkeys("\\<Esc>", 'xt')
  call setcursorcharpos(l:first[0], l:first[1])
endfunc
let s:out = []
for s:case in readfile('cases')
  let s:case = json_decode(s:case)
  enew!
  " What . and ; repeat is the same in each case.
  call setline(1, 'a~')
  silent! call feedkeys("0f~x", 'xt')
  set undolevels=-1
  call setline(1, s:case.lines)
  set undolevels=1000
  call setreg('"', '', 'c')
  call setcursorcharpos(s:case.line + 1, s:case.column + 1)
  let s:states = []
  for s:stroke in s:case.commands
    let &undolevels = &undolevels
    if has_key(s:stroke, 'tail')
      execute 'inoremap <C-_> ' . substitute(substitute(s:stroke.tail, ' ', '<Space>', 'g'), "\\n", '<CR>', 'g')
      silent! call feedkeys(s:keys(s:stroke.keys) . "\\<C-_>", 'xt')
    elseif s:stroke.keys ==# '<Esc>' && mode() =~# "[vV]"
      silent! call s:leave()
    else
      silent! call feedkeys(s:keys(s:stroke.keys), 'xt')
    endif
    call add(s:states, s:state())
  endfor
  silent! call feedkeys("\\<Esc>", 'xt')
  call add(s:out, json_encode(s:states))
endfor
call writefile(s:out, 'states')
qall!
`;

/** Whether Vim is here. */
export function version(): string {
  return (execFileSync("vim", ["--version"], { encoding: "utf8" }).split("\n")[0] ?? "").trim();
}

/** The states after each command of each case. */
export function inVim(cases: readonly Case[]): State[][] {
  const dir = mkdtempSync(join(tmpdir(), "carrel-vim-"));
  try {
    writeFileSync(join(dir, "cases"), cases.map((one) => JSON.stringify(one)).join("\n") + "\n");
    writeFileSync(join(dir, "script"), script);
    // vimrc, plugins, viminfo and swap files stay out. It ends with 1 when a command has failed, as some do.
    spawnSync("vim", ["-Nu", "NONE", "-n", "-i", "NONE", "-es", "-S", "script"], { cwd: dir, stdio: "ignore", timeout: 240_000, env: { PATH: process.env["PATH"] ?? "", LANG: "C.UTF-8", HOME: dir, TERM: "dumb" } });
    return readFileSync(join(dir, "states"), "utf8").trimEnd().split("\n").map((line) => JSON.parse(line) as State[]);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
