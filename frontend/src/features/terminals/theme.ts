// A terminal's colours and font, from the tokens.
import type { ITheme } from "@xterm/xterm";

const names = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const;
const bright = ["brightBlack", "brightRed", "brightGreen", "brightYellow", "brightBlue", "brightMagenta", "brightCyan", "brightWhite"] as const;

const token = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export function theme(): ITheme {
  const all: ITheme = {
    background: token("--bg"),
    foreground: token("--fg"),
    cursor: token("--accent"),
    cursorAccent: token("--bg"),
    selectionBackground: token("--term-selection"),
  };
  names.forEach((name, i) => (all[name] = token(`--term-${i}`)));
  bright.forEach((name, i) => (all[name] = token(`--term-${i + 8}`)));
  return all;
}

export const font = () => ({ fontFamily: token("--font-mono"), fontSize: parseFloat(token("--text-s")) || 12 });

/** #rrggbb as programs are told it. */
function spelled(colour: string | undefined): string {
  const hex = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(colour ?? "");
  return hex ? `rgb:${hex[1]}${hex[1]}/${hex[2]}${hex[2]}/${hex[3]}${hex[3]}` : "";
}

export const spelledColours = ({ foreground, background, cursor }: ITheme): string => [foreground, background, cursor].map(spelled).join(";");
