import { createHash, randomUUID } from "node:crypto";
import type { Json, JsonObject } from "@/server/domain/base/values";
import {
  type AtWorkers,
  type ChannelHandler,
  NoSuchWorker,
  noWorkerText,
  type WorkerChannel,
  type WorkerChannels,
} from "@/server/tools/at-workers";
import { callId } from "./calls-once";
import { RequestRejected } from "./internal-api";
import type { FramesBody, LineAnswer, LineBody, ToWorker } from "./worker-protocol";

interface Times {
  /** How long a worker's poll waits at most for something to send. */
  holdMs: number;
  /** A worker that hasn't polled for this long is gone. */
  goneMs: number;
  /** How long a call waits for a worker that is about to come back, also after the server's own start. */
  waitMs: number;
}
const TIMES: Times = { holdMs: 10_000, goneMs: 3_000, waitMs: 5_000 };

/** The server's end of a channel. */
interface Open {
  what: AtWorkers;
  key: string;
  end: ChannelHandler;
  line: WorkerConnection;
}

interface WorkerConnection {
  id: string;
  worker: string;
  name: string;
  labels: ReadonlySet<string>;
  offers: ReadonlySet<string>;
  /** Calls that the worker had before this connection began. */
  calls: ReadonlySet<string>;
  /** Unacknowledged frames, and the number of the first of them. */
  unheard: ToWorker[];
  from: number;
  /** The last frame that it may have received. */
  given: number;
  /** The number of the last frame that was received from it. */
  heard: number;
  channels: Map<string, Open>;
  /** Answers the waiting poll. */
  rouse: () => void;
  /** How many of its polls are open. */
  asking: number;
  leaving: ReturnType<typeof setTimeout> | undefined;
}

const offerOf = ({ kind, name }: Pick<AtWorkers, "kind" | "name">) => `${kind}:${name}`;

/**
 * Connections to workers with labels, for tools and MCP servers that the operator's file assigns to them. A worker keeps a
 * poll open at the server's port and receives frames with its answer; it posts its own. Both are numbered, so repeated
 * frames have no effect.
 */
export class WorkerConnections implements WorkerChannels {
  /** By worker. */
  private readonly lines = new Map<string, WorkerConnection>();
  private readonly listeners: Parameters<WorkerChannels["onThere"]>[0][] = [];
  private readonly waiting = new Set<() => void>();
  private readonly times: Times;
  /** Whether every running worker has had time to connect. */
  private isSettled = false;

  constructor(times: Partial<Times> = {}) {
    this.times = { ...TIMES, ...times };
    setTimeout(() => {
      this.isSettled = true;
      this.retryWaiting();
    }, this.times.waitMs).unref();
  }

  whyNot(what: AtWorkers): string | null {
    return !this.isSettled || this.findOffering(what).length > 0 ? null : this.absence(what);
  }

  async open(
    what: AtWorkers,
    key: string,
    end: ChannelHandler,
    signal?: AbortSignal,
    call?: Json,
  ): Promise<WorkerChannel> {
    const open: Open = { what, key, end, line: await this.connectionTo(what, key, signal, call) };
    const channelId = randomUUID();
    open.line.channels.set(channelId, open);
    enqueue(open.line, { wire: channelId, open: offerOf(what) });
    return {
      send(message) {
        if (open.line.channels.has(channelId)) enqueue(open.line, { wire: channelId, message });
      },
      close() {
        if (open.line.channels.delete(channelId)) enqueue(open.line, { wire: channelId, closed: "" });
      },
    };
  }

  broadcast(what: AtWorkers, message: JsonObject): void {
    for (const line of this.findOffering(what)) {
      const channelId = randomUUID();
      enqueue(line, { wire: channelId, open: offerOf(what) });
      enqueue(line, { wire: channelId, message });
      enqueue(line, { wire: channelId, closed: "" });
    }
  }

  onThere(listener: Parameters<WorkerChannels["onThere"]>[0]): void {
    this.listeners.push(listener);
  }

  /** A worker's poll; answered once there is something to send, or after a while. */
  async ask({ line: id, heard, ...about }: LineBody, gone: AbortSignal): Promise<LineAnswer> {
    const line = this.lines.get(about.worker) ?? this.begin(about);
    // Frames of another connection have other numbers. The worker polls again at once, over this one.
    if (id !== null && id !== line.id) return { line: line.id, from: 1, frames: [] };
    this.offered(line, about);
    line.unheard.splice(0, Math.max(0, heard - line.from + 1));
    line.from = Math.max(line.from, heard + 1);
    line.rouse();
    clearTimeout(line.leaving);
    line.asking++;
    if (line.unheard.length === 0)
      await new Promise<void>((answer) => {
        const timer = setTimeout(answer, this.times.holdMs);
        line.rouse = () => {
          clearTimeout(timer);
          answer();
        };
        gone.addEventListener("abort", line.rouse, { once: true });
        if (gone.aborted) line.rouse();
      });
    if (--line.asking === 0) this.left(line);
    // An answer over a lost connection doesn't arrive.
    if (!gone.aborted) line.given = line.from + line.unheard.length - 1;
    return { line: line.id, from: line.from, frames: [...line.unheard] };
  }

