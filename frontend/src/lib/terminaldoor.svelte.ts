// The way into a terminal for those who know none: code of a conversation, for one.

export class TerminalDoor {
  /** Puts text at the prompt of a workspace's terminal, without Enter. Terminals set it. */
  put = $state.raw<((workspace: string, text: string) => void) | undefined>();
}
