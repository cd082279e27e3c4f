// A balancer of connections in front of the workers: each goes to the worker that has the fewest, and where that one refuses,
// to the next. What is said on it is not looked at.
import net from "node:net";

/** How long a worker may take to let a connection in, in milliseconds. */
const LET_IN_MS = 2_000;

/** `targets` answers the workers' addresses as `host:port`; asked for each connection. */
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

  /** Those with the fewest connections first; among equals each is the first one in turn. */
  function inOrder() {
    const all = targets();
    const start = all.length > 0 ? turn++ % all.length : 0;
    return [...all.slice(start), ...all.slice(0, start)].sort(
      (a, b) => (open.get(a) ?? 0) - (open.get(b) ?? 0),
    );
  }

  /** Joins a connection to the first target that lets it in; without any it is closed, and whoever made it tries again. */
  function connect(from, [target, ...others]) {
    if (!target) return from.destroy();
    const at = target.lastIndexOf(":");
    const to = net.connect({ host: target.slice(0, at), port: Number(target.slice(at + 1)), noDelay: true });
    const next = () => connect(from, others);
    count(target, 1);
    to.once("close", () => count(target, -1));
    to.setTimeout(LET_IN_MS, () => to.destroy(new Error("no answer")));
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
