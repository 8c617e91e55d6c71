// The core's log in memory.
import type { Calls, CallName, HostEvent, OutputLine } from "../host";
import { at } from "./world";

type Answers = { [N in Extract<CallName, `output.${string}`>]: (args: Calls[N]["args"]) => Calls[N]["result"] };

const logged: OutputLine[] = [
  { seq: 1, time: at(600_000), level: "info", text: "the core is ready", attrs: "pid=4121 version=0.1.0 after=61ms" },
  { seq: 2, time: at(420_000), level: "debug", text: "look at git again", attrs: "workspace=upload-jitter" },
  { seq: 3, time: at(240_000), level: "warn", text: "request failed, trying again", attrs: 'workspace=upload-jitter attempt=1 err="connection reset by peer"' },
  { seq: 4, time: at(60_000), level: "error", text: "read a cache that the person's disk no longer has", attrs: "path=/home/ada/.carrel/cache/models.json" },
];

/** What calls about the log do. */
export function outputAnswers(emit: (event: HostEvent) => void): Answers {
  let lines = logged;
  let level = "info";
  return {
    "output.read": () => ({ lines, level, file: "/home/ada/.carrel/logs/core.log" }),
    "output.setLevel": (args) => void (level = args.level),
    "output.clear": () => {
      lines = [];
      emit({ name: "output.cleared", data: {} });
    },
    "output.openFile": () => undefined,
  };
}
