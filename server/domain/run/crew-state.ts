import { newRecord } from "@/server/domain/base/json";
import type { Json, JsonObject } from "@/server/domain/base/values";
import type { CrewProcess } from "@/server/domain/crew/crew";
import type { ExecutionPlan } from "@/server/domain/crew/plan";
import type { TeamChanges } from "@/server/domain/crew/team-now";
import type { OnCrash, RiskLevel, ToolProtocol, ToolStatus } from "@/server/domain/tool/tool";
import type { RunEventOf } from "./events";

/** One call of a tool. */
export interface ToolCallView {
  id: string;
  node_id: string;
  activation_id: string;
  /** Absent where a node called the tool itself. */
  agent_id?: string;
  task_id?: string;
  tool_name: string;
  args: JsonObject;
  /** stopped: its work ended before it did. */
  status: "running" | "completed" | "failed" | "refused" | "stopped";
  risk?: RiskLevel;
  /** Absent where making it again does no harm. */
  on_crash?: OnCrash;
  protocol?: ToolProtocol;
  repaired?: boolean;
  status_code?: ToolStatus;
  output?: Json;
  error?: string;
  artifact_id?: string;
  simulated?: boolean;
  by_call?: string;
  /** Its id in the transcript. */
  tool_call_id?: string;
  started_at: number;
  finished_at?: number;
}

/** A question to a person. */
export interface Interaction {
  id: string;
  node_id: string;
  activation_id: string;
  agent_id?: string;
  task_id?: string;
  /** withdrawn: the work that asked it ended first. */
  status: "open" | "answered" | "withdrawn";
  requested: RunEventOf<"interaction_requested">["payload"];
  answered?: RunEventOf<"interaction_answered">["payload"];
  requested_at: number;
  answered_at?: number;
  /** When nobody had answered for half of the time. */
  reminded_at?: number;
  /** Who was asked as well because nobody answered, in order. */
  escalated?: readonly { level: number; to: string; at: number }[];
}

export type CrewLink =
  | { kind: "post"; post: RunEventOf<"post_sent">["payload"] }
  | { kind: "handoff"; handoff: RunEventOf<"handed_off">["payload"] }
  | {
      kind: "delegation";
      delegation: RunEventOf<"delegation_started">["payload"];
      done?: "completed" | "failed" | "stopped";
    }
  | { kind: "vote"; vote: RunEventOf<"vote_cast">["payload"] };

/** What went from one member of a crew to another; `seq` is the event's number. */
export type CrewExchange = CrewLink & { seq: number; at: number; round: number };

export interface Proposal {
  id: string;
  decision: string;
  rationale: string;
  by: string;
  stakeholders: readonly string[];
  votes: readonly RunEventOf<"vote_cast">["payload"][];
  outcome?: RunEventOf<"consensus_finalized">["payload"];
}

/** How a crew's work ended; stopped: its node was cancelled. */
export type CrewEnd = "completed" | "failed" | "stopped";

/** A crew at work: one activation of a crew task. */
export interface CrewRun {
  activation_id: string;
  process: CrewProcess;
  goal: string;
  members: readonly { agent_id: string; role_name: string; description?: string }[];
  manager?: string;
  status: "running" | CrewEnd;
  round: number;
  /** Who is to act now, in a crew where one acts at a time. */
  active_agent?: string;
  /** Whom a person chose to go on. */
  next_agent?: string | undefined;
  handoffs: number;
  exchanges: readonly CrewExchange[];
  board: Readonly<Record<string, string>>;
  teams: Readonly<Record<string, { agents: readonly string[]; purpose: string }>>;
  proposals: Readonly<Record<string, Proposal>>;
  ledger?: RunEventOf<"ledger_updated">["payload"];
}

/** The part of a run's state that agents at work together make. */
export interface CrewState {
  crews: Record<string, CrewRun>;
  /** What people changed of the members of crews, by node; it holds to the run's end. */
  team_changes: Record<string, TeamChanges>;
  tool_calls: Record<string, ToolCallView>;
  interactions: Record<string, Interaction>;
  /** Latest version of each file in the run's workspace, by path. */
  files: Record<string, RunEventOf<"artifact_created">["payload"]>;
  plans: Record<string, ExecutionPlan>;
  /** How each plan was changed on the way, the oldest first. */
  plan_changes: Record<string, readonly RunEventOf<"plan_changed">["payload"][]>;
  criteria: Record<string, readonly RunEventOf<"criterion_checked">["payload"][]>;
  /** Calls of tools that run, and questions that are open, by id: they end with their activation. */
  calling: Set<string>;
  asking: Set<string>;
}

export function newCrewState(): CrewState {
  return {
    crews: newRecord(),
    team_changes: newRecord(),
    tool_calls: newRecord(),
    interactions: newRecord(),
    files: newRecord(),
    plans: newRecord(),
    plan_changes: newRecord(),
    criteria: newRecord(),
    calling: new Set(),
    asking: new Set(),
  };
}
