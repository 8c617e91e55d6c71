// What the commands about terminals do, wherever the focus is.
import { medium } from "../../lib/viewport.svelte";
import type { Model } from "../../model";

/** Registers them; call it in an effect. */
export function registerTerminals({ host, shell, commands, workspaces, terminals, toasts, terminalDoor }: Model): () => void {
  const tell = (work: Promise<unknown>) => void work.catch((error: unknown) => toasts.problem(error));
  const show = () => {
    shell.rightTab = "terminals";
    if (medium.current) shell.rightSheet = true;
    else shell.rightShown = true;
  };
  const here = (act: (workspace: string) => void) => () => {
    const workspace = workspaces.get(shell.selected);
    if (!workspace || workspace.archivedAt) return false;
    act(workspace.id);
    return true;
  };
  const step = (by: number) =>
    here((id) => {
      const all = terminals.of(id);
      const at = all.findIndex((one) => one.id === terminals.chosen(id)?.id);
      const next = all[(at + by + all.length) % all.length];
      if (next) terminals.choose(next);
    });
  const edit = (editor: string) => here((id) => tell(host.api.terminals.openEditor({ workspace: id, editor }).then((opened) => (opened.terminal ? show() : toasts.info(`Opened in ${opened.editor}.`)))));
  terminalDoor.put = (workspace, text) => {
    show();
    tell(terminals.put(workspace, text).then((left) => left > 0 && toasts.info(`${left} more lines were left out: this shell would have run each at once.`)));
  };
  const off = [
    commands.register("terminals.open", here((id) => {
      show();
      if (terminals.of(id).length === 0) tell(terminals.open({ workspace: id }));
    })),
    commands.register("terminal.new", here((id) => {
      show();
      tell(terminals.open({ workspace: id }));
    })),
    commands.register("terminal.confined", here((id) => {
      show();
      tell(terminals.open({ workspace: id, confined: true }));
    })),
    commands.register("terminal.split", here((id) => {
      show();
      const beside = terminals.chosen(id)?.id;
      tell(terminals.open({ workspace: id, ...(beside === undefined ? {} : { beside }) }));
    })),
    commands.register("terminal.close", here((id) => {
      const one = terminals.chosen(id);
      if (one) tell(terminals.close(one.id));
    })),
    commands.register("terminal.next", step(1)),
    commands.register("terminal.previous", step(-1)),
    commands.register("editor.open", edit("")),
    commands.register("terminal.system", edit("terminal")),
  ];
  return () => {
    terminalDoor.put = undefined;
    off.forEach((remove) => remove());
  };
}
