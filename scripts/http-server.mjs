// The HTTP server in front of the application, with our own limits on what a client may hold open.
import http from "node:http";

/**
 * Makes it; `checkMs` is how often it looks for requests that take longer than they may, so a request ends at most that
 * much later than `requestMs`.
 */
export function newHttpServer(answer, { headersMs = 10_000, requestMs = 30_000, checkMs = 1_000 } = {}) {
  const server = http.createServer(
    {
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: checkMs,
      maxHeaderSize: 16 * 1024,
    },
    answer,
  );
  server.maxConnections = 2_000;
  return server;
}
