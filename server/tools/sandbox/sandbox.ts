import { availableParallelism } from "node:os";
import path from "node:path";
import { Worker } from "node:worker_threads";
import { z } from "zod";
import { defined } from "@/server/domain/base/defined";
import { errorMessage } from "@/server/domain/base/guards";
import { jsonTextProblem } from "@/server/domain/base/json-limits";
import { type Json, JsonObject } from "@/server/domain/base/values";
import type { ToolOutput } from "@/server/domain/tool/tool";

/** Bytes, milliseconds and counts that hold for every program. */
export const SANDBOX_LIMITS = {
  memoryBytes: 32 * 1024 * 1024,
  stackBytes: 256 * 1024,
  cpuMs: 1_000,
  /** The most that `timeout_ms` may ask for instead of `cpuMs`. */
  maxCpuMs: 10_000,
  /** What the thread may take on top before it is ended from outside. */
  graceMs: 1_000,
  /** What the thread may take to begin, on a machine that is busy with other things. */
  startMs: 10_000,
  jobs: 100_000,
  codeBytes: 64 * 1024,
  jsonBytes: 256 * 1024,
  /** Of all variables that stay for the next program. */
  keptChars: 128 * 1024,
  logLines: 200,
  logChars: 32 * 1024,
  calls: 16,
  /** How many programs of one owner may wait for a place, and how many of all. */
  waiting: 50,
  waitingInAll: 400,
} as const;

export interface SandboxProgram {
  /** The body of an async function of `input`, `call` and `console`; what it returns is the result. */
  code: string;
  input?: Json;
  /** How long it may compute, in milliseconds. */
  timeout_ms?: number;
  /** Variables that an earlier program left; given at all, those that this one leaves come back. */
  kept?: JsonObject;
}

/** Global variables that a program left: those that are JSON, and the names of those that are not, or too large. */
const LeftVariables = z.object({ values: JsonObject, lost: z.array(z.string()) });

const SandboxErrorCode = z.enum([
  "SYNTAX",
  "THROWN",
  "TIMEOUT",
  "MEMORY",
  "STACK",
  "TOO_LARGE",
  "NEVER_ENDS",
  "NOT_REPEATABLE",
  "CANCELLED",
  "BUSY",
  "CRASHED",
]);
export type SandboxErrorCode = z.infer<typeof SandboxErrorCode>;

const SandboxError = z.object({
  code: SandboxErrorCode,
  /** A message for the author of the code, with the line if known. */
  message: z.string(),
  line: z.number().exactOptional(),
});
export type SandboxError = z.infer<typeof SandboxError>;

/** A value that code produced, from JSON text or from a recording. It may be large, so it isn't traversed again. */
const MadeValue = z.custom<Json>((value) => value !== undefined);

const SandboxResult = z.object({
  ok: z.boolean(),
  value: MadeValue.exactOptional(),
  error: SandboxError.exactOptional(),
  /** What the code wrote by console.log. */
  logs: z.array(z.string()),
  duration_ms: z.number(),
  variables: LeftVariables.exactOptional(),
});
export type SandboxResult = z.infer<typeof SandboxResult>;

/** One call of a tool that code made, with its answer: what a program needs in order to run again up to there. */
export interface RecordedCall {
  tool: string;
  args: Json;
  output: ToolOutput;
}

export interface ProgramWithCalls extends SandboxProgram {
  /** The tools that the code may call. */
  tools: readonly string[];
  /** The answers so far, in the order of the calls. */
  results: readonly RecordedCall[];
  /** When it ran first, in Unix milliseconds: its clock and its dice say the same each time. */
  at: number;
}

/** `needs`: carry this call out, add its answer to `results`, and run again. */
export const CallsStep = z.union([
  z.object({ done: SandboxResult }),
  z.object({
    needs: z.object({ tool: z.string(), args: MadeValue }),
    index: z.number(),
    logs: z.array(z.string()),
    duration_ms: z.number(),
  }),
]);
export type CallsStep = z.infer<typeof CallsStep>;

export interface SandboxOptions {
  signal?: AbortSignal | undefined;
  /** For whom it runs, such as the id of a run: owners take turns, so that none keeps the others waiting. */
  owner?: string;
}

