import type { RunError } from "@/server/domain/agent/outcome";
import type { AgentConfig, RoleDefinition } from "@/server/domain/agent/role";
import type { Json, JsonObject } from "@/server/domain/base/values";
import type { CrewProcess } from "@/server/domain/crew/crew";
import type { ExecutionPlan, Task, TaskStatus } from "@/server/domain/crew/plan";
import type { Sender } from "../started-by";

/** Agents that work together. */
export interface CrewEvents {
  crew_started: {
    process: CrewProcess;
    goal: string;
    members: { agent_id: string; role_name: string; description?: string }[];
    /** The agent that plans and sends the others, where there is one. */
    manager?: string;
  };
  crew_finished: { status: "completed" | "failed"; rounds?: number };
  /** A round of a mediated crew or of a vote, from 1. */
  round_started: { round: number };
  /** One agent says something to another; "user" stands for whoever started the crew. */
  post_sent: {
    from: string;
    to: string;
    message: string;
    kind: "post" | "reply" | "question" | "answer" | "feedback" | "result";
    /** How the step came out that ends with it, in a crew with a pattern of its own. */
    outcome?: string;
  };
  ledger_updated: {
    ledger: Record<string, { answer: boolean; reason: string }>;
    current_step?: string;
    stalls: number;
    replans: number;
  };
  board_written: { alias: string; bulletin: string };
  handed_off: {
    from: string;
    to: string;
    reason: string;
    context?: JsonObject;
    count: number;
  };
  delegation_started: {
    from: string;
    to: string;
    task: string;
    kind: "delegate" | "ask" | "parallel";
    level: number;
    /** Key of the agent at work on it. */
    child: string;
  };
  /** stopped: enough others were done, or the work of whoever delegated ended. */
  delegation_finished: {
    from: string;
    to: string;
    child: string;
    status: "completed" | "failed" | "stopped";
  };
  team_changed: {
    team: string;
    action: "created" | "modified" | "dissolved";
    agents: string[];
    purpose?: string;
    by: string;
  };
  /**
   * A person changed who works in the node's crew, and how, from here to the run's end. `agent`: the member as it is now;
   * absent: it was taken out. `tools`: of its role's tools, only these.
   */
  member_changed: Sender & {
    agent_id: string;
    action: "added" | "removed" | "changed";
    agent?: AgentConfig;
    tools?: string[];
    /** A copy of its role, which the run had none of that name of. */
    role?: RoleDefinition;
    /** How much its model reads, in tokens, by choiceKey. */
    context_windows?: Record<string, number>;
  };
  proposal_created: {
    proposal_id: string;
    decision: string;
    rationale: string;
    by: string;
    stakeholders: string[];
  };
  vote_cast: {
    proposal_id: string;
    round: number;
    agent_id: string;
    vote: "approve" | "reject" | "abstain";
    reasoning: string;
    confidence: number | null;
    /** It failed to vote validly. */
    forced?: boolean;
  };
  consensus_finalized: {
    proposal_id: string;
    outcome: "approved" | "rejected" | "tie" | "no_quorum";
    rule: string;
    approve: number;
    reject: number;
    abstain: number;
    /** Share of the members that did not abstain, 0 to 1. */
    turnout: number;
    decided_by: "votes" | "chair" | "person" | "rule";
  };
}

/** Plans and their tasks. */
export interface PlanEvents {
  plan_created: { plan: ExecutionPlan; by: string };
  /** The plan was changed on the way. `version` is the new one. */
  plan_changed: Sender & {
    version: number;
    added?: Task[];
    /** Fields that changed, by task. */
    changed?: Record<string, Partial<Task>>;
    reason?: string;
    /** What a person wrote in it themselves; absent where an agent changed the plan. */
    words?: string[];
  };
  criterion_checked: { criterion: string; met: boolean; evidence: string };
  task_status_changed: {
    from: TaskStatus;
    to: TaskStatus;
    /** The person who changed it; absent where it follows from the work. */
    by?: string;
    assigned_agent?: string;
    /** Where the task names nobody: why this member, as the last part of a sentence. */
    chosen_because?: string;
    output?: Json;
    error?: RunError;
  };
}
