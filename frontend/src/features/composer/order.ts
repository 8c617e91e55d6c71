// Where a message of the queue goes when it is moved, in the core's words: before which other one, ""
// for behind the last, undefined for nowhere else than it is.
import type { Queued } from "../../host/host";

type Item = Pick<Queued, "id">;

/** One up (-1) or one down (1). */
export function beforeStep(queue: readonly Item[], id: string, by: number): string | undefined {
  const at = queue.findIndex((one) => one.id === id);
  if (at < 0 || at + by < 0 || at + by >= queue.length) return undefined;
  return by < 0 ? queue[at - 1]?.id : (queue[at + 2]?.id ?? "");
}

/** To the gap before the place `gap`, counted with the message itself still in its old place. */
export function beforeAt(queue: readonly Item[], id: string, gap: number): string | undefined {
  const at = queue.findIndex((one) => one.id === id);
  if (at < 0 || gap === at || gap === at + 1) return undefined;
  return queue[gap]?.id ?? "";
}