/** Runs code that calls nothing. Every way to fail is a result; nothing is thrown. */
export async function runInSandbox(
  program: SandboxProgram,
  options: SandboxOptions = {},
): Promise<SandboxResult> {
  const step = await runWithCalls({ ...program, tools: [], results: [], at: Date.now() }, options);
  if ("done" in step) return step.done;
  return { ...step, ok: false, error: problem("CRASHED", "The code asked for a tool that it was not given") };
}

/**
 * Runs code until its first call that has no answer yet, or to its end. The same program with the same results gives
 * the same step; the code is never held in the middle, so that a crash loses nothing.
 */
export async function runWithCalls(
  program: ProgramWithCalls,
  { signal, owner = "" }: SandboxOptions = {},
): Promise<CallsStep> {
  const began = performance.now();
  const ended = (message: { failure?: Failure; answer?: string }) =>
    toStep(message, Math.round(performance.now() - began));
  const rejection = refusalOf(program);
  if (rejection) return ended({ failure: rejection });
  const place = await takePlace(signal, owner);
  if (place === "busy")
    return ended({ failure: { kind: "BUSY", message: "Too much code is waiting to run; try again later" } });
  if (place === "cancelled") return ended({ failure: { kind: "CANCELLED" } });
  try {
    if (signal?.aborted) return ended({ failure: { kind: "CANCELLED" } });
    return ended(await inWorker(program, signal));
  } finally {
    place.leave();
  }
}

const Failure = z.object({
  kind: z.string(),
  name: z.string().optional(),
  message: z.string().optional(),
  stack: z.string().optional(),
});
type Failure = z.infer<typeof Failure>;

const FromWorker = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("ready") }),
  z.object({
    kind: z.literal("ended"),
    failure: Failure.exactOptional(),
    answer: z.string().exactOptional(),
  }),
]);

const Answer = z.object({
  outcome: z
    .union([z.object({ result: z.string() }), z.object({ failed: Failure.omit({ kind: true }) })])
    .nullable(),
  wanted: z.object({ index: z.number(), tool: z.string(), args: z.string().optional() }).nullable(),
  broken: z.string().nullable(),
  logs: z.array(z.string()),
  variables: LeftVariables.exactOptional(),
});

/** Not import.meta.url: the server is bundled, and the thread must load the original file. */
const workerFile = () => path.join(process.cwd(), "server", "tools", "sandbox", "worker.mjs");

/** One thread for one program, ended whatever happens. */
function inWorker(
  program: ProgramWithCalls,
  signal: AbortSignal | undefined,
): Promise<{ failure?: Failure; answer?: string }> {
  const cpuMs = Math.min(program.timeout_ms ?? SANDBOX_LIMITS.cpuMs, SANDBOX_LIMITS.maxCpuMs);
  const worker = new Worker(workerFile(), {
    workerData: {
      code: program.code,
      input: JSON.stringify(program.input ?? null),
      kept: program.kept ?? null,
      replay: program.results,
      tools: program.tools,
      at: program.at,
      limits: { ...SANDBOX_LIMITS, cpuMs },
    },
    resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 32, stackSizeMb: 16 },
    // Neither the loaders of development and tests, nor anything that the server knows.
    execArgv: [],
    env: {},
    argv: [],
    stdin: false,
    stdout: true,
    stderr: true,
  });
  return new Promise((resolve) => {
    // None of the code has run.
    const late: Failure = {
      kind: "BUSY",
      message: "The machine was too busy to start the code; try again later",
    };
    let timer = setTimeout(() => end({ failure: late }), SANDBOX_LIMITS.startMs);
    const cancel = () => end({ failure: { kind: "CANCELLED" } });
    let isOver = false;
    const end = (result: { failure?: Failure; answer?: string }) => {
      // Ending the thread makes it say that it ended.
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      signal?.removeEventListener("abort", cancel);
      void worker.terminate().then(() => resolve(result));
    };
    signal?.addEventListener("abort", cancel, { once: true });
    worker.on("message", (message: unknown) => {
      const read = FromWorker.safeParse(message);
      if (!read.success) return end({ failure: { kind: "CRASHED" } });
      if (read.data.kind === "ended") return end(read.data);
      clearTimeout(timer);
      timer = setTimeout(() => end({ failure: { kind: "TIMEOUT" } }), cpuMs + SANDBOX_LIMITS.graceMs);
    });
    worker.on("error", (error) => end({ failure: crash(error) }));
    worker.on("exit", () => end({ failure: { kind: "CRASHED" } }));
  });
}

