import { z } from "zod";
import { BREAKPOINT_KINDS, Breakpoint } from "@/server/domain/agent/breakpoint/breakpoint";
import { FinalStatus, RunConfigChanges, RunError, Usage } from "@/server/domain/agent/outcome";
import { Json } from "@/server/domain/base/values";
import { ExecutionPlan } from "@/server/domain/crew/plan";
import { EngineState, RunPlace, StalledRun } from "@/server/domain/run/engine-state";
import { QuarantineReason } from "@/server/domain/run/quarantine";
import { URGENCIES } from "@/server/domain/run/questions/open-questions";
import { RUN_TEXT } from "@/server/domain/run/result";
import { RUN_ORDERS } from "@/server/domain/run/run-order";
import { StartedBy } from "@/server/domain/run/started-by";
import { Time, Values } from "../common-schemas";

const Cost = z.number().nullable().meta({
  description: "The known part of the cost, in US dollars; null if no price is known",
});

export const RunStatus = z.enum(["queued", "running", "waiting", "paused", "held", "finished"]).meta({
  description: "paused: stopped by a person, a step or a breakpoint; held: quarantined by the server",
});

/** A question of any run; its exact fields depend on its kind, as in GET /runs/{id}/questions. */
export const QuestionOfRun = z
  .object({
    run_id: z.string(),
    interaction_id: z.string(),
    fingerprint: z.string().meta({ description: "Hash of the question; answers refer to it" }),
    kind: z.string(),
    title: z.string(),
    why: z.string(),
    options: z.array(z.object({ label: z.string(), value: z.string() })).meta({
      description: "The options; empty if there is only a form",
    }),
    response_schema: Json.optional().meta({ description: "The schema of the answer's `value`" }),
    expires_at: Time.optional().meta({ description: "Deadline in Unix milliseconds" }),
    workflow_id: z.string().nullable(),
    workflow_name: z.string(),
    simulated: z.boolean().meta({ description: "Whether the offline demo model answered in this run" }),
    node_id: z.string(),
    node_name: z.string(),
    agent_id: z.string().nullable().meta({ description: "Who asks; null if the node itself does" }),
    role_name: z.string().nullable(),
    requested_at: Time,
    urgency: z.enum(URGENCIES),
    assigned_to: z.string().nullable(),
    reminded_at: Time.nullable(),
    escalations: z.int().meta({ description: "How many more people were asked because no one answered" }),
    held: QuarantineReason.nullable(),
  })
  .catchall(Json);

export const RunSummary = z.object({
  id: z.string(),
  workflow_id: z.string().nullable(),
  workflow_name: z.string(),
  status: RunStatus,
  held: QuarantineReason.nullable().meta({
    description: "Why the run was quarantined, while its status is `held`: retry or cancel it",
  }),
  final_status: FinalStatus.nullable(),
  reason_code: z.string().nullable(),
  simulated: z.boolean().meta({ description: "Whether the offline demo model answered" }),
  cost_usd: Cost,
  unknown_cost_calls: z
    .int()
    .meta({ description: "Number of calls with an unknown price, not included in cost_usd" }),
  input_tokens: z.number(),
  output_tokens: z.number(),
  trigger: z.string(),
  created_at: Time,
  started_at: Time.nullable(),
  finished_at: Time.nullable(),
  input_excerpt: z.string().meta({ description: "The beginning of its input, on one line" }),
  outcome_excerpt: z
    .string()
    .meta({ description: "The beginning of its result, or why there is none, on one line" }),
  waits_for: z.enum(["person", "time", "run"]).nullable().meta({
    description: "What it waits for; the run's `waiting_for` has details",
  }),
  wakes_at: Time.nullable().meta({
    description: "When it continues automatically, or stops waiting for a person",
  }),
  origin: z
    .object({
      kind: z.enum(["fork", "replay"]),
      run_id: z.string(),
      root: z.string().meta({ description: "The first run of the lineage" }),
      seq: z.int().meta({ description: "The last event both runs share" }),
    })
    .nullable()
    .meta({ description: "The run it was forked or replayed from; null if none" }),
  parent: z
    .object({
      run_id: z.string(),
      activation_id: z.string(),
      item: z.int().nullable().meta({ description: "The item of a map, from 0; null for a sub-workflow" }),
    })
    .nullable()
    .meta({ description: "The node of another run that started it; null if none" }),
  workflow_version: z
    .int()
    .nullable()
    .meta({ description: "The published version that it runs; null for the draft" }),
  trigger_id: z.string().nullable().meta({ description: "The trigger that started it; null if none" }),
  started_by: StartedBy.nullable().meta({ description: "Who started it; null in older runs" }),
});

