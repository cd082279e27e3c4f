/** Differences below this are noise. Milliseconds of CPU time. */
const FLOOR_MS = 80;
/** Maximum rounds, used only if the work looks too slow: on a busy machine, some rounds are disturbed anyway. */
const ROUNDS = 24;

/** CPU time of this process in milliseconds, so that other load on the machine does not count. */
export async function timed(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/**
 * Whether `read` takes time in proportion to the size of its text: sizes grow by four up to `most`, and four times the size
 * may take five times the time, by the least of several rounds. Null where it does, else what was measured.
 */
export async function tooSlow(
  read: (text: string) => unknown,
  textOf: (size: number) => string,
  most: number,
): Promise<string | null> {
  for (let size = 128; size < most; size *= 4) {
    const [small, large] = [textOf(size), textOf(size * 4)];
    let before = Number.POSITIVE_INFINITY;
    let after = await timed(() => read(large));
    for (let round = 0; after > FLOOR_MS; round++) {
      before = Math.min(before, await timed(() => read(small)));
      if (after <= before * 5 + FLOOR_MS) break;
      if (round === (after > 1000 ? 2 : ROUNDS))
        return `${size}: ${before.toFixed(1)} ms, ${size * 4}: ${after.toFixed(1)} ms`;
      after = Math.min(after, await timed(() => read(large)));
    }
  }
  return null;
}