const crash = (error: unknown): Failure =>
  error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY"
    ? { kind: "MEMORY" }
    : { kind: "CRASHED", message: errorMessage(error) };

function refusalOf({ code, input, kept, results, tools }: ProgramWithCalls): Failure | null {
  if (Buffer.byteLength(code) > SANDBOX_LIMITS.codeBytes)
    return { kind: "TOO_LARGE", message: `The code is larger than ${SANDBOX_LIMITS.codeBytes} bytes` };
  const given = JSON.stringify([input ?? null, results, tools]);
  if (JSON.stringify(kept ?? null).length > 2 * SANDBOX_LIMITS.keptChars)
    return { kind: "TOO_LARGE", message: "The variables of earlier programs are too large" };
  // Each answer to a call may be as large as an input.
  if (Buffer.byteLength(given) > SANDBOX_LIMITS.jsonBytes * (1 + results.length))
    return { kind: "TOO_LARGE", message: `The input is larger than ${SANDBOX_LIMITS.jsonBytes} bytes` };
  return null;
}

function toStep({ failure, answer }: { failure?: Failure; answer?: string }, duration_ms: number): CallsStep {
  const failed = (error: SandboxError, logs: string[] = []): CallsStep => ({
    done: { ok: false, error, logs, duration_ms },
  });
  if (failure) return failed(errorOf(failure));
  const read = parsed(answer ?? "", Answer);
  if (!read) return failed(problem("CRASHED"));
  const { outcome, wanted, broken, logs, variables } = read;
  if (broken) return failed(problem("NOT_REPEATABLE", broken), logs);
  if (outcome && "failed" in outcome) return failed(errorOf({ kind: "THROWN", ...outcome.failed }), logs);
  if (wanted) {
    const args = jsonFrom(wanted.args ?? "null");
    if (args === undefined) return failed(problem("TOO_LARGE"), logs);
    return { needs: { tool: wanted.tool, args }, index: wanted.index, logs, duration_ms };
  }
  if (!outcome) return failed(problem("NEVER_ENDS"), logs);
  const value = jsonFrom(outcome.result);
  return value === undefined
    ? failed(problem("TOO_LARGE"), logs)
    : { done: { ok: true, value, logs, duration_ms, ...defined({ variables }) } };
}

/** A value that the code made, or undefined where it is larger or deeper than JSON may be here. */
function jsonFrom(text: string): Json | undefined {
  if (Buffer.byteLength(text) > SANDBOX_LIMITS.jsonBytes || jsonTextProblem(text)) return undefined;
  try {
    // A `__proto__` key would change the prototype of any object it is copied into. The rest of a parsed text is JSON;
    // checking it again would be expensive for large values.
    return JSON.parse(text, (key, value: unknown) => (key === "__proto__" ? undefined : value)) as Json;
  } catch {
    return undefined;
  }
}

function parsed<S extends z.ZodType>(text: string, schema: S): z.output<S> | null {
  try {
    return schema.parse(JSON.parse(text, (key, value: unknown) => (key === "__proto__" ? undefined : value)));
  } catch {
    return null;
  }
}

const SENTENCES: Record<SandboxErrorCode, string> = {
  SYNTAX: "The code can't be parsed",
  THROWN: "The code failed",
  TIMEOUT: "The code exceeded its time limit",
  MEMORY: `The code exceeded its memory limit of ${SANDBOX_LIMITS.memoryBytes / 1024 / 1024} MiB`,
  STACK: "The code recurses too deeply",
  TOO_LARGE: `The result is larger than ${SANDBOX_LIMITS.jsonBytes} bytes, or nested too deeply`,
  NEVER_ENDS: "The code waits for something that never happens",
  NOT_REPEATABLE: "The code made different calls when it ran again",
  CANCELLED: "The code was stopped",
  BUSY: "Too much code is waiting to run",
  CRASHED: "The sandbox crashed",
};

