// Waiting for something to become true, never for time to pass.

const PAUSE = 50;

export async function until(what, probe, limit = 60_000) {
  const end = Date.now() + limit;
  for (;;) {
    const found = await probe();
    if (found) return found;
    if (Date.now() > end) throw new Error(`not within ${limit / 1000} s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
}
