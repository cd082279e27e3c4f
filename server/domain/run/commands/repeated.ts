import { z } from "zod";
import { RaisableLimit } from "@/server/domain/agent/outcome";
import { asJson, asStored } from "@/server/domain/base/json";
import type { RunEvent } from "../events";
import type { KeptCommand } from "../events/control-events";
import { Untrusted } from "../started-by";
import { RunCommand } from "./command";
import { PlanEdit } from "./plan-edit";

/** How many commands another run repeats at most. */
export const MOST_REPEATED = 1000;

/** What people told a run beside answering its questions, as another run can be told it once more. */
const ControlCommand = z.union([
  RunCommand,
  z.object({ kind: z.literal("edit_plan"), activation_id: z.string(), edit: PlanEdit }),
  z.object({ kind: z.literal("raise_limit"), limit: RaisableLimit, to: z.number() }),
  z.object({ kind: z.literal("cancel"), reason: z.string().max(4000) }),
]);
export type ControlCommand = z.infer<typeof ControlCommand>;

/** A command with its place in a run, so that it can be given to another one that goes the same way. */
export const RepeatedCommand = z.strictObject({
  /** What has to be settled first: of each activation that went on since the command before, the key of its last answer. */
  after: z.array(z.string().max(400)).max(64),
  /** The run was paused then. */
  while_paused: z.literal(true).exactOptional(),
  by: z.string().max(200),
  untrusted: Untrusted,
  command: ControlCommand,
});
export type RepeatedCommand = z.infer<typeof RepeatedCommand>;

/** Reads commands as they are kept. Those of another version of Troupe are passed over. */
export const readCommands = (kept: readonly KeptCommand[]): RepeatedCommand[] =>
  kept.flatMap((one) => RepeatedCommand.safeParse(one).data ?? []);

/** The same to be kept. */
export const keptCommands = (commands: readonly RepeatedCommand[]): KeptCommand[] =>
  commands.map(({ command, ...place }) => ({ ...place, command: asStored(asJson(command)) }));

/** What only says when a run goes on, and changes nothing about where it comes to. */
type Holding = "pause" | "resume" | "step" | "set_breakpoints";
const HELD: Readonly<Record<Holding, string>> = {
  pause: "pauses it",
  resume: "resumes it",
  step: "steps it",
  set_breakpoints: "sets its breakpoints",
};

const isHolding = (kind: ControlCommand["kind"]): kind is Holding => Object.hasOwn(HELD, kind);

/** The commands, where any of them changes more than when the run goes on; none otherwise. */
export const worthRepeating = (commands: readonly RepeatedCommand[]): readonly RepeatedCommand[] =>
  commands.some(({ command }) => !isHolding(command.kind)) ? commands : [];

const DONE: Readonly<Record<Exclude<ControlCommand["kind"], Holding>, string>> = {
  edit_state: "edited the state",
  edit_plan: "edited a plan",
  edit_team: "edited a crew",
  override_next: "overrode the next node",
  override_agent: "overrode the next agent",
  signal: "sent a signal",
  retry_node: "retried a node",
  inject: "messaged agents",
  skip_node: "skipped a node",
  raise_limit: "raised a limit",
  cancel: "cancelled it",
};

/** What people did by these commands, in words, each kind once with how often; pauses and steps aside. */
export function doneBy(commands: readonly RepeatedCommand[]): string[] {
  const counts = new Map<string, number>();
  for (const { command } of commands) {
    if (isHolding(command.kind)) continue;
    const label = DONE[command.kind];
    counts.set(label, (counts.get(label) ?? 0) + 1);
  }
  return [...counts].map(([label, count]) => (count === 1 ? label : `${label} (${count} times)`));
}

/** A command with its place, in a sentence. */
export function describeCommand(
  { after, while_paused, by, command }: RepeatedCommand,
  { nodes }: { nodes: Readonly<Record<string, { name: string }>> },
): string {
  const what = isHolding(command.kind) ? HELD[command.kind] : `${DONE[command.kind]}${detailOf(command)}`;
  const last = after
    .at(-1)
    ?.replace(/^answer:/, "")
    .split("/", 1)[0];
  const [id = "", time = "1"] = last?.split("#") ?? [];
  const again = time === "1" ? "" : `, execution ${time}`;
  const where = last === undefined ? "immediately" : `after ${nodes[id]?.name || id}${again}`;
  return `${by}, ${where}${while_paused ? ", while it is paused" : ""}: ${what}`;
}

function detailOf(command: ControlCommand): string {
  switch (command.kind) {
    case "edit_state":
      return `: ${[...Object.keys(command.set), ...command.remove].join(", ")}`;
    case "inject":
      return `: ${command.text.slice(0, 200)}`;
    case "skip_node":
    case "retry_node":
    case "override_agent":
      return `: ${command.activation_id}`;
    case "override_next":
      return `: ${command.to} after ${command.activation_id}`;
    case "raise_limit":
      return `: ${command.limit} to ${command.to}`;
    case "signal":
      return `: ${command.name}`;
    default:
      return "";
  }
}

/** What made a run another one than its beginning says and is not repeated: what it changed where it was forked, in words. */
export function notRepeated(events: readonly RunEvent[]): string[] {
  const forked = events.flatMap((event) => (event.type === "run_forked" ? [event.payload] : []));
  const changed = forked.flatMap(({ patches, graph }) => [
    ...(patches.state ? ["state edits made at the fork"] : []),
    ...(patches.messages ? ["message edits made at the fork"] : []),
    ...(patches.plan ? ["plan edits made at the fork"] : []),
    ...(graph !== "original" ? ["the change to another workflow version at the fork"] : []),
  ]);
  return [...new Set(changed)];
}
