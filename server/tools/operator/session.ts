import { type ChildProcessByStdio, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { z } from "zod";
import { jsonTextProblem } from "@/server/domain/base/json-limits";
import { type CallableTool, ToolCallNeeded, type ToolOutput } from "@/server/domain/tool/tool";
import { ToolFailure } from "../define";
import { environmentIn } from "./environment";

/** How a process that keeps its variables is started. */
export interface SessionOrder {
  /** The program and its arguments; no shell reads them. */
  argv: readonly string[];
  environment: Record<string, string>;
  /** After this idle time, it is ended. */
  idle_ms: number;
}
export interface Cell extends Part {
  code: string;
  /** The tools that it may call. */
  tools: readonly CallableTool[];
}
/** What holds until a program's next call of a tool, or its end. */
interface Part {
  /** Names the program. */
  program: string;
  timeout_ms: number;
  max_output_bytes: number;
  signal: AbortSignal;
}

const Answer = z.object({
  ok: z.boolean(),
  output: z.string(),
  result: z.string().nullish(),
  error: z.string().optional(),
});
const Call = z.object({ call: ToolCallNeeded });
type Line = z.infer<typeof Answer> | z.infer<typeof Call>;

/** The end of a cell, or the call of a tool at which it waits. */
export type CellStep =
  | z.infer<typeof Call>
  | (z.infer<typeof Answer> & {
      /** It is the first one of its process, in which nothing is defined yet. */
      is_first: boolean;
    });

/** Processes that may live at the same time. */
const MOST = 16;
/** Calls of tools that one program may make. */
const MOST_CALLS = 50;
const PROCESS_GONE =
  "The program can't continue after its call: its process was ended, and its variables are lost. Run it again.";

interface Session {
  child: ChildProcessByStdio<Writable, Readable, null>;
  cells: number;
  /** The program that waits for the result of a call, and the number of that call. */
  held: { program: string; calls: number } | null;
  /** Who waits for the next line; null while nothing runs. */
  waiting: ((line: string | ToolFailure) => void) | null;
  idle: NodeJS.Timeout | undefined;
  end(): void;
}

/** Living processes, each for the owner of its variables. They are ended with their owner's task, when unused, and with Troupe. */
export class Sessions {
  private readonly sessions = new Map<string, Session>();

  /**
   * Runs one cell in the owner's process up to its first call of a tool, and starts the process if necessary. Throws
   * ToolFailure.
   */
  async run(owner: string, order: SessionOrder, cell: Cell): Promise<CellStep> {
    if (cell.signal.aborted) throw new ToolFailure(408, "It was stopped.");
    // A program whose call nobody will answer any more.
    if (this.sessions.get(owner)?.held) this.end(owner);
    const known = this.sessions.get(owner);
    if (known?.waiting)
      throw new ToolFailure(429, "The program before is still running; wait for its answer.");
    if (!known && this.sessions.size >= MOST)
      throw new ToolFailure(429, `${MOST} such processes are already running; try again later.`);
    const session = known ?? this.start(owner, order);
    session.cells++;
    const { code, tools, max_output_bytes: most } = cell;
    return this.step(session, { code, tools, most }, cell, order.idle_ms);
  }

  /** Continues a program with the result of its latest call, the `nth` from 1. Throws ToolFailure. */
  async resume(
    owner: string,
    { nth, output, idle_ms, ...part }: Part & { nth: number; output: ToolOutput; idle_ms: number },
  ): Promise<CellStep> {
    const session = this.sessions.get(owner);
    if (session?.held?.program !== part.program || session.held.calls !== nth)
      throw new ToolFailure(409, PROCESS_GONE);
    const { status_code, error } = output;
    const result =
      status_code === 200
        ? { output: output.output ?? null }
        : { error: error ?? "The call failed.", status_code };
    return this.step(session, result, part, idle_ms, nth);
  }

  private async step(
    session: Session,
    message: unknown,
    part: Part,
    idle_ms: number,
    calls = 0,
  ): Promise<CellStep> {
    clearTimeout(session.idle);
    session.held = null;
    const line = await this.ask(session, message, part);
    session.idle = setTimeout(() => session.end(), idle_ms).unref();
    if (!("call" in line)) return { ...line, is_first: session.cells === 1 };
    if (calls >= MOST_CALLS) {
      session.end();
      throw new ToolFailure(
        429,
        `It called tools more than ${MOST_CALLS} times. Its process was ended, and its variables are lost.`,
      );
    }
    session.held = { program: part.program, calls: calls + 1 };
    return line;
  }

  /** Ends the owner's process, if there is one, with everything that it started. */
  end(owner: string): void {
    this.sessions.get(owner)?.end();
  }

  private ask(session: Session, message: unknown, { timeout_ms, signal }: Part) {
    return new Promise<Line>((resolve, reject) => {
      const stop = (why: string) => {
        settle(new ToolFailure(408, `${why} Its process was ended, and its variables are lost.`));
        session.end();
      };
      const timer = setTimeout(
        () => stop(`It did not finish within ${Math.round(timeout_ms / 100) / 10} s.`),
        timeout_ms,
      );
      const cancel = () => stop("It was stopped.");
      signal.addEventListener("abort", cancel, { once: true });
      const settle = (line: string | ToolFailure) => {
        if (session.waiting !== settle) return;
        session.waiting = null;
        clearTimeout(timer);
        signal.removeEventListener("abort", cancel);
        if (typeof line !== "string") return reject(line);
        const read = answerIn(line);
        if (read) resolve(read);
        else reject(new ToolFailure(500, "The process returned an unexpected response."));
      };
      session.waiting = settle;
      session.child.stdin.write(`${JSON.stringify(message)}\n`);
    });
  }

  private start(owner: string, { argv: [program = "", ...args], environment }: SessionOrder): Session {
    const folder = mkdtempSync(path.join(tmpdir(), "troupe-session-"));
    const child = spawn(program, args, {
      cwd: folder,
      env: environmentIn(folder, environment),
      stdio: ["pipe", "pipe", "ignore"],
      shell: false,
      // Its own process group, so that its children end with it.
      detached: process.platform !== "win32",
      windowsHide: true,
    });
    const session: Session = {
      child,
      cells: 0,
      held: null,
      waiting: null,
      idle: undefined,
      end: () => {
        clearTimeout(session.idle);
        if (this.sessions.get(owner) === session) this.sessions.delete(owner);
        try {
          if (child.pid !== undefined && process.platform !== "win32") process.kill(-child.pid, "SIGKILL");
          else child.kill("SIGKILL");
        } catch {
          // Nothing of it is left.
        }
        rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
      },
    };
    this.sessions.set(owner, session);
    child.stdin.on("error", () => {});
    createInterface({ input: child.stdout }).on("line", (line) => session.waiting?.(line));
    const over = (failure: ToolFailure) => {
      session.waiting?.(failure);
      session.end();
    };
    child.on("error", (error: NodeJS.ErrnoException) =>
      over(
        error.code === "ENOENT"
          ? new ToolFailure(503, `The program ${program} was not found.`)
          : new ToolFailure(500, `The program ${program} cannot be started: ${error.code ?? "unknown"}.`),
      ),
    );
    child.on("close", () => over(new ToolFailure(500, "Its process exited, and its variables are lost.")));
    return session;
  }
}

function answerIn(line: string): Line | null {
  if (jsonTextProblem(line)) return null;
  try {
    return z.union([Call, Answer]).parse(JSON.parse(line));
  } catch {
    return null;
  }
}
