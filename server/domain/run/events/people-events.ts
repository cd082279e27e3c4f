import type { Json, JsonObject } from "@/server/domain/base/values";
import type { QuestionParts } from "@/server/domain/tool/person-question";
import type { RiskLevel, ToolQuestion } from "@/server/domain/tool/tool";
import type { Sender } from "../started-by";
import type { UnvouchedPlace } from "./tool-events";

/** How people are asked. */
export interface PeopleRules {
  /** How long a person has to answer, in milliseconds. */
  answer_within_ms: number;
  /**
   * Where limits ask, they also ask before a node starts, as roles and crews say, and offer a model that costs less. Absent in
   * older runs: only before a model call, as the node or the run says, with the next model of the agent's own list.
   */
  limits_ask?: "everywhere";
  /**
   * Running agents are informed before their next turn when a person adds members to their crew or removes them; absent
   * in older runs.
   */
  team_news?: "told";
}

/** What a person is asked about. `question`: what a tool's server asks. */
export type QuestionKind =
  | "tool_confirmation"
  | "escalation"
  | "review"
  | "tie"
  | "question"
  | "approval"
  | "input"
  | "feedback"
  | "budget";

/** Questions to people. */
export interface PersonEvents {
  /** Asks a person; the rest of the run continues. */
  interaction_requested: QuestionParts & {
    interaction_id: string;
    kind: QuestionKind;
    title: string;
    /** Why a person is asked, as text. */
    why: string;
    /** SHA-256 of what exactly is approved: an answer for anything else is refused. */
    fingerprint: string;
    tool_name?: string;
    args?: JsonObject;
    risk?: RiskLevel;
    /** Where the call leads that no person named, and what first contained that; null: nothing that was read did. */
    destinations?: UnvouchedPlace[];
    /** Of a `question`: what a tool's server wants of a person, as a form or as an address to open. */
    asks?: ToolQuestion;
    /** Tools whose results made the agent tainted. */
    taint_sources?: string[];
    /** Several calls that are asked about together, instead of tool_name, args, risk and destinations. */
    calls?: {
      tool_name: string;
      args: JsonObject;
      risk: RiskLevel;
      why: string;
      destinations?: UnvouchedPlace[];
    }[];
    /** Unix time in milliseconds; unanswered until then means no. */
    expires_at: number;
  };
  /** Half of the time to answer has passed without an answer. */
  interaction_reminded: { interaction_id: string };
  /**
   * The level's time passed without an answer: the next person is asked as well. `expires_at`: the new deadline, if
   * later.
   */
  interaction_escalated: { interaction_id: string; level: number; to: string; expires_at?: number };
  /** The person has longer: the server slept or was down while the question was open. */
  interaction_extended: { interaction_id: string; expires_at: number };
  interaction_answered: Sender & {
    interaction_id: string;
    /** cancel: of a `question`, left open without a yes or a no. chosen: an option. given: a form was filled in. */
    answer: "approve" | "approve_always" | "reject" | "cancel" | "chosen" | "given" | "expired";
    /** The value of the option that was chosen. */
    option?: string;
    /** What the form holds, or the draft as the person left it. */
    value?: Json;
    /** What the form of a `question` holds. */
    content?: JsonObject;
    /** Where some of several calls were agreed to: their places in `calls`, from 0. */
    calls?: number[];
    message?: string;
  };
}
