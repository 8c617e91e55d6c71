// Putting rows into another order with the mouse. Rows say which list they are in (data-list) and who
// they are (data-id). It works with pointers alone, since a web view may keep drags for itself; on touch
// a drag scrolls, and the menu of a row moves it.

/** How far the pointer must go until it drags, in pixels. */
const threshold = 5;

export class Sorting {
  /** The row that is dragged. */
  dragged = $state("");
  /** The row that it would come before; at the end of the list that is the last row, with `after`. */
  over = $state("");
  after = $state(false);
  #move: (list: string, id: string, before: string | undefined) => void;

  constructor(move: (list: string, id: string, before: string | undefined) => void) {
    this.#move = move;
  }

  /** Takes a press on a box of rows. */
  start = (event: PointerEvent & { currentTarget: HTMLElement }): void => {
    const box = event.currentTarget;
    const row = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-list]") : null;
    if (!row || event.button !== 0 || event.pointerType === "touch") return;
    const { list = "", id = "" } = row.dataset;
    const from = event.clientY;
    const ended = new AbortController();
    const { signal } = ended;
    const end = () => {
      ended.abort();
      this.dragged = this.over = "";
    };
    const drag = (now: PointerEvent) => {
      if (this.dragged === "" && Math.abs(now.clientY - from) < threshold) return;
      if (this.dragged === "") {
        this.dragged = id;
        box.setPointerCapture(event.pointerId);
      }
      this.#look(box, list, now.clientY);
    };
    const drop = () => {
      const { dragged, over, after } = this;
      end();
      if (dragged === "") return;
      // The press was no click.
      box.addEventListener("click", stop, { capture: true, once: true });
      setTimeout(() => box.removeEventListener("click", stop, true));
      if (over !== "" && over !== dragged) this.#move(list, dragged, after ? undefined : over);
    };
    box.addEventListener("pointermove", drag, { signal });
    box.addEventListener("pointerup", drop, { signal });
    box.addEventListener("pointercancel", end, { signal });
    window.addEventListener("blur", end, { signal });
    window.addEventListener(
      "keydown",
      (key) => {
        if (key.key !== "Escape" || this.dragged === "") return;
        key.preventDefault();
        key.stopPropagation();
        end();
      },
      { signal, capture: true },
    );
  };

  #look(box: HTMLElement, list: string, y: number): void {
    const rows = [...box.querySelectorAll<HTMLElement>("[data-list]")].filter((row) => row.dataset["list"] === list);
    const next = rows.find((row) => {
      const { top, height } = row.getBoundingClientRect();
      return y < top + height / 2;
    });
    this.after = next === undefined;
    this.over = (next ?? rows.at(-1))?.dataset["id"] ?? "";
  }
}

function stop(event: Event): void {
  event.preventDefault();
  event.stopPropagation();
}

/** What a thing comes before when it goes one place up or down; undefined is the end, false that it can't. */
export function stepTo(ids: string[], id: string, by: -1 | 1): { before: string | undefined } | false {
  const at = ids.indexOf(id);
  const to = at + by;
  if (at < 0 || to < 0 || to >= ids.length) return false;
  return { before: by < 0 ? ids[to] : ids[to + 1] };
}
