// Staying at the end while text streams in, until the person scrolls up. Nothing else moves the view.

/** How near to the end still counts as being there, in pixels. */
const near = 48;

export class Stick {
  /** Whether the end is in view and stays so. */
  atEnd = $state(true);
  #scroller: HTMLElement;
  #top = 0;
  #height = 0;
  #observer: ResizeObserver;

  constructor(scroller: HTMLElement, content: HTMLElement) {
    this.#scroller = scroller;
    this.#observer = new ResizeObserver(() => this.#follow());
    this.#observer.observe(content);
    this.#observer.observe(scroller);
  }

  /** Call it on every scroll event. */
  scrolled(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.#scroller;
    const rest = scrollHeight - scrollTop - clientHeight;
    // Only the person moves the view up, and the first pixel counts: a wheel turns in small steps. A
    // list that shrinks moves it too, but then its height changes.
    if (scrollTop < this.#top && scrollHeight >= this.#height && rest > 1) this.atEnd = false;
    else if (rest < near && scrollTop >= this.#top) this.atEnd = true;
    this.#top = scrollTop;
    this.#height = scrollHeight;
  }

  toEnd(): void {
    this.atEnd = true;
    this.#follow();
  }

  #follow(): void {
    if (this.atEnd) this.#scroller.scrollTop = this.#scroller.scrollHeight;
  }

  dispose(): void {
    this.#observer.disconnect();
  }
}