/** Where runs execute; stalled runs include their workflow. */
export const Engine = EngineState.extend({
  troubled: z.array(StalledRun.extend({ workflow_id: z.string().nullable(), workflow_name: z.string() })),
});

/** What runs cost together. */
export const Spending = z.object({
  runs: z.int(),
  cost_usd: z.number().nullable().meta({ description: "Null if unknown" }),
  unknown_cost_calls: z
    .int()
    .meta({ description: "Number of calls with an unknown price, not included in cost_usd" }),
});

/** Which runs a list is to have. */
export const RunFilter = z.object({
  workflow_id: z.string().optional(),
  final_status: FinalStatus.optional().meta({ description: "Only runs with this final status" }),
  waits_for: z
    .enum(["person", "time", "run"])
    .optional()
    .meta({ description: "Only runs that are waiting for this" }),
  search: z
    .string()
    .max(200)
    .optional()
    .meta({
      description: `Words in the workflow's name, the input or the outcome, within the first ${RUN_TEXT.kept} characters of each`,
    }),
  since: z.coerce
    .number<number>()
    .optional()
    .meta({ description: "Created at or after this time, in Unix milliseconds" }),
  until: z.coerce
    .number<number>()
    .optional()
    .meta({ description: "Created at or before this time, in Unix milliseconds" }),
  cost_from: z.coerce
    .number<number>()
    .min(0)
    .optional()
    .meta({ description: "Cost at least this many US dollars" }),
  order: z.enum(RUN_ORDERS).default("newest"),
});

export const RunNode = z.object({
  status: z.enum(["idle", "ready", "running", "waiting", "completed", "failed", "skipped", "cancelled"]),
  count: z.int().meta({ description: "Number of executions" }),
  attempt: z.int().optional(),
  output: Values.nullable(),
  error: RunError.nullable(),
  tokens_used: z.int().meta({ description: "Total of all executions" }),
  cost_usd: Cost,
  unknown_cost_calls: z.int(),
});

export const at = { node_id: z.string(), activation_id: z.string() };

/** A task of a crew's plan, with what it came to. */
export const RunTask = z.object({
  ...at,
  task_id: z.string(),
  description: z.string(),
  status: z.string().meta({ description: "As in plan.json: pending, in_progress, completed, failed ..." }),
  assigned_agent: z.string().nullable(),
  required_role: z.string().nullable(),
  output: Json.nullable(),
  error_message: z.string().nullable(),
  tokens_used: z.number().meta({ description: "Total of all agents that worked on it" }),
  cost_usd: z.number().nullable().meta({ description: "In US dollars; null if a price is unknown" }),
  started_at: z.string().nullable(),
  completed_at: z.string().nullable(),
});

/** What a run waits for. */
export const WaitingFor = z.discriminatedUnion("for", [
  z.object({
    for: z.literal("person"),
    ...at,
    interaction_id: z.string().meta({ description: "ID of the question, as in `/questions`" }),
    kind: z.string(),
    until: Time,
  }),
  z.object({
    for: z.literal("limit"),
    limit: z.string().meta({ description: "Raise it with `/limits` to continue" }),
  }),
  z.object({ for: z.enum(["timer", "retry"]), ...at, until: Time }),
  z.object({
    for: z.literal("signal"),
    ...at,
    name: z.string().meta({ description: "Send it with `/signals`" }),
    until: Time.optional(),
  }),
]);

