import { namedError } from "@/server/domain/base/named-error";
import { SIZES } from "./sizes";

/**
 * How much an expression or a template may do and make. Work is counted, never timed: the same values give the same
 * answer on every machine and in every replay.
 *
 * One unit is about what visiting one operator of an expression costs, 20 to 50 ns on a slow machine; what does not
 * cost the same each time (texts, lists) is converted into units below, and is counted before it is done.
 */
export const WORK_LIMITS = {
  /**
   * Of one evaluation, or of all that one node evaluates at once: below 50 ms of the server's thread, and enough to
   * search 2 MiB of text a few times.
   */
  units: 320_000,
  /**
   * Characters of one text made on the way: two of the largest that a state holds, put together. Whether the state can
   * keep what comes out is for the run to say, which knows its own limit (sizes.ts).
   */
  textLength: 2 * SIZES.state.standard,
  /** Items of one list made on the way. */
  listLength: 100_000,
  /** Characters of a result: no run can keep more. */
  resultLength: SIZES.state.most,
  /** Levels of a result: deeper than any JSON that comes in, shallow enough for whoever walks it by recursion. */
  depth: 64,
} as const;

/** Characters that are copied, compared or searched for one unit. */
const CHARS_PER_UNIT = 16;
/** What making a text costs beside its characters. */
const TEXT_UNITS = 8;

/** What reading one character of an expression costs, in units: parsing takes far longer than going over a text. */
export const READING_UNITS = 8;
/** So long may the expressions be together that one step evaluates: none is left to compute with beyond that. */
export const MAX_EXPRESSION_CHARS = Math.floor(WORK_LIMITS.units / READING_UNITS);

/** The budget is used up, or something would grow beyond its limit; the message says what and what to do. */
export class WorkError extends namedError("WorkError") {}

let spent = 0;

/** Units that were spent in this process so far: the difference of two readings is what was worked off between them. */
export const workSoFar = (): number => spent;

/** The budget of one evaluation, or of several that one node does at once. */
export class Work {
  constructor(private left: number = WORK_LIMITS.units) {}

  /** Counts units before they are worked off. Throws WorkError when there are none left. */
  spend(units: number): void {
    this.left -= units;
    spent += units;
    if (this.left < 0)
      throw new WorkError(
        "Too much work for one step: too many items or too much text. Shorten the list or text first, or use a code node.",
      );
  }

  /** Counts the reading of so many characters. `times`: how often each is looked at. */
  read(chars: number, times = 1): void {
    this.spend(Math.ceil((chars * times) / CHARS_PER_UNIT));
  }

  /** Counts a text of so many characters before it is made. */
  makeText(chars: number): void {
    if (chars > WORK_LIMITS.textLength)
      throw new WorkError(
        `Result too long: ${chars.toLocaleString("en-US")} characters, max ${WORK_LIMITS.textLength.toLocaleString("en-US")}. Shorten the text.`,
      );
    this.spend(TEXT_UNITS);
    this.read(chars);
  }

  /** Counts a list of so many items before it is made. */
  makeList(items: number): void {
    if (items > WORK_LIMITS.listLength)
      throw new WorkError(
        `Result too long: more than ${WORK_LIMITS.listLength.toLocaleString("en-US")} items. Use a shorter list or text.`,
      );
    this.spend(items);
  }

  /** Counts one more item of a list that has so many already. */
  makeListItem(already: number): void {
    if (already >= WORK_LIMITS.listLength) this.makeList(already + 1);
    this.spend(1);
  }

  /** What is left, for tests. */
  get remaining(): number {
    return this.left;
  }
}
