/** Texts of a run that came with files, from models or from untrusted senders: they are no person's own words. */
export interface ForeignText {
  /** By `textHash`. */
  texts: readonly number[];
  /** What in them a person vouches for: hosts and addresses allowed for the workflow, and words that a person added. */
  allowed: readonly string[];
}
