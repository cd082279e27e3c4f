// A TCP load balancer in front of the workers: each connection goes to the worker with the fewest, or to the next one if
// that refuses it.
import net from "node:net";

/** How long a worker may take to accept a connection, in milliseconds. */
const CONNECT_TIMEOUT_MS = 2_000;

/** `targets` returns the workers' addresses as `host:port`, and is called for each connection. */
export function newBalancer(targets) {
  /** Connections by target. */
  const open = new Map();
  const incoming = new Set();
  let turn = 0;
  const server = net.createServer({ noDelay: true, pauseOnConnect: true }, (from) => {
    incoming.add(from);
    from.on("close", () => incoming.delete(from));
    from.on("error", () => from.destroy());
    connect(from, inOrder());
  });

  /** The targets with the fewest connections first; equals take turns. */
  function inOrder() {
    const all = targets();
    const start = all.length > 0 ? turn++ % all.length : 0;
    return [...all.slice(start), ...all.slice(0, start)].sort(
      (a, b) => (open.get(a) ?? 0) - (open.get(b) ?? 0),
    );
  }

  /** Connects to the first target that accepts. If none does, the connection is closed, and the client retries. */
  function connect(from, [target, ...others]) {
    if (!target) return from.destroy();
    const at = target.lastIndexOf(":");
    const to = net.connect({ host: target.slice(0, at), port: Number(target.slice(at + 1)), noDelay: true });
    const next = () => connect(from, others);
    count(target, 1);
    to.once("close", () => count(target, -1));
    to.setTimeout(CONNECT_TIMEOUT_MS, () => to.destroy(new Error("no answer")));
    to.once("error", next);
    to.once("connect", () => {
      to.setTimeout(0);
      to.off("error", next);
      to.on("error", () => to.destroy());
      to.on("close", () => from.destroy());
      from.on("close", () => to.destroy());
      from.pipe(to).pipe(from);
      if (from.destroyed) to.destroy();
    });
  }

  const count = (target, by) => open.set(target, (open.get(target) ?? 0) + by);

  return {
    listen: (port, host = "127.0.0.1") =>
      new Promise((resolve, reject) => {
        server.once("error", reject);
        server.listen(port, host, () => resolve());
      }),
    close() {
      server.close();
      for (const socket of incoming) socket.destroy();
    },
  };
}
