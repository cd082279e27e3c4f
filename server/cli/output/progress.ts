import { FINAL_STATUS_LABELS, type FinalStatus } from "@/server/domain/agent/outcome";
import type { LiveFrame } from "@/server/domain/base/durable";
import { present } from "@/server/domain/base/must";
import { formatCost } from "@/server/domain/model/cost";
import { getNodeKind } from "@/server/domain/nodes";
import { type Activation, evolve, type NodeStatus, newRun, type RunState } from "@/server/domain/run";
import { describePausedPlace } from "@/server/domain/run/commands/control-labels";
import type { RunEvent } from "@/server/domain/run/events";
import { differenceLines, missOf } from "@/server/domain/run/request-difference";
import { type LineContext, lineOf } from "./event-lines";
import { type OutlineRow, outlineOf } from "./outline";
import { printableLine } from "./printable";

/** Where progress is drawn: a terminal, or anything that takes text. */
export interface Screen {
  write(text: string): void;
  /** Absent: not a terminal, so lines are only ever added. */
  size?: () => { columns: number; rows: number };
  colours: boolean;
}

/** Watches a run: feed it events and frames, then call `done`. */
export interface Progress {
  state: RunState;
  events(events: readonly RunEvent[]): void;
  live(frame: LiveFrame): void;
  done(): void;
}

type Paint = (text: string) => string;
type Palette = Record<"dim" | "bold" | "good" | "bad" | "active" | "held" | "accent", Paint>;

const code =
  (open: number, close: number): Paint =>
  (text) =>
    `\u001b[${open}m${text}\u001b[${close}m`;
const plain: Paint = (text) => text;
const palette = (colours: boolean): Palette =>
  colours
    ? {
        dim: code(2, 22),
        bold: code(1, 22),
        good: code(32, 39),
        bad: code(31, 39),
        active: code(36, 39),
        held: code(33, 39),
        accent: code(35, 39),
      }
    : { dim: plain, bold: plain, good: plain, bad: plain, active: plain, held: plain, accent: plain };

const MARKS: Record<NodeStatus, [string, keyof Palette]> = {
  idle: ["·", "dim"],
  ready: ["○", "dim"],
  running: ["●", "active"],
  waiting: ["◷", "held"],
  completed: ["✓", "good"],
  failed: ["✗", "bad"],
  skipped: ["–", "dim"],
  cancelled: ["⊘", "dim"],
};
const TURNING = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/** Progress for people, on a terminal as a drawing that changes, elsewhere as a line per step. */
export function watchRun(screen: Screen, now: () => number = Date.now): Progress {
  return screen.size ? drawing(screen, screen.size, now) : lines(screen);
}

