// The thread of watchdog.ts: checks whether the server's thread still responds, writes down what holds it, and ends a process
// that does not recover.
import { rmSync, writeFileSync } from "node:fs";
import inspector from "node:inspector";
import process from "node:process";
import { workerData } from "node:worker_threads";

const { file, numbers, everyMs, misses, endAfter } = workerData;
/** Answered even inside an endless loop or a regular expression: V8 looks for such messages there. */
const QUESTION =
  'JSON.stringify({ ...globalThis.__troupeExecuting?.getStore(), stack: String(new Error().stack).split("\\n").slice(2, 10).join("\\n") })';
/** With at least this share of a processor the process computes; with less the machine is overloaded, or a disk stalls. */
const SHARE = 0.2;
let usage = process.cpuUsage();
let seen = -1;
let missed = 0;
let found = null;

// Checks are counted instead of time: while the machine sleeps or the process is stopped no thread runs, and afterwards each does once.
setInterval(() => {
  const beat = Atomics.load(numbers, 0);
  const { user, system } = process.cpuUsage(usage);
  usage = process.cpuUsage();
  const share = (user + system) / 1_000 / everyMs;
  missed = beat === seen ? missed + Math.min(1, Math.max(0.1, share / SHARE)) : 0;
  seen = beat;
  if (missed === 0 && found) forget();
  if (missed < misses || Atomics.load(numbers, 1) === 1) return;
  if (!found) {
    note({});
    ask();
  }
  if (endAfter === 0 || missed < endAfter) return;
  note({ ...found, ended: true });
  process.kill(process.pid, "SIGKILL");
}, everyMs);

function ask() {
  const session = new inspector.Session();
  session.connectToMainThread();
  session.post("Runtime.evaluate", { expression: QUESTION }, (_error, answer) => {
    session.disconnect();
    // It may have answered because it responds again.
    if (found && answer?.result.type === "string") note(JSON.parse(answer.result.value));
  });
}

function note(what) {
  found = { ended: false, ...what };
  try {
    writeFileSync(file, JSON.stringify(found), { mode: 0o600 });
  } catch {
    // The process is ended anyway.
  }
}

function forget() {
  found = null;
  rmSync(file, { force: true });
}
