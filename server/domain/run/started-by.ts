/** Who or what started a run. */
export interface StartedBy {
  kind: "person" | "token" | "cli" | "test" | "webhook" | "schedule" | "form" | "chat" | "mcp" | "run";
  /** Of the token, the trigger or the run. */
  id?: string;
  /** Its name at that time. */
  name?: string;
  /**
   * The input keys whose values count as a person's own words; true: all. Other input may be a stranger's text: it taints the
   * run from its first event.
   */
  trusted?: true | readonly string[];
}
