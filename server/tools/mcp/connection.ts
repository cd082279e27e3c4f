import type { Client } from "@modelcontextprotocol/client";
import { z } from "zod";
import { defined } from "@/server/domain/base/defined";
import { isSameJson } from "@/server/domain/base/json";
import { present } from "@/server/domain/base/must";
import type { JsonObject } from "@/server/domain/base/values";
import { questionError } from "@/server/domain/run/questions/tool-question";
import type { ToolAnswer, ToolOutput, ToolQuestion } from "@/server/domain/tool/tool";
import { signInBehind } from "./challenge";
import { type McpToolDefinition, readable } from "./definition";
import type { Asked, McpAddress, Way } from "./library";
import { MCP_LIMITS } from "./limits";
import { listOffers } from "./listing";
import {
  asList,
  GET_PROMPT,
  type McpPrompt,
  type McpResource,
  PromptAnswer,
  promptOutput,
  READ_RESOURCE,
  ReadAnswer,
  readOutput,
  tooLarge,
} from "./offers";
import { ContentBlock, outputOf } from "./result";

/** What a call gave; older servers answer without content. */
const CallAnswer = z.object({
  content: z
    .array(z.unknown())
    .nullish()
    .transform((parts) => (parts ?? []).flatMap((part) => ContentBlock.safeParse(part).data ?? [])),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().catch(false).default(false),
});

/** What a prompt is filled in with; its tool asks for texts. */
const Fillings = z.record(z.string(), z.string());

/** A person's form input, in the form that servers expect. */
const Filled = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]));

/** A task that a call began. */
const BegunTask = z.object({ task: z.object({ taskId: z.string() }) });

const loadLibrary = () => import("./library");

/** A running call. */
interface Call {
  /** Null: nobody can be asked. */
  answers: readonly ToolAnswer[] | null;
  stop: AbortController;
  /** What it was ended for. */
  asks: ToolQuestion | null;
  /** Why it was ended, if its question can't be put to anyone. */
  error: string | null;
}

export interface McpHealth {
  /** needs_sign_in: a person has to do it; nothing is tried before. */
  state: "off" | "connecting" | "connected" | "failed" | "needs_sign_in";
  /** Why it isn't connected, or the last error, as a message. */
  last_error: string | null;
  /** Unix milliseconds. */
  connected_at: number | null;
  /** How long a ping took last, in milliseconds. */
  latency_ms: number | null;
  /** Tools of the server that cannot be offered, with the reason. */
  problems: string[];
}

/**
 * One server: connects, lists its tools, calls them, and connects again after a failure, ever more patiently. Nothing
 * here decides what may be called.
 */
export class McpConnection {
  private client: Client | null = null;
  private timer: NodeJS.Timeout | null = null;
  private failures = 0;
  private isWanted = false;
  private working: Promise<void> | null = null;
  private readonly calls = new Set<Call>();
  definitions: McpToolDefinition[] = [];
  resources: McpResource[] = [];
  prompts: McpPrompt[] = [];
  health: McpHealth = { state: "off", last_error: null, connected_at: null, latency_ms: null, problems: [] };

  constructor(
    readonly name: string,
    private readonly address: () => McpAddress,
    /** The tools or the state changed. */
    private readonly changed: () => void,
  ) {}

  /** Connects, and stays connected until `stop`. Resolves when the first attempt is over; never throws. */
  async start(): Promise<void> {
    this.isWanted = true;
    await this.refresh();
  }

  async stop(): Promise<void> {
    this.isWanted = false;
    this.clearTimer();
    await this.working;
    await this.hangUp();
    this.note({ state: "off", connected_at: null, latency_ms: null });
  }

  /** Connects if need be, and lists the tools again. Never throws: `health` says how it went. */
  refresh(): Promise<void> {
    this.working ??= this.attempt().finally(() => {
      this.working = null;
    });
    return this.working;
  }

  /** Reconnects to an unavailable server immediately because a caller needs it: the back-off is for idle times. */
  async wake(): Promise<void> {
    if (!this.client && this.isWanted) await this.refresh();
  }

