// The HTTP server, with limits on the connections that clients keep open.
import http from "node:http";

/** Timeouts are checked every `checkMs`, so a request ends at most that much later than `requestMs`. */
export function newHttpServer(handler, { headersMs = 10_000, requestMs = 30_000, checkMs = 1_000 } = {}) {
  const server = http.createServer(
    {
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: checkMs,
      maxHeaderSize: 16 * 1024,
    },
    handler,
  );
  server.maxConnections = 2_000;
  return server;
}
