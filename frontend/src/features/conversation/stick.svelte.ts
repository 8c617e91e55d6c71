// Staying at the end while text streams in, until the person scrolls up. Nothing else moves the view.

/** How near to the end still counts as being there, in pixels. */
const near = 48;
/** How long after a gesture a move counts as the person's, in milliseconds. */
const gesture = 500;
const gestures = ["wheel", "touchmove", "pointerdown", "keydown"] as const;

export class Stick {
  /** Whether the end is in view and stays so. */
  atEnd = $state(true);
  #scroller: HTMLElement;
  #top = 0;
  #height = 0;
  /** When the person's hand was last at the list. */
  #touched = Number.NEGATIVE_INFINITY;
  /** When the end was left for another place. */
  #left = Number.NEGATIVE_INFINITY;
  #resized: ResizeObserver;
  #restyled: MutationObserver;

  constructor(scroller: HTMLElement, content: HTMLElement) {
    this.#scroller = scroller;
    this.#resized = new ResizeObserver(this.#follow);
    this.#resized.observe(content);
    this.#resized.observe(scroller);
    // The list measures its rows when a frame is laid out, too late for the observer above to learn of
    // the new height within the same frame.
    this.#restyled = new MutationObserver(this.#follow);
    this.#restyled.observe(content, { subtree: true, attributeFilter: ["style"] });
    for (const name of gestures) scroller.addEventListener(name, this.#touch, { passive: true });
  }

  /** Call it on every scroll event. */
  scrolled(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.#scroller;
    const toEnd = scrollHeight - scrollTop - clientHeight;
    const up = scrollTop < this.#top - 1;
    // The list corrects the place when it has measured rows; such a move comes with another height.
    const person = scrollHeight === this.#height || performance.now() - this.#touched < gesture;
    // However little it is, a move up is meant; on the way down, near is near enough.
    if (up && person && toEnd > 1) this.atEnd = false;
    else if (toEnd < near && this.#touched >= this.#left) this.atEnd = true;
    this.#top = scrollTop;
    this.#height = scrollHeight;
    if (!person) this.#follow();
  }

  toEnd(): void {
    this.#left = Number.NEGATIVE_INFINITY;
    this.atEnd = true;
    this.#follow();
  }

  /** Leaves the end, to go to another place; only the person's hand comes back to it by itself. */
  leave(): void {
    this.atEnd = false;
    this.#left = performance.now();
  }

  #follow = (): void => {
    if (!this.atEnd) return;
    this.#scroller.scrollTop = this.#scroller.scrollHeight;
    // The next event may tell of this move and the person's first one together.
    this.#top = this.#scroller.scrollTop;
  };

  #touch = (): void => {
    this.#touched = performance.now();
  };

  dispose(): void {
    this.#resized.disconnect();
    this.#restyled.disconnect();
    for (const name of gestures) this.#scroller.removeEventListener(name, this.#touch);
  }
}
