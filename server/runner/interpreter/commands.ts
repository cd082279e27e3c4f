import { z } from "zod";
import { RaisableLimit } from "@/server/domain/agent/outcome";
import { textsIn } from "@/server/domain/base/json";
import { must } from "@/server/domain/base/must";
import type { ExecutionPlan } from "@/server/domain/crew/plan";
import type { RunState } from "@/server/domain/run";
import type { RunCommand } from "@/server/domain/run/commands/command";
import { editPlan, PlanEdit } from "@/server/domain/run/commands/plan-edit";
import type { NewEvent } from "@/server/domain/run/events";
import type { Sender } from "@/server/domain/run/started-by";
import { addedPhrases } from "@/server/tools/user-provided-text";
import { limitValue } from "./limits";

const Word = z.string().optional().catch(undefined);

/** What a person may tell a run; read with care, for it comes from the store. */
export const Command = z
  .object({
    kind: Word,
    by: Word,
    untrusted: z.literal(true).optional().catch(undefined),
    limit: Word,
    to: z.number().optional().catch(undefined),
    activation_id: Word,
    edit: z.unknown(),
  })
  .partial()
  .catch({});
export type Command = z.infer<typeof Command>;

/**
 * What follows from a change of a plan. Checked once more: the plan may have gone on since the person saw it. Null where
 * there is no such plan; `isChanged`: the crew has to look at it.
 */
export function planEdited(
  s: RunState,
  { activation_id = "", edit }: Command,
  sender: Sender,
): { event: NewEvent; isChanged: boolean } | null {
  const read = PlanEdit.safeParse(edit);
  const crew = s.crews[activation_id];
  const plan = s.plans[activation_id];
  if (!read.success || !crew || !plan) return null;
  const { node_id } = must(s.activations, activation_id);
  const at = { node_id, activation_id };
  const rejected = (message: string) => ({
    event: {
      type: "warning" as const,
      ...at,
      payload: { code: "PLAN_EDIT_REFUSED", message: `A plan edit came too late: ${message}` },
    },
    isChanged: false,
  });
  if (crew.status !== "running") return rejected("The crew has finished.");
  const edited = editPlan(plan, crew, read.data);
  if (!edited.ok) return rejected(edited.message);
  if (edited.cancelled) {
    const { task_id, status } = edited.cancelled;
    const payload = { from: status, to: "cancelled" as const, by: sender.by };
    return { event: { type: "task_status_changed", ...at, task_id, payload }, isChanged: true };
  }
  const addedText = writtenIn(read.data, plan);
  const payload = { version: plan.version + 1, ...sender, ...edited.change, words: addedText };
  return { event: { type: "plan_changed", ...at, payload }, isChanged: true };
}

/** What a person wrote in an edit themselves: where they changed a description, only what stood there not before. */
function writtenIn(edit: PlanEdit, { tasks }: ExecutionPlan): string[] {
  if (edit.kind === "cancel") return [];
  const before = edit.kind === "change" && tasks.find(({ task_id }) => task_id === edit.task_id);
  const { description = "" } = edit.kind === "add" ? edit.task : edit.patch;
  return addedPhrases(description, before ? before.description : "");
}

/** What an activation waits for that waits for a signal. */
export const signalKey = (activationId: string) => `${activationId}/signalled`;

export type SkipCommand = Extract<RunCommand, { kind: "skip_node" }>;

/** A person's edit of the state, with its added text, which counts as trusted. */
export function stateEdited(
  { state }: RunState,
  { set, remove }: Extract<RunCommand, { kind: "edit_state" }>,
  sender: Sender,
): NewEvent {
  const addedText = Object.entries(set).flatMap(([key, value]) => {
    const before = textsIn(state[key] ?? null).join("\n");
    return textsIn(value).flatMap((text) => addedPhrases(text, before));
  });
  return { type: "state_edited", payload: { set, remove, words: addedText, ...sender } };
}

/** What follows from raising a limit; null where the command does not say which and how far. */
export function limitRaised(s: RunState, { limit, to }: Command, by: string): NewEvent[] | null {
  const read = RaisableLimit.safeParse(limit);
  if (!read.success || typeof to !== "number") return null;
  const payload = { limit: read.data, from: limitValue(read.data, s), to, by };
  return [
    { type: "run_limit_raised", payload },
    ...(s.run.status === "finished" ? [{ type: "run_resumed" as const, payload: { by } }] : []),
  ];
}
