import type { Expectation } from "@/server/domain/scenario/expectation";

/** What the fields of an expectation are handed. */
export interface ExpectationProps<E extends Expectation> {
  expectation: E;
  /** What is wrong with one of its fields. */
  faultOf: (field: string) => string | undefined;
  onChange: (next: Expectation) => void;
}

/** What a number field shows; nothing where there is none yet, which is kept as NaN. */
export const shownNumber = (number: number | undefined) =>
  number === undefined || Number.isNaN(number) ? null : number;
