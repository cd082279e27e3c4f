import { connect } from "node:net";
import { Agent, type Response, fetch as undiciFetch } from "undici";

/** Sends requests to the worker's own server only. */
export type ControlFetch = (
  path: string,
  init: { method: "GET" | "POST"; headers: Record<string, string>; body?: string; signal?: AbortSignal },
) => Promise<Response>;

/** The maximum number of concurrent requests of one worker to the server; others wait. */
const CONNECTIONS = 64;
const CONNECT_MS = 3_000;

/** `origin`: where the server answers its workers. Redirects are not followed: requests carry the workers' token. */
export function newControlFetch(origin: string): ControlFetch {
  // Tools may take long to answer; callers have their own timers.
  const agent = new Agent({
    connections: CONNECTIONS,
    connect: { timeout: CONNECT_MS },
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return (path, init) =>
    undiciFetch(new URL(path, `${origin}/`), { ...init, dispatcher: agent, redirect: "manual" });
}

/**
 * Whether something listens at an address such as host:port. refused: the machine refuses the connection. unknown: it
 * can't be determined.
 */
export function knock(address: string, withinMs = 1_000): Promise<"open" | "refused" | "unknown"> {
  const url = `http://${address}`;
  if (!URL.canParse(url)) return Promise.resolve("unknown");
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname.replace(/^\[|\]$/g, ""), port: Number(port || 80) });
    const done = (answer: "open" | "refused" | "unknown") => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(withinMs, () => done("unknown"));
    socket.once("connect", () => done("open"));
    socket.once("error", (error: NodeJS.ErrnoException) =>
      done(error.code === "ECONNREFUSED" ? "refused" : "unknown"),
    );
  });
}