  /** Takes a worker's frames. Throws if its connection is no longer known. */
  hear({ line: id, from, frames }: FramesBody): void {
    const line = [...this.lines.values()].find((one) => one.id === id);
    if (!line) throw new RequestRejected(404, "NO_LINE", "That channel no longer exists on the server.");
    for (const { wire: channelId, message, closed } of frames.slice(Math.max(0, line.heard + 1 - from))) {
      line.heard++;
      const end = line.channels.get(channelId)?.end;
      if (message !== undefined) end?.message(message);
      if (closed === undefined) continue;
      line.channels.delete(channelId);
      end?.closed(closed);
    }
  }

  stop(): void {
    for (const line of this.lines.values()) {
      clearTimeout(line.leaving);
      line.rouse();
    }
  }

  private begin({ worker, name }: Pick<LineBody, "worker" | "name">): WorkerConnection {
    const line: WorkerConnection = {
      ...{ id: randomUUID(), worker, name, labels: new Set(), offers: new Set(), calls: new Set() },
      ...{ unheard: [], from: 1, given: 0, heard: 0, channels: new Map() },
      rouse: () => {},
      asking: 0,
      leaving: undefined,
    };
    this.lines.set(worker, line);
    this.left(line);
    return line;
  }

  /** It has no open poll. */
  private left(line: WorkerConnection): void {
    line.leaving = setTimeout(() => this.drop(line), this.times.goneMs);
    line.leaving.unref();
  }

  private offered(
    line: WorkerConnection,
    { labels, offers, calls }: Pick<LineBody, "labels" | "offers" | "calls">,
  ): void {
    const before = line.offers;
    line.labels = new Set(labels);
    line.offers = new Set(offers);
    if (calls) line.calls = new Set(calls);
    const isMore = offers.some((offer) => !before.has(offer));
    if (isMore) {
      this.retryWaiting();
      for (const offer of offers) {
        const [kind, name = ""] = offer.split(/:(.*)/s);
        if (!before.has(offer) && (kind === "tool" || kind === "mcp"))
          for (const listener of this.listeners) listener({ kind, name });
      }
    }
  }

  /** Workers that have the label and declare it. */
  private findOffering(what: AtWorkers): WorkerConnection[] {
    return [...this.lines.values()].filter(
      ({ labels, offers }) => labels.has(what.label) && offers.has(offerOf(what)),
    );
  }

  private async connectionTo(
    what: AtWorkers,
    key: string,
    signal: AbortSignal | undefined,
    call: Json | undefined,
  ): Promise<WorkerConnection> {
    const id = call === undefined ? null : callId(call);
    const choose = () => {
      const holder = id === null ? null : [...this.lines.values()].find(({ calls }) => calls.has(id));
      // The worker that executes it may not have reported it yet.
      return holder ?? (id === null || this.isSettled ? closest(this.findOffering(what), key) : null);
    };
    const line = choose() ?? (await this.arrival(choose, signal));
    if (!line) throw new NoSuchWorker(this.absence(what));
    return line;
  }

  private arrival(
    choose: () => WorkerConnection | null,
    signal: AbortSignal | undefined,
  ): Promise<WorkerConnection | null> {
    return new Promise((resolve) => {
      const settle = (line: WorkerConnection | null) => {
        clearTimeout(timer);
        this.waiting.delete(retry);
        resolve(line);
      };
      const retry = () => {
        const line = choose();
        if (line) settle(line);
      };
      const timer = setTimeout(() => settle(null), this.times.waitMs);
      this.waiting.add(retry);
      signal?.addEventListener("abort", () => settle(null), { once: true });
    });
  }

  private retryWaiting(): void {
    for (const retry of [...this.waiting]) retry();
  }

  private absence(what: AtWorkers): string {
    const [labelled] = [...this.lines.values()].filter(({ labels }) => labels.has(what.label));
    return labelled
      ? `${what.name} runs on a worker with the label "${what.label}". ${labelled.name} has that label, but its TROUPE_TOOLS_FILE doesn't declare "${what.name}" for it.`
      : noWorkerText(what);
  }

  /** It polls no more: callers that wait for its answers are told. */
  private drop(line: WorkerConnection): void {
    if (this.lines.get(line.worker) !== line) return;
    this.lines.delete(line.worker);
    clearTimeout(line.leaving);
    line.rouse();
    const undelivered = line.unheard.slice(Math.max(0, line.given + 1 - line.from));
    for (const [channelId, open] of line.channels) {
      const frames = undelivered.filter((frame) => frame.wire === channelId);
      const other = frames[0]?.open === undefined ? null : closest(this.findOffering(open.what), open.key);
      // Another worker takes what it never received.
      if (other) move(channelId, open, other, frames);
      else open.end.closed(`The worker ${line.name}, which ran it, is offline.`);
    }
    line.channels.clear();
  }
}

function enqueue(line: WorkerConnection, frame: ToWorker): void {
  line.unheard.push(frame);
  line.rouse();
}

function move(channelId: string, open: Open, to: WorkerConnection, frames: readonly ToWorker[]): void {
  open.line = to;
  to.channels.set(channelId, open);
  for (const frame of frames) enqueue(to, frame);
}

/** Chooses the same worker for a key as long as it is connected, and spreads keys over workers. */
function closest(lines: readonly WorkerConnection[], key: string): WorkerConnection | null {
  const weight = ({ name }: WorkerConnection) => createHash("sha256").update(`${key} ${name}`).digest("hex");
  return lines.toSorted((a, b) => (weight(a) < weight(b) ? -1 : 1))[0] ?? null;
}
