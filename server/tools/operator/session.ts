import { type ChildProcessByStdio, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { z } from "zod";
import { jsonTextProblem } from "@/server/domain/base/json-limits";
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
export interface Cell {
  code: string;
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
export interface CellAnswer extends z.infer<typeof Answer> {
  /** It is the first one of its process, in which nothing is defined yet. */
  is_first: boolean;
}

/** Processes that may live at the same time. */
const MOST = 16;

interface Session {
  child: ChildProcessByStdio<Writable, Readable, null>;
  cells: number;
  /** Who waits for the next line; null while nothing runs. */
  waiting: ((line: string | ToolFailure) => void) | null;
  idle: NodeJS.Timeout | undefined;
  end(): void;
}

/** Living processes, each for the owner of its variables. They are ended with their owner's task, when unused, and with Troupe. */
export class Sessions {
  private readonly sessions = new Map<string, Session>();

  /** Runs one cell in the owner's process, and starts the process if necessary. Throws ToolFailure. */
  async run(owner: string, order: SessionOrder, cell: Cell): Promise<CellAnswer> {
    if (cell.signal.aborted) throw new ToolFailure(408, "It was stopped.");
    const known = this.sessions.get(owner);
    if (known?.waiting)
      throw new ToolFailure(429, "The program before is still running; wait for its answer.");
    if (!known && this.sessions.size >= MOST)
      throw new ToolFailure(429, `${MOST} such processes are already running; try again later.`);
    const session = known ?? this.start(owner, order);
    clearTimeout(session.idle);
    const is_first = session.cells++ === 0;
    const line = await this.ask(session, cell);
    session.idle = setTimeout(() => session.end(), order.idle_ms).unref();
    return { ...line, is_first };
  }

  /** Ends the owner's process, if there is one, with everything that it started. */
  end(owner: string): void {
    this.sessions.get(owner)?.end();
  }

  private ask(session: Session, { code, timeout_ms, max_output_bytes, signal }: Cell) {
    return new Promise<z.infer<typeof Answer>>((resolve, reject) => {
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
      session.child.stdin.write(`${JSON.stringify({ code, most: max_output_bytes })}\n`);
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

function answerIn(line: string): z.infer<typeof Answer> | null {
  if (jsonTextProblem(line)) return null;
  try {
    return Answer.parse(JSON.parse(line));
  } catch {
    return null;
  }
}
