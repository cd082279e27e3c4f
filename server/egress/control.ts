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

/** Whether nobody listens at that address any more: the machine there says so itself. False where it cannot be told. */
export function isRefused(host: string, port: number, withinMs = 1_000): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const done = (refused: boolean) => {
      socket.destroy();
      resolve(refused);
    };
    socket.setTimeout(withinMs, () => done(false));
    socket.once("connect", () => done(false));
    socket.once("error", (error: NodeJS.ErrnoException) => done(error.code === "ECONNREFUSED"));
  });
}
