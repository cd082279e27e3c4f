// Keeps the server running: starts it as a child process, and restarts it after a crash or when its watchdog ends it.
import { spawn } from "node:child_process";
import process from "node:process";

/** How long the server has to end once it is asked to. Its own limit is shorter: this is for one that hangs. */
const GRACE_MS = 13_000;
const RESTARTS = { most: 5, withinMs: 60_000 };

/** How a server ends that was asked to stop, here or directly. */
const ASKED = [0, 130, 143, "SIGINT", "SIGTERM", "SIGHUP"];

/**
 * Runs Node with these arguments until it ends as asked, and leaves with its exit code. The next process learns from
 * TROUPE_LAST_END how the one before ended. One that exits before it has sent a message cannot start, and is not restarted.
 */
export function supervise(args, { env = {}, graceMs = GRACE_MS, restarts = RESTARTS } = {}) {
  const ends = [];
  let child;
  let stopping = null;

  const start = (lastEnd, more = {}) => {
    let isUp = false;
    child = spawn(process.execPath, [...process.execArgv, ...args], {
      stdio: ["inherit", "inherit", "inherit", "ipc"],
      env: { ...process.env, TROUPE_LAST_END: lastEnd, ...more },
    });
    child.once("message", () => {
      isUp = true;
    });
    child.once("exit", (code, signal) => {
      const end = code ?? signal;
      if (stopping || ASKED.includes(end)) process.exit(code ?? (stopping === "SIGINT" ? 130 : 143));
      if (!isUp && code !== null) process.exit(code);
      ends.push(Date.now());
      if (ends.filter((at) => at > Date.now() - restarts.withinMs).length > restarts.most) {
        process.stderr.write(
          `\n  Troupe stops: the server ended ${restarts.most + 1} times within ${restarts.withinMs / 1_000} s, the last time with ${end}. Its log above says more.\n\n`,
        );
        process.exit(70);
      }
      process.stderr.write(`The server ended with ${end}. Restarting it.\n`);
      start(String(end));
    });
  };

  for (const signal of ["SIGINT", "SIGTERM"])
    process.on(signal, () => {
      if (stopping) return;
      stopping = signal;
      // A terminal or a service manager may have sent it to the server as well: a message does not count twice.
      if (child.connected) child.send(signal, () => {});
      setTimeout(() => child.kill("SIGKILL"), graceMs);
    });
  start("", env);
}
