// Keeps the server running: starts it as a child process, and restarts it after a crash or when its watchdog ends it.
import { spawn } from "node:child_process";
import process from "node:process";

/** Time for the server to exit after a signal. Its own limit is shorter: this one is for a server that hangs. */
const GRACE_MS = 13_000;
const RESTARTS = { max: 5, withinMs: 60_000 };

/** Exit codes and signals of a server that was asked to stop. */
const REQUESTED = [0, 130, 143, "SIGINT", "SIGTERM", "SIGHUP"];

/**
 * Runs Node with these arguments, restarts it after a crash, and exits with its exit code when it stops on request.
 * TROUPE_LAST_END tells each process how the previous one ended. A process that exits before it sends a message can't
 * start, and is not restarted.
 */
export function supervise(args, { env = {}, graceMs = GRACE_MS, restarts = RESTARTS } = {}) {
  const crashes = [];
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
      if (stopping || REQUESTED.includes(end)) process.exit(code ?? (stopping === "SIGINT" ? 130 : 143));
      if (!isUp && code !== null) process.exit(code);
      crashes.push(Date.now());
      if (crashes.filter((at) => at > Date.now() - restarts.withinMs).length > restarts.max) {
        process.stderr.write(
          `\n  Stopping: the server ended ${restarts.max + 1} times within ${restarts.withinMs / 1_000} s, the last time with ${end}. See the log above.\n\n`,
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
      // A terminal or service manager may have signaled the server too. A message counts once.
      if (child.connected) child.send(signal, () => {});
      setTimeout(() => child.kill("SIGKILL"), graceMs);
    });
  start("", env);
}
