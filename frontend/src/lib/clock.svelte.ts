// Clocks for everything that shows how long something takes, or how long ago it was. Whatever moves while
// the person waits moves with the clock of seconds, all in one frame: an animation would have the window
// drawn sixty times a second for as long as a command takes, which without a GPU is all of a core.

class Clock {
  now = $state(Date.now());
  #period: number;
  #users = 0;
  #timer: ReturnType<typeof setInterval> | undefined;

  /** A clock that ticks with this period, in milliseconds. */
  constructor(period: number) {
    this.#period = period;
  }

  /** Keeps the clock going while a component lives; call it in an effect. */
  use(): () => void {
    if (this.#users++ === 0) {
      this.now = Date.now();
      this.#timer = setInterval(() => (this.now = Date.now()), this.#period);
    }
    return () => {
      if (--this.#users === 0) clearInterval(this.#timer);
    };
  }

  /** How far something that turns has turned: a quarter with each second, as a value of CSS. */
  get quarter(): string {
    return `${(Math.round(this.now / 1000) % 4) * 90}deg`;
  }
}

/** Ticks each second. Use it only while something changes that often. */
export const clock = new Clock(1000);

/** For what changes by the minute. */
export const minutes = new Clock(15_000);
