import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { ToolFailure } from "../define";
import { environmentIn } from "./environment";

export interface ProcessOrder {
  /** The program and its arguments; no shell reads them. */
  argv: readonly string[];
  stdin: string;
  /** Its whole environment, except HOME and TMPDIR. */
  environment: Record<string, string>;
  timeout_ms: number;
  max_output_bytes: number;
  signal: AbortSignal;
  /** Ends what the process itself does not hold, such as a container. */
  onKill?(): void;
}

export interface ProcessResult {
  /** Null where a signal ended it. */
  exit_code: number | null;
  stdout: string;
  /** The end of what it wrote as errors. */
  stderr: string;
}

const STDERR_BYTES = 16 * 1024;

/**
 * Runs one program in a new temporary folder, and kills it with all its children when it ends, times out, writes too
 * much or is aborted. Throws ToolFailure.
 */
export async function runProcess(order: ProcessOrder): Promise<ProcessResult> {
  if (order.signal.aborted) throw new ToolFailure(408, "It was stopped.");
  const [program, ...args] = order.argv;
  if (!program) throw new ToolFailure(500, "There is no program to run.");
  if (order.argv.some((word) => word.includes("\0")))
    throw new ToolFailure(400, "An argument must not contain the character NUL.");
  const folder = await mkdtemp(path.join(tmpdir(), "troupe-tool-"));
  try {
    return await inFolder(folder, program, args, order);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
  }
}

function startFailure(program: string, { code, message }: NodeJS.ErrnoException): ToolFailure {
  if (code === "ENOENT") return new ToolFailure(503, `The program ${program} was not found.`);
  if (code === "E2BIG") return new ToolFailure(413, "The arguments are too long for a program.");
  return new ToolFailure(500, `The program ${program} cannot be started: ${code ?? message}.`);
}

function inFolder(
  folder: string,
  program: string,
  args: readonly string[],
  order: ProcessOrder,
): Promise<ProcessResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: folder,
      env: environmentIn(folder, order.environment),
      stdio: ["pipe", "pipe", "pipe"],
      shell: false,
      // Its own process group, so that its children end with it.
      detached: process.platform !== "win32",
      windowsHide: true,
    });
    const out: Buffer[] = [];
    let outBytes = 0;
    let errors = Buffer.alloc(0);
    let failure: ToolFailure | null = null;

    const endGroup = () => {
      try {
        if (child.pid !== undefined && process.platform !== "win32") process.kill(-child.pid, "SIGKILL");
        else child.kill("SIGKILL");
      } catch {
        // It has ended.
      }
    };
    const stop = (why: ToolFailure) => {
      if (failure) return;
      failure = why;
      endGroup();
      // Only after the process, which could otherwise still start what this ends.
      order.onKill?.();
    };
    const timer = setTimeout(
      () =>
        stop(new ToolFailure(408, `It did not finish within ${Math.round(order.timeout_ms / 100) / 10} s.`)),
      order.timeout_ms,
    );
    const cancel = () => stop(new ToolFailure(408, "It was stopped."));
    order.signal.addEventListener("abort", cancel, { once: true });
    const settle = () => {
      clearTimeout(timer);
      order.signal.removeEventListener("abort", cancel);
    };

    child.stdout.on("data", (chunk: Buffer) => {
      outBytes += chunk.length;
      if (outBytes > order.max_output_bytes)
        stop(new ToolFailure(413, `It wrote more than ${order.max_output_bytes} bytes.`));
      else out.push(chunk);
    });
    child.stderr.on("data", (chunk: Buffer) => {
      errors = Buffer.concat([errors, chunk]).subarray(-STDERR_BYTES);
    });
    // A program may ignore its input.
    child.stdin.on("error", () => {});
    child.stdin.end(order.stdin);
    child.on("error", (error: NodeJS.ErrnoException) => {
      settle();
      reject(startFailure(program, error));
    });
    // Children that it left running would keep its output open.
    child.on("exit", endGroup);
    child.on("close", (exit_code) => {
      settle();
      if (failure) return reject(failure);
      resolve({
        exit_code,
        stdout: Buffer.concat(out).toString("utf8"),
        stderr: errors.toString("utf8"),
      });
    });
  });
}