  /**
   * Calls a tool of the server. Always returns an output; with `asks` if the server asks a person something: called
   * again with their answer, it passes it on when the server repeats the question. Without `answers` nobody can be
   * asked.
   */
  async call(
    tool: string,
    args: JsonObject,
    options: {
      signal: AbortSignal;
      timeout_ms: number;
      idempotencyKey: string;
      originalKey?: string | undefined;
      as_task?: boolean;
      answers?: readonly ToolAnswer[] | undefined;
    },
  ): Promise<ToolOutput> {
    const name = `mcp:${this.name}/${tool}`;
    const { client } = this;
    if (!client) return { status_code: 503, error: this.unavailable() };
    const call: Call = {
      answers: options.answers ?? null,
      stop: new AbortController(),
      asks: null,
      error: null,
    };
    this.calls.add(call);
    try {
      const params = {
        name: tool,
        arguments: args,
        _meta: {
          "troupe/idempotency-key": options.idempotencyKey,
          ...defined({ "troupe/original-idempotency-key": options.originalKey }),
        },
      };
      const limits = {
        signal: AbortSignal.any([options.signal, call.stop.signal]),
        timeout: options.timeout_ms,
        maxTotalTimeout: options.timeout_ms,
      };
      if (tool === READ_RESOURCE) return await this.read(client, name, args, limits);
      if (tool === GET_PROMPT) return await this.prompt(client, name, args, limits);
      const answer = options.as_task
        ? await callAsTask(client, params, limits)
        : await client.request({ method: "tools/call", params }, CallAnswer, limits);
      return outputOf(name, {
        content: answer.content,
        structuredContent: answer.structuredContent,
        isError: answer.isError,
      });
    } catch (error) {
      if (options.signal.aborted) return { status_code: 408, error: `${name} was stopped.` };
      if (call.error !== null) return { status_code: 500, error: call.error };
      if (call.asks) return { status_code: 409, error: `${name} needs a person's answer.`, asks: call.asks };
      const needed = signInBehind(error);
      if (needed) {
        if (needed.isForMore) this.note({});
        else await this.lose(needed.message, "needs_sign_in");
        return { status_code: 403, error: `${name}: ${needed.message}` };
      }
      const { statusOf, describeError } = await loadLibrary();
      const status_code = statusOf(error);
      const why = describeError(error);
      if (status_code === 503) void this.lose(why);
      const message = status_code === 503 ? `Not connected to "${this.name}": ${why}` : why;
      return {
        status_code,
        error:
          status_code === 408
            ? `${name} did not finish within ${Math.round(options.timeout_ms / 1000)} s`
            : message,
      };
    } finally {
      this.calls.delete(call);
    }
  }

  /** Reads a resource, or tells which there are. */
  private async read(client: Client, name: string, { uri }: JsonObject, limits: Limits): Promise<ToolOutput> {
    if (typeof uri !== "string") return { status_code: 200, output: asList(this.resources) };
    const why = tooLarge(this.resources.find((resource) => resource.uri === uri));
    if (why !== null) return { status_code: 413, error: why };
    const answer = await client.request({ method: "resources/read", params: { uri } }, ReadAnswer, limits);
    return readOutput(name, uri, answer);
  }

  /** Gets a prompt, or tells which there are. */
  private async prompt(client: Client, name: string, args: JsonObject, limits: Limits): Promise<ToolOutput> {
    if (typeof args.name !== "string") return { status_code: 200, output: asList(this.prompts) };
    const params = { name: args.name, arguments: Fillings.parse(args.arguments ?? {}) };
    return promptOutput(name, await client.request({ method: "prompts/get", params }, PromptAnswer, limits));
  }

  /**
   * The server asks something of a person. The protocol does not say during which call, so it has to be the only one.
   * What was answered before is given; else the call ends, and its caller asks.
   */
  private async asked(asked: Omit<ToolQuestion, "from">): ReturnType<Asked> {
    const [call, ...others] = this.calls;
    if (!call || others.length > 0) return { action: "cancel" };
    if (call.answers === null) return { action: "decline" };
    const question: ToolQuestion = {
      from: this.name,
      ...asked,
      message: readable(asked.message).slice(0, 2000),
    };
    const known = call.answers.find((answer) => isSameJson(answer.question, question));
    if (known) {
      const { action, content } = known;
      return { action, ...(content && { content: Filled.parse(content) }) };
    }
    const error = questionError(question);
    if (error === null) call.asks = question;
    else call.error = `mcp:${this.name} asks ${error}. That was refused, and nothing was sent.`;
    call.stop.abort();
    // A stateless server asks in its response to the call, so nothing waits here.
    if (this.client?.getProtocolEra() === "modern") throw new Error("The call ended to ask a person");
    // The call was ended; a server that continues anyway is told after a while that nobody answers.
    await new Promise((resolve) => setTimeout(resolve, MCP_LIMITS.unansweredMs).unref());
    return { action: "cancel" };
  }

