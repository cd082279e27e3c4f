/** Texts of a run that came with files, which are no person's own words. */
export interface ForeignText {
  /** By `textHash`. */
  texts: readonly number[];
  /** Hosts and e-mail addresses in them that a person has allowed for the workflow. */
  allowed: readonly string[];
}
