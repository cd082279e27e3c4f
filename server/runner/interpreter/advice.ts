import { z } from "zod";
import { defined } from "@/server/domain/base/defined";
import type { Durable, DurableContext, Settlement } from "@/server/domain/base/durable";
import { agentKey, type Interaction, type RunState } from "@/server/domain/run";
import { isSince } from "@/server/domain/run/edition";
import type { NewEvent } from "@/server/domain/run/events";
import { answerText } from "@/server/domain/run/questions/question-text";
import { PersonsAnswer } from "@/server/domain/run/questions/tool-question";
import { Untrusted } from "@/server/domain/run/started-by";

const GivenAnswer = PersonsAnswer.extend({ by: z.string(), untrusted: Untrusted });
type Given = z.infer<typeof GivenAnswer>;

/** Questions that nothing waits for: the run receives their answers while it continues. */
export class Advice {
  private readonly open = new Map<string, { id: string; handle: Durable }>();

  constructor(private readonly ctx: Pick<DurableContext, "signal">) {}

  expect(interaction_id: string): void {
    const handle = this.ctx.signal(`answer:${interaction_id}`);
    this.open.set(handle.key, { id: interaction_id, handle });
  }

  get pending(): Durable[] {
    return [...this.open.values()].map(({ handle }) => handle);
  }

  /** What follows from an answer that came; null where it answers no such question. */
  receive(answer: Settlement, s: RunState): NewEvent[] | null {
    const asked = this.open.get(answer.key);
    if (!asked) return null;
    this.open.delete(answer.key);
    const interaction = s.interactions[asked.id];
    const given = GivenAnswer.safeParse(answer.result.ok ? answer.result.value : null);
    if (!interaction || !given.success) return [];
    const { id, node_id, activation_id, agent_id, task_id } = interaction;
    const about = {
      node_id,
      activation_id,
      ...defined({ agent_id, task_id }),
    };
    return [
      {
        type: "interaction_answered",
        ...about,
        payload: { interaction_id: id, ...given.data },
        ...defined({ command_id: isSince(s.run, 3) ? answer.key : undefined }),
      },
      ...answerEvents(s, interaction, given.data),
    ];
  }
}

/** Delivers the answer to running agents: to the agent that asked, or to its crew's board. */
function answerEvents(s: RunState, asked: Interaction, given: Given): NewEvent[] {
  const { id, node_id, activation_id, agent_id, task_id, requested } = asked;
  const isActive = agent_id !== undefined && s.at_work.has(agentKey(activation_id, agent_id, task_id));
  if (isActive || s.crews[activation_id]?.status !== "running") return [];
  const bulletin = `${requested.title}\n${answerText(given, requested)}`;
  return [{ type: "board_written", node_id, activation_id, payload: { alias: `human:${id}`, bulletin } }];
}
