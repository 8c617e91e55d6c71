// The stage of a journey: a browser, and whatever Carrels, models and people it asks for. After each
// test everything is taken down. No Carrel may have ended by itself, and every person must have been
// left in peace: no error on their page, no native dialog, no request to anywhere else.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, type TestContext } from "vitest";
import { launch } from "./browser";
import { Carrel } from "./carrel";
import { FakeModel } from "./model";
import { Person } from "./person";

const results = join(import.meta.dirname, "../test-results");

export interface Stage {
  /** A running Carrel; without a model of its own, the demo model answers. */
  carrel(options?: { model?: FakeModel; env?: Record<string, string>; started?: boolean }): Promise<Carrel>;
  model(): Promise<FakeModel>;
  /** Someone in a browser of their own, looking at the Carrel. */
  person(carrel: Carrel, options?: BrowserContextOptions): Promise<Person>;
}

/** Call it once in a file of journeys. */
export function useStage(): Stage {
  let browser: Browser;
  let carrels: Carrel[] = [];
  let models: FakeModel[] = [];
  let people: Person[] = [];

  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser?.close());
  afterEach(async (context) => {
    const there = people;
    const complaints = [...carrels.map((carrel) => carrel.fate).filter((fate) => fate !== ""), ...there.flatMap((person) => person.complaints())];
    if (context.task.result?.state === "fail" || complaints.length > 0) await photograph(context, there);
    await Promise.all(there.map((person) => person.page.context().close()));
    await Promise.all(carrels.map((carrel) => carrel.dispose()));
    await Promise.all(models.map((model) => model.close()));
    [carrels, models, people] = [[], [], []];
    expect(complaints).toEqual([]);
  });

  return {
    carrel: async ({ model, env, started = true } = {}) => {
      const carrel = await Carrel.make(env);
      carrels.push(carrel);
      if (model) await carrel.providers(model.providers);
      if (started) await carrel.start();
      return carrel;
    },
    model: async () => {
      const model = await FakeModel.start();
      models.push(model);
      return model;
    },
    person: async (carrel, options = {}) => {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce", ...options });
      const person = new Person(await context.newPage(), carrel);
      people.push(person);
      await person.arrive();
      return person;
    },
  };
}

/** Keeps what people saw when a journey failed. */
async function photograph(context: TestContext, people: Person[]): Promise<void> {
  await mkdir(results, { recursive: true });
  const name = context.task.name.replace(/[^a-z0-9]+/gi, "-").slice(0, 80);
  for (const [index, person] of people.entries()) await person.page.screenshot({ path: join(results, `${name}-${index + 1}.png`) }).catch(() => undefined);
}
