import type { Breakpoint, BreakpointKind } from "@/server/domain/agent/breakpoint/breakpoint";
import type { Json, JsonObject } from "@/server/domain/base/values";
import type { InstructionTarget } from "../commands/instructions";
import type { Sender } from "../started-by";

/** How far a step goes: to the next node, or to the next turn of an agent where that comes first. */
export type StepGranularity = "node" | "turn";

/** Why a run was paused: a person asked for it, it goes step by step, or it came to a breakpoint. */
export type PauseReason = "person" | "step" | "breakpoint" | "question";

/** A place in a run. `anywhere`: wherever it was when a person asked for the pause. */
export interface PausedPlace {
  point: BreakpointKind | "anywhere";
  node_id?: string;
  activation_id?: string;
  agent_id?: string;
  task_id?: string;
  tool?: string;
  key?: string;
  edge_id?: string;
  iteration?: number;
  /** The one that held it. */
  breakpoint?: Breakpoint;
}

/** What people tell a run while it goes on, and where it was held for them. `by` of a step or a breakpoint is `run`. */
export interface ControlEvents {
  /**
   * From here on nothing begins: no node, no turn of an agent, no call of a model or a tool. What is under way comes to
   * its end and is recorded. `now`: calls of models, and of tools that only read, were given up, and are made again afterwards; other tools come to their end.
   */
  run_paused: { by: string; reason: PauseReason; at: PausedPlace; now?: boolean };
  /** It goes on: `resume` to the next breakpoint, `step` by one step. */
  run_continued: { by: string; as: "resume" | "step"; granularity?: StepGranularity };
  /** The run's breakpoints from here on, all of them. */
  breakpoints_set: { breakpoints: Breakpoint[]; by: string };
  /** A person changed values of the state. `words`: what they wrote themselves. */
  state_edited: { set: JsonObject; remove: string[]; words: string[] } & Sender;
  /** A node that failed is tried again, by its next attempt. `along`: another one's failure had stopped it. */
  node_retried: { by: string; along?: true };
  /**
   * A person chose how it goes on: to which node after this activation, or with which agent of its crew. `takes_back`: the
   * ways that its tokens had taken already, and are taken back from.
   */
  next_overridden: {
    to?: string;
    agent_id?: string;
    takes_back?: { id: string; target_node_id: string }[];
    by: string;
  };
  /** The agent that a person chose goes on. */
  next_agent_taken: { agent_id: string };
  /** Somebody sent a signal: every node that waits for its name goes on; where none does, the first that comes to it. */
  signal_received: { name: string; data: Json } & Sender;
  /** A signal that had been sent before is taken. */
  signal_taken: { name: string };
  /** A person told agents something, which holds to the run's end; each reads it before its next call of a model. */
  instruction_injected: { target: InstructionTarget; text: string } & Sender;
  /** An activation is not carried out, or not any further: it has the output that a person gives. */
  node_skipped_by: { output: JsonObject; labels?: string[] } & Sender;
}

/** A command to the run that another one repeats, with its place, as it is kept; `RepeatedCommand` of `repeated.ts` reads it. */
export interface KeptCommand extends Sender {
  after: string[];
  while_paused?: true;
  command: JsonObject;
}
