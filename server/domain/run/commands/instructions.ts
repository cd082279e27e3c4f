import { z } from "zod";
import type { Sender } from "../started-by";

/** Whom a person instructs: everybody in the run, everybody in a node, or one agent wherever it works. */
export const InstructionTarget = z.union([
  z.strictObject({ run: z.literal(true) }),
  z.strictObject({ node_id: z.string().min(1).max(200) }),
  z.strictObject({ agent_id: z.string().min(1).max(200) }),
]);
export type InstructionTarget = z.infer<typeof InstructionTarget>;

/** How long an instruction may be, in characters. */
export const LONGEST_INSTRUCTION = 20_000;

/** What a person told a run's agents while it went on. It holds to the run's end. */
export interface Instruction extends Sender {
  target: InstructionTarget;
  text: string;
  /** Counted from 1. */
  number: number;
  at: number;
  /** Ids of the agents that have it in their conversation, each once. */
  read_by: readonly string[];
}

/** Whether an agent of a node is meant. */
export function isFor(target: InstructionTarget, node_id: string, agent_id: string): boolean {
  if ("node_id" in target) return target.node_id === node_id;
  return "agent_id" in target ? target.agent_id === agent_id : true;
}