  /** Why the server cannot be called now. */
  unavailable(): string {
    const { state, last_error } = this.health;
    if (state === "off") return `The MCP server "${this.name}" is turned off.`;
    if (state === "needs_sign_in")
      return `The MCP server "${this.name}" needs a sign-in. A person can do that on the Tools page.`;
    if (state === "connecting") return `The MCP server "${this.name}" is connecting; try again shortly.`;
    return `Not connected to the MCP server "${this.name}"${last_error ? `: ${last_error.replace(/\.$/, "")}` : ""}.`;
  }

  private async attempt(): Promise<void> {
    this.clearTimer();
    try {
      if (!this.client) await this.connect();
      await this.list();
      this.failures = 0;
      this.note({ state: "connected", last_error: null });
      this.later(MCP_LIMITS.pingEveryMs);
    } catch (error) {
      const needed = signInBehind(error);
      if (needed) return this.lose(needed.message, "needs_sign_in");
      const { describeError } = await loadLibrary();
      await this.lose(describeError(error));
    }
  }

  private async connect(): Promise<void> {
    this.note({ state: "connecting" });
    const { newTransport, otherTransport } = await loadLibrary();
    const address = this.address();
    try {
      await this.connectBy(newTransport(address));
    } catch (error) {
      const other = otherTransport(address, error);
      if (!other) throw error;
      await this.connectBy(other);
    }
    this.note({ connected_at: Date.now() });
  }

  private async connectBy({ transport, versions, stderrTail }: Way): Promise<void> {
    const { newClient, describeError } = await loadLibrary();
    const client = newClient({
      versions,
      closed: () => {
        if (this.client === client) void this.lose("The server closed the connection");
      },
      listsChanged: () => {
        if (this.client === client) void this.refresh();
      },
      asked: (question) => this.asked(question),
    });
    try {
      await client.connect(transport, { timeout: MCP_LIMITS.connectMs });
    } catch (error) {
      await client.close().catch(() => {});
      const stderr = stderrTail();
      throw stderr ? new Error(`${describeError(error)}; it wrote: ${stderr.slice(-500)}`) : error;
    }
    this.client = client;
  }

  private async list(): Promise<void> {
    const client = present(this.client ?? undefined, "this.client");
    const began = performance.now();
    // The newest version has no pings; there is no connection that could be gone.
    if (client.getProtocolEra() === "modern") await client.discover({ timeout: MCP_LIMITS.listMs });
    else await client.ping({ timeout: MCP_LIMITS.listMs });
    const latency_ms = Math.round(performance.now() - began);
    const { definitions, resources, prompts, problems } = await listOffers(client, this.name);
    this.resources = resources;
    this.prompts = prompts;
    this.definitions = definitions;
    this.note({ latency_ms, problems });
  }

  /** The connection is gone or useless: says so, and comes back later. */
  private async lose(why: string, state: "failed" | "needs_sign_in" = "failed"): Promise<void> {
    const ended = this.hangUp();
    this.note({ state, last_error: why, connected_at: null, latency_ms: null });
    await ended;
    if (state === "needs_sign_in") return this.clearTimer();
    const wait = Math.min(MCP_LIMITS.firstRetryMs * 2 ** this.failures++, MCP_LIMITS.lastRetryMs);
    this.later(wait);
  }

  private async hangUp(): Promise<void> {
    const { client } = this;
    this.client = null;
    await client?.close().catch(() => {});
  }

  private later(ms: number): void {
    this.clearTimer();
    if (!this.isWanted) return;
    this.timer = setTimeout(() => void this.refresh(), ms);
    // Waiting to connect again keeps no process alive.
    this.timer.unref();
  }

  private clearTimer(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
  }

  private note(change: Partial<McpHealth>): void {
    this.health = { ...this.health, ...change };
    this.changed();
  }
}

interface Limits {
  signal: AbortSignal;
  timeout: number;
  maxTotalTimeout: number;
}

/** Starts a task, waits for its result, and cancels it if nobody waits for it any longer. */
async function callAsTask(client: Client, params: { name: string; arguments: JsonObject }, limits: Limits) {
  const begun = await client.request(
    { method: "tools/call", params: { ...params, task: { ttl: limits.timeout } } },
    BegunTask,
    limits,
  );
  const { taskId } = begun.task;
  try {
    // It answers when the task has ended.
    return await client.request({ method: "tasks/result", params: { taskId } }, CallAnswer, limits);
  } catch (error) {
    await client
      .request({ method: "tasks/cancel", params: { taskId } }, z.looseObject({}), { timeout: 2_000 })
      .catch(() => {});
    throw error;
  }
}
