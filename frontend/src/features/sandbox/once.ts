/** Makes a question that is asked once at a time; who asks meanwhile gets it asked again after it. */
export function once(ask: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let again = false;
  return () => {
    again = running !== undefined;
    running ??= (async () => {
      try {
        do {
          again = false;
          await ask();
        } while (again);
      } finally {
        running = undefined;
      }
    })();
    return running;
  };
}