export const RunPlan = z.object({
  ...at,
  status: z
    .enum(["running", "completed", "failed", "stopped"])
    .meta({ description: "Status of the crew's work" }),
  plan: ExecutionPlan,
});

/** Where a paused run stands. */
const PausedAt = z.object({
  point: z.enum([...BREAKPOINT_KINDS, "anywhere"]),
  node_id: z.string().optional(),
  activation_id: z.string().optional(),
  agent_id: z.string().optional(),
  task_id: z.string().optional(),
  tool: z.string().optional(),
  key: z.string().optional(),
  edge_id: z.string().optional(),
  iteration: z.int().optional(),
  breakpoint: Breakpoint.optional().meta({ description: "The breakpoint that paused it" }),
  reason: z.enum(["person", "step", "breakpoint", "question"]),
  by: z.string(),
  since: Time,
});

export const Run = RunSummary.extend({
  last_seq: z.int().meta({ description: "The number of the last event" }),
  error: RunError.nullable(),
  warnings: z.array(z.string()),
  resumable: z.array(z.string()).meta({ description: "Limits that can be raised to continue" }),
  input: Values,
  state: Values,
  output: Values.nullable(),
  usage: Usage,
  inherited: z.object({ cost_usd: Cost, unknown_cost_calls: z.int(), usage: Usage }).nullable().meta({
    description: "What the runs it was forked or replayed from had spent; not included in the run's own cost",
  }),
  nodes: z.record(z.string(), RunNode),
  tasks: z.array(RunTask).meta({ description: "Tasks of its crews' plans" }),
  paused_at: PausedAt.nullable().meta({
    description: "Where it is paused, while its status is `paused`",
  }),
  waiting_for: z.array(WaitingFor).meta({
    description: "People, limits, times and signals that it waits for; other work can continue meanwhile",
  }),
  place: RunPlace.nullable().meta({
    description: "Where it executes; null if this server executes it or it isn't active",
  }),
});

export const RunEvent = z.looseObject({
  seq: z.int().meta({ description: "Event number, counted from 1 without gaps" }),
  ts: Time,
  type: z.string(),
  payload: Values,
  node_id: z.string().optional(),
  activation_id: z.string().optional(),
  agent_id: z.string().optional(),
  task_id: z.string().optional(),
  call_id: z.string().optional(),
  command_id: z.string().optional().meta({
    description: "The command that this event applies, or rejects if it is a warning",
  }),
});

/** A file of a run's workspace. */
export const RunFile = z.object({
  artifact_id: z.string(),
  path: z.string(),
  version: z.int(),
  size: z.number().meta({ description: "In bytes" }),
  kind: z.string(),
  media_type: z.string(),
  source: z.record(z.string(), z.string()).meta({ description: "Who wrote it" }),
  tainted: z.boolean().meta({ description: "Whether it may contain untrusted content" }),
  created_at: Time,
});

/** Places are counted in UTF-16 units. */
export const RunFilePart = RunFile.extend({
  content: z.string(),
  offset: z.int(),
  total: z.int().meta({ description: "Length of the entire file" }),
  next_offset: z.int().nullable().meta({ description: "Where to continue reading; null at the end" }),
});

export const VersionChoice = z.union([z.int().min(1), z.enum(["published", "draft"])]).meta({
  description:
    "The number of a published version, the newest one (`published`; the draft if nothing is published), or the draft",
});

export const StartRun = z
  .object({
    version: VersionChoice.optional(),
    input: Values.default({}).meta({ description: "Values for the keys of the start node" }),
    config: RunConfigChanges.optional().meta({
      description: "Settings for this run; all others come from the workflow",
    }),
  })
  .default({ input: {} });
