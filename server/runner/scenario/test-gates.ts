import { namedError } from "@/server/domain/base/named-error";
import { newRateLimiter, type RateLimiter } from "@/server/llm/limits/rate-limit";

/** So many are carried out at once; those with real models have places of their own, as their calls may take long. */
const AT_ONCE = { offline: 2, real: 2 } as const;
/** So many more wait for their turn. */
const WAITING = { offline: 16, real: 4 } as const;

/** Too much is asked of tests at once. */
export class TooManyTests extends namedError("TooManyTests") {}

/** Bounds how many sets of tests are run at once, whoever asks for them. */
export class TestGates {
  private readonly gates: Record<keyof typeof AT_ONCE, RateLimiter> = {
    offline: newRateLimiter(AT_ONCE.offline),
    real: newRateLimiter(AT_ONCE.real),
  };

  /** Does it when it is its turn. Throws TooManyTests, and the signal's reason. */
  async through<T>(which: keyof typeof AT_ONCE, signal: AbortSignal | undefined, work: () => Promise<T>) {
    const gate = this.gates[which];
    if (gate.waiting >= WAITING[which])
      throw new TooManyTests(
        `${AT_ONCE[which] + WAITING[which]} sets of tests are being run or wait for their turn already. Try again in a moment.`,
      );
    const leave = await gate.enter(signal ?? new AbortController().signal);
    try {
      return await work();
    } finally {
      leave();
    }
  }
}
