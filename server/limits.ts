/** All limits on requests and on what agents may store, by name. Errors state the number. */
export const LIMITS = {
  /** Bytes of a request's body. */
  body: { normal: 2 * 1024 * 1024, import: 5 * 1024 * 1024, login: 4 * 1024 },
  /** Password tries in a minute; then each wrong one doubles the wait. */
  login: { tries: 5, windowMs: 60_000, firstWaitMs: 60_000, longestWaitMs: 15 * 60_000 },
  /** Wrong start links that are written to the audit; asking with one costs nothing. */
  auditedLinks: { perSecond: 1 / 60, burst: 5 },
  session: {
    idleMs: 7 * 24 * 3_600_000,
    absoluteMs: 30 * 24 * 3_600_000,
    /** A session's last use is written down at most this often. */
    touchMs: 60_000,
    /** Sessions kept; the least used ones go first. */
    kept: 1_000,
  },
  /** Requests a second, and how many may come at once. */
  rate: {
    app: { perSecond: 50, burst: 200 },
    api: { perSecond: 200, burst: 2_000 },
    /** To all webhooks, and to all forms, from one address. */
    sender: { perSecond: 50, burst: 1_000 },
    /** To one webhook or form: several times more, so that no sender blocks it for others. */
    target: { perSecond: 250, burst: 5_000 },
  },
  /**
   * Deliveries to webhooks. `fields`: of a form body; `pending`: recorded fires of one trigger whose runs haven't started;
   * `waiting`: requests to all webhooks that wait for the end of their run.
   */
  hooks: { bodyBytes: 1024 * 1024, fields: 2_000, pending: 1_000, waiting: 200, waitMs: 60_000 },
  /** Form pages. `passwordTries`: from one address, and in total. */
  forms: {
    bodyBytes: 1024 * 1024,
    passwordLength: 200,
    passwordTries: { perAddress: { perSecond: 1 / 30, burst: 5 }, perForm: { perSecond: 1, burst: 30 } },
  },
  /** Open event streams. A browser opens at most six by itself; behind HTTP/2 each tab has one or two. */
  streams: { perProcess: 1_000, heartbeatMs: 15_000, stuckMs: 45_000 },
  /** One HTTP server for all; applied to the sockets. */
  http: { headersTimeoutMs: 10_000, requestTimeoutMs: 30_000, maxConnections: 2_000 },
  page: { normal: 50, largest: 500 },
  /** The virtual workspace of a run. Sizes in bytes of UTF-8; `runBytes` counts every version. */
  workspace: {
    fileBytes: 5 * 1024 * 1024,
    runBytes: 50 * 1024 * 1024,
    files: 500,
    versions: 5_000,
    pathLength: 400,
  },
  /** What agents remember. `perScope`: entries bound to one run, workflow ... */
  memory: { valueBytes: 64 * 1024, keyLength: 200, perScope: 1_000, sweepMs: 3_600_000 },
  /** Characters of an Idempotency-Key. */
  idempotencyKey: 200,
} as const;
