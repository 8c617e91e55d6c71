// One ticking clock for everything that shows how long ago something was.

class Clock {
  now = $state(Date.now());
  #users = 0;
  #timer: ReturnType<typeof setInterval> | undefined;

  /** Keeps the clock going while a component lives; call it in an effect. */
  use(): () => void {
    if (this.#users++ === 0) {
      this.now = Date.now();
      this.#timer = setInterval(() => (this.now = Date.now()), 1000);
    }
    return () => {
      if (--this.#users === 0) clearInterval(this.#timer);
    };
  }
}

export const clock = new Clock();
