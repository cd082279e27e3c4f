import http2 from "node:http2";
import type { WorkerEndpoint } from "./endpoint";

/**
 * How long a connection of the engine is used for new work. Balancers spread connections, so a worker that came back gets
 * work only once others are opened. Running work continues on a connection that ends.
 */
const CONNECTION_MS = 60_000;

export interface EnginePort {
  /** Accepts no new work, not even over open connections; running work on them continues. */
  leave(): void;
}

/** Accepts work from the engine. Rejects if it can't listen there. */
export function openEnginePort(
  endpoint: WorkerEndpoint,
  { host, port, broke }: { host: string; port: number; broke?: (error: Error) => void },
): Promise<EnginePort> {
  const server = http2.createServer((request, response) => endpoint.handler(request, response));
  const open = new Set<http2.ServerHttp2Session>();
  server.on("session", (session) => {
    open.add(session);
    // Not all at once.
    const ending = setTimeout(() => session.close(), CONNECTION_MS * (0.75 + Math.random() / 2));
    ending.unref();
    session.once("close", () => {
      open.delete(session);
      clearTimeout(ending);
    });
  });
  server.on("sessionError", (error) => broke?.(error));
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      resolve({
        leave() {
          server.close();
          for (const session of open) session.close();
        },
      });
    });
  });
}
