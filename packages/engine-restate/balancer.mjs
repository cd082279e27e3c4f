// A balancer of connections in front of the workers: each connection goes to the next of them, and where one refuses to
// the one after it. What is said on it is not looked at.
import net from "node:net";

/** `targets` answers the workers' addresses as `host:port`; asked for each connection. */
export function newBalancer(targets) {
  let turn = 0;
  const open = new Set();
  const server = net.createServer({ noDelay: true, pauseOnConnect: true }, (from) => {
    open.add(from);
    from.on("close", () => open.delete(from));
    from.on("error", () => from.destroy());
    const all = targets();
    connect(
      from,
      all.length === 0 ? [] : [...all.slice(turn % all.length), ...all.slice(0, turn % all.length)],
    );
    turn++;
  });
  return {
    listen: (port, host = "127.0.0.1") =>
      new Promise((resolve, reject) => {
        server.once("error", reject);
        server.listen(port, host, () => resolve());
      }),
    close() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

/** Joins a connection to the first target that takes one; without any it is closed, and whoever made it tries again. */
function connect(from, [target, ...others]) {
  if (!target) return from.destroy();
  const at = target.lastIndexOf(":");
  const to = net.connect({ host: target.slice(0, at), port: Number(target.slice(at + 1)), noDelay: true });
  const next = () => connect(from, others);
  to.setTimeout(2_000, () => to.destroy(new Error("no answer")));
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
