/** Texts of a run from imported files, models or untrusted senders. They don't count as a person's own words. */
export interface ForeignText {
  /** By `textHash`. */
  texts: readonly number[];
  /** The parts of them that a person vouches for: hosts and addresses allowed for the workflow, and words that a person added. */
  allowed: readonly string[];
}
