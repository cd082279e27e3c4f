import { Worker } from "node:worker_threads";
import { type Figure, median } from "./table";

/** Answers each message with the same value: at the other side is a thread that keeps the log of runs, and no work at all. */
const ECHO =
  'const { parentPort } = require("node:worker_threads"); parentPort.on("message", (turn) => parentPort.postMessage(turn));';
const TURNS = 5_000;
const WORKERS = 8;

/** A turn as an agent's step has it: an answer and four events. */
const TURN = {
  runId: "run_0123456789abcdefghij",
  turn: 7,
  key: "ask#1/draft#1",
  result: { ok: true, value: { content: "x".repeat(600), usage: { input_tokens: 900, output_tokens: 150 } } },
  at: 1_700_000_000_000,
  lastSeq: 31,
  texts: Array.from({ length: 4 }, (_, at) =>
    JSON.stringify({ type: "llm_call_completed", seq: at, text: "y".repeat(300) }),
  ),
};

const echo = () => new Worker(ECHO, { eval: true });
const answerOf = (worker: Worker) => new Promise((resolve) => worker.once("message", resolve));

/** What a separate thread would cost the interpreter: each turn crosses to the log and back before the next begins. */
export async function measureThread(): Promise<Figure[]> {
  const worker = echo();
  worker.postMessage(TURN);
  await answerOf(worker);
  const times: number[] = [];
  for (let round = 0; round < 5; round++) {
    const began = performance.now();
    for (let at = 0; at < TURNS; at++) {
      const answered = answerOf(worker);
      worker.postMessage(TURN);
      await answered;
    }
    times.push(((performance.now() - began) / TURNS) * 1_000);
  }
  await worker.terminate();
  const before = process.memoryUsage.rss();
  const workers = Array.from({ length: WORKERS }, echo);
  for (const one of workers) one.postMessage(TURN);
  await Promise.all(workers.map(answerOf));
  const bytes = (process.memoryUsage.rss() - before) / WORKERS;
  await Promise.all(workers.map((one) => one.terminate()));
  return [
    { name: "A turn across threads and back", measured: median(times), unit: "µs" },
    { name: "Memory of a thread without any code", measured: bytes / 1e6, unit: "MB" },
  ];
}
