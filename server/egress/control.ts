import { connect } from "node:net";
import { Agent, type Response, fetch as undiciFetch } from "undici";

/** Sends to the server that a worker belongs to, and to nobody else. */
export type ControlFetch = (
  path: string,
  init: { method: "GET" | "POST"; headers: Record<string, string>; body?: string; signal?: AbortSignal },
) => Promise<Response>;

/** How many requests one worker has under way at the server at most; the others wait. */
const CONNECTIONS = 64;
const CONNECT_MS = 3_000;

/** `origin`: where the server answers its workers. Redirects are not followed: requests carry the workers' token. */
export function newControlFetch(origin: string): ControlFetch {
  // Tools may take long to answer; whoever asks has timers of its own.
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
 * Whether somebody listens at an address such as host:port. refused: the machine there says that nobody does. unknown: it
 * cannot be told.
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
