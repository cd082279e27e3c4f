import type { z } from "zod";
import type { MessagePatch, PlanPatch } from "@/server/domain/run/fork/lineage";
import type { ForkedMoment } from "./fork-moment";

/** What messages say instead, by agent and place: "agent 3". */
export type MessageDraft = Readonly<Record<string, string>>;

/** Changes of a task; `isOut`: it is left out. */
export interface TaskDraft {
  description?: string;
  who?: string;
  isOut?: boolean;
}

/** Changed tasks by crew and task ("crew#1 t1"), and added tasks by crew. */
export interface PlanDraft {
  tasks: Readonly<Record<string, TaskDraft>>;
  added: Readonly<Record<string, { description: string; who: string }>>;
}

export const messageKey = (agent: string, at: number) => `${agent} ${at}`;
export const taskKey = (activation: string, task: string) => `${activation} ${task}`;

/** The changed messages, as the fork command takes them. */
export function messagesOf({ agents }: ForkedMoment, draft: MessageDraft): MessagePatch[] {
  return agents.flatMap(({ key, messages }) =>
    messages.flatMap(({ content: before }, at) => {
      const content = draft[messageKey(key, at)];
      return content === undefined || content === before ? [] : [{ agent: key, at, content }];
    }),
  );
}

/** The changes of plans, as the fork command takes them. */
export function plansOf({ plans }: ForkedMoment, { tasks, added }: PlanDraft): z.infer<typeof PlanPatch>[] {
  return plans.flatMap(({ crew: { activation_id }, plan }) => [
    ...plan.tasks.flatMap((task): z.infer<typeof PlanPatch>[] => {
      const draft = tasks[taskKey(activation_id, task.task_id)];
      if (!draft) return [];
      if (draft.isOut) return [{ activation_id, edit: { kind: "cancel", task_id: task.task_id } }];
      const description = draft.description?.trim();
      const patch = {
        ...(description && description !== task.description ? { description } : {}),
        ...(draft.who === undefined || draft.who === task.assigned_agent
          ? {}
          : { assigned_agent: draft.who }),
      };
      if (Object.keys(patch).length === 0) return [];
      return [{ activation_id, edit: { kind: "change", task_id: task.task_id, patch } }];
    }),
    ...newTask(activation_id, added[activation_id]),
  ]);
}

function newTask(
  activation_id: string,
  task: { description: string; who: string } | undefined,
): z.infer<typeof PlanPatch>[] {
  const description = task?.description.trim();
  if (!task || !description) return [];
  return [{ activation_id, edit: { kind: "add", task: { description, assigned_agent: task.who } } }];
}
