import { type Instruction, isFor } from "@/server/domain/run/commands/instructions";
import type { Fences } from "@/server/domain/text/fence";
import type { Agent } from "../agent";

/** An instruction of a person, as the agent reads it. */
const instructionText = ({ text, by }: Instruction, { harmless }: Fences): string =>
  `A person watching this run (${by}) tells you:\n${harmless(text)}\nFollow this from now on. The required form of your answer stays the same.`;

/** Whoever judges the work of others is not told how to. */
const isJudge = ({ task }: Agent): boolean => task.role !== undefined && task.purpose !== "route";

/** What people have instructed since the agent last heard of them. */
function unheard(agent: Agent): Instruction[] {
  const { run, about, instructed } = agent;
  if (run.s.instructions.length === instructed || isJudge(agent)) return [];
  return run.s.instructions
    .slice(instructed)
    .filter(({ target }) => isFor(target, run.node.id, about.agent_id));
}

/** Whether people have instructed an agent since it last heard of them. */
export const isInstructed = (agent: Agent): boolean => unheard(agent).length > 0;

/** Passes new instructions to an agent. Those from untrusted senders taint it. Instructions already in its conversation are not repeated. */
export function hearInstructions(agent: Agent): void {
  for (const sender of agent.run.s.untrusted_senders) agent.taint(sender);
  for (const instruction of unheard(agent)) {
    const content = instructionText(instruction, agent.fences);
    if (agent.messages.some((message) => message.role === "user" && message.content === content)) continue;
    agent.addMessage({ role: "user", content }, "person", instruction.number);
  }
  agent.instructed = agent.run.s.instructions.length;
}
