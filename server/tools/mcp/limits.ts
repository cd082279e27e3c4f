/** Timeouts for servers, in milliseconds, and size limits for what they send. */
export const MCP_LIMITS = {
  connectMs: 15_000,
  listMs: 15_000,
  pages: 20,
  tools: 500,
  /** Of resources, and of prompts. */
  entries: 500,
  /** A connection that rests is asked whether it is still there. */
  pingEveryMs: 60_000,
  /** Waiting before connecting again: doubled each time. */
  firstRetryMs: 1_000,
  lastRetryMs: 60_000,
  unansweredMs: 30_000,
} as const;