const isCode = (kind: string): kind is SandboxErrorCode => Object.hasOwn(SENTENCES, kind);

const problem = (code: SandboxErrorCode, message: string = SENTENCES[code]): SandboxError => ({
  code,
  message,
});

/** An error as a message; the engine's own errors keep their text. */
function errorOf({ kind, name, message, stack }: Failure): SandboxError {
  if (kind === "JOBS") return problem("TIMEOUT", "The code keeps creating promises without finishing");
  if (kind !== "THROWN" && kind !== "SYNTAX")
    return problem(isCode(kind) ? kind : "CRASHED", kind === "CRASHED" ? undefined : message);
  if (name === "TooLarge") return problem("TOO_LARGE", message);
  if (name === "InternalError" && message === "out of memory") return problem("MEMORY");
  if (name === "InternalError" && message === "interrupted") return problem("TIMEOUT");
  if (/stack overflow|call stack size/i.test(message ?? "") && name !== "Error") return problem("STACK");
  const line = Number(stack?.match(/code\.js:(\d{1,6})/)?.[1] ?? Number.NaN);
  const text = [name, message].filter(Boolean).join(": ");
  return {
    code: kind,
    message: `${text || SENTENCES[kind]}${Number.isNaN(line) ? "" : ` (line ${line})`}`,
    ...defined({ line: Number.isNaN(line) ? undefined : line }),
  };
}

// A few programs at a time, and never all slots for one owner, so that others find a free slot or get the next one.
const PLACES = Math.max(2, Math.min(4, availableParallelism() - 1));
const PLACES_OF_ONE = PLACES - 1;

declare global {
  var __troupeSandboxLine: { running: Map<string, number>; waiting: Map<string, (() => void)[]> } | undefined;
}
globalThis.__troupeSandboxLine ??= { running: new Map(), waiting: new Map() };
const line = globalThis.__troupeSandboxLine;

const sumOf = (counts: Iterable<number>) => {
  let sum = 0;
  for (const count of counts) sum += count;
  return sum;
};
const isFree = (owner: string) =>
  sumOf(line.running.values()) < PLACES && (line.running.get(owner) ?? 0) < PLACES_OF_ONE;

function enter(owner: string): { leave(): void } {
  line.running.set(owner, (line.running.get(owner) ?? 0) + 1);
  return {
    leave() {
      const left = (line.running.get(owner) ?? 1) - 1;
      if (left > 0) line.running.set(owner, left);
      else line.running.delete(owner);
      letIn();
    },
  };
}

/** The owner who has waited longest for a turn comes first; its next one waits until all others had theirs. */
function letIn(): void {
  for (const [owner, waiting] of line.waiting) {
    if (!isFree(owner)) continue;
    const next = waiting.shift();
    line.waiting.delete(owner);
    if (waiting.length > 0) line.waiting.set(owner, waiting);
    next?.();
    return;
  }
}

async function takePlace(
  signal: AbortSignal | undefined,
  owner: string,
): Promise<{ leave(): void } | "busy" | "cancelled"> {
  if (signal?.aborted) return "cancelled";
  if (isFree(owner)) return enter(owner);
  const own = line.waiting.get(owner) ?? [];
  const all = [...line.waiting.values()].map(({ length }) => length);
  if (own.length >= SANDBOX_LIMITS.waiting || sumOf(all) >= SANDBOX_LIMITS.waitingInAll) return "busy";
  return new Promise((resolve) => {
    const begin = () => {
      signal?.removeEventListener("abort", giveUp);
      resolve(enter(owner));
    };
    const giveUp = () => {
      const rest = (line.waiting.get(owner) ?? []).filter((other) => other !== begin);
      if (rest.length > 0) line.waiting.set(owner, rest);
      else line.waiting.delete(owner);
      resolve("cancelled");
    };
    own.push(begin);
    line.waiting.set(owner, own);
    signal?.addEventListener("abort", giveUp, { once: true });
  });
}