/** Redraws the outline in place, at most every 80 ms. */
function drawing(screen: Screen, size: NonNullable<Screen["size"]>, now: () => number): Progress {
  const state = newRun();
  const text = new Map<string, string>();
  const colour = palette(screen.colours);
  let outline: OutlineRow[] = [];
  let drawn = 0;
  let frame = 0;
  const draw = () => {
    const { columns, rows } = size();
    const shown = [
      ...fit(outlineLines(state, outline, { colour, text, now: now(), frame, columns }), rows - 4, colour),
      ...summaryLines(state, now(), colour),
    ].map(printableLine);
    // Up to the first line of the last drawing, and clear from there on.
    screen.write(`${drawn > 0 ? `\u001b[${drawn}A\r` : ""}\u001b[J${shown.join("\n")}\n`);
    drawn = shown.length;
    frame += 1;
  };
  screen.write("\u001b[?25l");
  const timer = setInterval(draw, 80);
  timer.unref();
  return {
    state,
    events(events) {
      for (const event of events) {
        evolve(state, event);
        if (event.type === "run_created") {
          outline = outlineOf(event.payload.graph);
          screen.write(`\n${printableLine(titleOf(state, colour))}\n\n`);
        }
      }
    },
    live(delta) {
      if (delta.channel !== "content") return;
      const known = text.get(delta.call_id) ?? "";
      // A call that is tried again begins anew.
      text.set(delta.call_id, known.slice(0, delta.offset) + delta.text);
    },
    done() {
      clearInterval(timer);
      draw();
      screen.write("\u001b[?25h");
    },
  };
}

/** One line for each thing worth telling. */
function lines(screen: Screen): Progress {
  const state = newRun();
  const colour = palette(screen.colours);
  const printLine = (ts: number, text: string) => {
    const since = ((ts - state.run.created_at) / 1000).toFixed(1).padStart(6);
    screen.write(`${colour.dim(`${since} s`)}  ${printableLine(text)}\n`);
  };
  return {
    state,
    events(events) {
      for (const event of events) {
        evolve(state, event);
        if (event.type === "run_created") screen.write(`${printableLine(titleOf(state, colour))}\n`);
        const line = lineOf(event, contextOf(state, event, colour));
        if (line) printLine(event.ts, line);
      }
    },
    live() {},
    done() {
      screen.write(
        `${summaryLines(state, state.run.finished_at ?? state.run.created_at, colour)
          .filter(Boolean)
          .map(printableLine)
          .join("\n")}\n`,
      );
    },
  };
}

function contextOf(state: RunState, event: RunEvent, colour: Palette): LineContext {
  const node_id = event.node_id ?? "";
  const activation = event.activation_id ? state.activations[event.activation_id] : undefined;
  return {
    name: nameOf(state, node_id),
    nameOf: (id) => nameOf(state, id),
    isAgent: isAgent(state, node_id),
    round: roundOf(activation),
    facts: after(factsOf(activation, event.ts), colour),
    mark: (status) => colour[MARKS[status][1]](MARKS[status][0]),
    dim: colour.dim,
    held: colour.held,
  };
}

interface RenderOptions {
  colour: Palette;
  text: ReadonlyMap<string, string>;
  now: number;
  frame: number;
  columns: number;
}

function outlineLines(state: RunState, outline: OutlineRow[], options: RenderOptions): string[] {
  return outline.flatMap(({ id, depth, label }) => {
    const view = state.nodes[id];
    const status = view?.status ?? "idle";
    const activation = view?.activation ? state.activations[view.activation] : undefined;
    const [symbol, tone] = MARKS[status];
    const mark = options.colour[tone](
      status === "running"
        ? present(TURNING[options.frame % TURNING.length], "TURNING[look.frame % TURNING.length]")
        : symbol,
    );
    const indent = "  ".repeat(depth + 1);
    const way = label ? options.colour.dim(`${label} → `) : "";
    const title =
      status === "idle" || status === "skipped" ? options.colour.dim(nameOf(state, id)) : nameOf(state, id);
    const facts = after(
      [
        ...(status === "skipped" || status === "cancelled" ? [status] : []),
        ...factsOf(activation, options.now),
      ],
      options.colour,
    );
    const line = clip(`${indent}${mark} ${way}${title}${roundOf(activation)}${facts}`, options.columns);
    const streamed = status === "running" ? streamedLine(state, activation, options) : null;
    return streamed === null
      ? [line]
      : [line, clip(`${indent}  ${options.colour.dim(streamed)}`, options.columns)];
  });
}

/** The end of what a model is saying right now. */
function streamedLine(
  state: RunState,
  activation: Activation | undefined,
  { text, columns }: RenderOptions,
): string | null {
  const call = activation?.calls.findLast((id) => state.calls[id]?.status === "running");
  if (!call) return null;
  const who = state.calls[call]?.role_name;
  const output = readable((text.get(call) ?? "").replace(/\s+/g, " ").trim());
  const room = Math.max(20, columns - 24);
  return `${who ? `${who}: ` : ""}${output.length > room ? `…${output.slice(-room)}` : output || "…"}`;
}

/** The values of a JSON answer that is still being written, without its brackets and quotes. */
const readable = (text: string) =>
  text.startsWith("{")
    ? text
        .replace(/^\{ ?|\} ?$/g, "")
        .replace(/"(\w+)" ?: ?"?/g, "$1: ")
        .replace(/" ?,? ?/g, "  ")
        .trim()
    : text;

/** Lines that fit the screen: where there are too many, the ones around what is happening. */
function fit(all: string[], room: number, colour: Palette): string[] {
  if (all.length <= room || room < 3) return all;
  const isIdle = (line: string) => /^\s*(\u001b\[2m)?·/.test(line);
  const last = all.findLastIndex((line) => !isIdle(line));
  const from = Math.min(Math.max(0, last - room + 3), all.length - room + 1);
  const shown = all.slice(from, from + room - 1);
  return [...shown, colour.dim(`  ... ${all.length - shown.length} more`)];
}

function factsOf(activation: Activation | undefined, now: number): string[] {
  if (!activation?.started_at) return [];
  const facts = activation.labels?.length ? [`→ ${activation.labels.join(", ")}`] : [];
  const ms = (activation.finished_at ?? now) - activation.started_at;
  if (ms >= 50) facts.push(seconds(ms));
  const { input_tokens, output_tokens } = activation.usage;
  if (input_tokens + output_tokens > 0) facts.push(`${count(input_tokens + output_tokens)} tokens`);
  if (activation.status === "waiting" && activation.waiting?.until)
    facts.push(`${seconds(Math.max(0, activation.waiting.until - now))} left`);
  return facts;
}

const TONES: Record<FinalStatus, keyof Palette> = {
  COMPLETED: "good",
  ERROR: "bad",
  INCOMPLETE: "held",
  CANCELLED: "dim",
};

function summaryLines(state: RunState, now: number, colour: Palette): string[] {
  const { run, totals } = state;
  const { final_status: end } = run;
  const going = run.paused_at
    ? `Paused ${describePausedPlace(run.paused_at, (id) => nameOf(state, id))}`
    : "Running";
  const word = end ? FINAL_STATUS_LABELS[end] : going;
  const tone = end ? TONES[end] : run.paused_at ? "held" : "active";
  const tokens = totals.usage.input_tokens + totals.usage.output_tokens;
  const miss = missOf(run.error);
  const parts = [
    seconds((run.finished_at ?? now) - (run.started_at ?? now)),
    ...(totals.usage.requests > 0
      ? [
          `${count(totals.usage.requests)} model ${totals.usage.requests === 1 ? "call" : "calls"}`,
          `${count(tokens)} tokens`,
          formatCost(totals),
          ...(run.simulated ? ["simulated"] : []),
        ]
      : []),
  ];
  return [
    "",
    `  ${colour[tone](word)}${colour.dim(`  ${parts.join("  ·  ")}`)}`,
    ...(run.error ? [`  ${colour.bad(run.error.message)}`] : []),
    ...(miss ? differenceLines(miss).map((line) => `    ${colour.dim(line)}`) : []),
    ...(run.resumable?.length
      ? [`  ${colour.dim(`Raise ${run.resumable.join(" or ")} with --config to continue.`)}`]
      : []),
  ];
}

function titleOf({ run }: RunState, colour: Palette): string {
  const model = run.provider_summary;
  // The demo's name says already that it is not an AI; whatever it is called, the word stands here too.
  const who = model ? `${model.name}${model.simulated ? ", simulated" : `, ${model.model}`}` : "no model";
  return `  ${colour.bold(run.workflow_name || "Workflow")}  ${model?.simulated ? colour.held(who) : colour.dim(who)}`;
}

function nameOf(state: RunState, id: string): string {
  const node = state.graph.nodes[id];
  return node ? node.name || getNodeKind(node.node_type).title : id;
}

const isAgent = (state: RunState, id: string) => {
  const node = state.graph.nodes[id];
  return !!node && getNodeKind(node.node_type).group === "agents";
};
const roundOf = (activation: Activation | undefined) =>
  activation?.iteration && activation.iteration > 1 ? `, round ${activation.iteration}` : "";
const after = (facts: string[], colour: Palette) =>
  facts.length > 0 ? colour.dim(`  ${facts.join("  ")}`) : "";
const seconds = (ms: number) =>
  ms < 60_000
    ? `${(ms / 1000).toFixed(1)} s`
    : `${Math.floor(ms / 60_000)} min ${Math.floor((ms % 60_000) / 1000)} s`;
const count = (n: number) => n.toLocaleString("en-US");

/** Cuts a line to the width of the screen; colour codes take no room. */
function clip(line: string, columns: number): string {
  let width = 0;
  let out = "";
  for (const part of printableLine(line).split(/(\u001b\[\d+m)/)) {
    if (part.startsWith("\u001b")) out += part;
    else {
      const room = columns - 1 - width;
      const letters = [...part];
      out += letters.length > room ? `${letters.slice(0, Math.max(0, room - 1)).join("")}…` : part;
      width += letters.length;
      if (letters.length > room) return `${out}\u001b[0m`;
    }
  }
  return out;
}
