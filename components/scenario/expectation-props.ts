import type { Expectation } from "@/server/domain/scenario/expectation";

/** What the fields of an expectation are handed. */
export interface ExpectationProps<E extends Expectation> {
  expectation: E;
  /** What is wrong with one of its fields. */
  faultOf: (field: string) => string | undefined;
  onChange: (next: Expectation) => void;
}
