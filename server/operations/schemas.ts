import { z } from "zod";
import { LIMITS } from "@/server/access/limits";
import { BREAKPOINT_KINDS, Breakpoint } from "@/server/domain/agent/breakpoint";
import { MemoryScope } from "@/server/domain/agent/memory-scope";
import { FinalStatus, RunConfig, RunConfigChanges, RunError, Usage } from "@/server/domain/agent/outcome";
import { AgentConfig, RoleDefinition } from "@/server/domain/agent/role";
import { FINDING_LEVELS } from "@/server/domain/base/lenient-reader";
import { Json } from "@/server/domain/base/values";
import { CrewConfig } from "@/server/domain/crew/crew";
import { ExecutionPlan } from "@/server/domain/crew/plan";
import { WorkflowGraph, WorkflowNode } from "@/server/domain/graph/graph";
import { CAPABILITY_KINDS } from "@/server/domain/library/capabilities";
import { ProviderSettings } from "@/server/domain/model/provider";
import { EngineState, RunPlace, TroubledRun, WorkerState } from "@/server/domain/run/engine-state";
import { HeldReason } from "@/server/domain/run/held";
import { URGENCIES } from "@/server/domain/run/open-questions";
import { RUN_TEXT } from "@/server/domain/run/result";
import { RUN_ORDERS } from "@/server/domain/run/run-order";
import { CustomToolDefinition } from "@/server/domain/tool/custom-tool";
import { SearchKind, SearchPurpose } from "@/server/domain/tool/search-backend";
import { ToolSpec } from "@/server/domain/tool/tool";
import { MemorySource } from "@/server/store/memories";
import { MAIL_SECURITY } from "@/server/store/notice-settings";
import { NOTICE_CHANNELS } from "@/server/store/notices";
import { KeepRules } from "@/server/store/retention";
import { McpToolWord } from "@/server/tools/mcp/word";

// What the API says, as schemas: the answers are checked against them in tests, and the OpenAPI file is made from them.

const Time = z.int().meta({ description: "Unix time in milliseconds" });
const Values = z.record(z.string(), Json);

export const Finding = z.object({
  level: z.enum(FINDING_LEVELS),
  at: z.string().meta({ description: "Where in the file" }),
  message: z.string(),
  file: z.string().optional().meta({ description: "Which of several files" }),
  line: z.int().optional().meta({ description: "Its line in that file, from 1" }),
  node_id: z.string().optional().meta({ description: "The node that came of it" }),
});

export const ApiErrorBody = z.object({
  error: z.object({
    code: z.string().meta({ description: "Stays the same; made for programs" }),
    message: z.string().meta({ description: "One sentence for people" }),
    details: Json.optional(),
  }),
});

export const WorkflowProblem = z.object({
  severity: z.enum(["error", "warning"]),
  code: z.string(),
  message: z.string(),
  at: z.object({
    kind: z.enum(["workflow", "node", "edge"]),
    id: z.string().optional(),
    field: z.string().optional(),
  }),
});

/** A node of a drawing that is not finished: its settings may be missing or incomplete. */
export const UnfinishedNode = z.looseObject({
  id: z.string(),
  node_type: z.string(),
  config: Values.optional(),
});

/** What the export writes. */
export const WorkflowFile = z.object({
  troupe: z.int().meta({ description: "The version of the file" }),
  name: z.string().optional(),
  workflow: WorkflowGraph.extend({ nodes: z.record(z.string(), z.union([WorkflowNode, UnfinishedNode])) }),
  roles: z.array(RoleDefinition).optional(),
  tests: z.array(z.looseObject({ id: z.string(), name: z.string() })).optional(),
});

/** A workflow in OpenHands' spelling, which has no place for some of ours. */
export const OpenHandsGraph = z.looseObject({
  nodes: z.record(z.string(), z.looseObject({ node_type: z.string() })),
  edges: z.array(z.looseObject({ source_node_id: z.string(), target_node_id: z.string() })),
});

/** Something that runs of a workflow may use. */
export const CapabilityGrant = z.object({
  key: z.string().meta({ description: "Such as tool:http_request, host:api.example.com or memory:global" }),
  kind: z.enum(CAPABILITY_KINDS),
  name: z.string(),
  where: z.array(z.object({ node_id: z.string().optional(), role: z.string().optional() })),
  detail: z.string().optional().meta({ description: "The program of a code node" }),
  allowed: z.boolean(),
});

export const WorkflowSummary = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  revision: z.int(),
  node_count: z.int(),
  updated_at: Time,
});

const Cost = z.number().nullable().meta({
  description: "What is known of it, in US dollars; null: of nothing that was paid is the price known",
});

export const RunStatus = z
  .enum(["queued", "running", "waiting", "paused", "held", "finished"])
  .meta({ description: "paused: by a person, a step or a breakpoint; held: put aside by the server" });

export const NoticesShown = z.object({
  webhook: z.object({ is_on: z.boolean(), host: z.string() }).nullable(),
  email: z
    .object({
      is_on: z.boolean(),
      host: z.string(),
      port: z.int(),
      security: z.enum(MAIL_SECURITY),
      user: z.string(),
      from: z.string(),
      to: z.array(z.string()),
      has_password: z.boolean(),
    })
    .nullable(),
  troubles: z.array(
    z.object({
      channel: z.enum(NOTICE_CHANNELS),
      state: z.enum(["waiting", "failed"]).meta({ description: "waiting: it is tried again at `due_at`" }),
      attempts: z.int(),
      created_at: Time,
      due_at: Time,
      fault: z.string(),
      run_id: z.string(),
      workflow_id: z.string().nullable(),
      workflow_name: z.string(),
    }),
  ),
});

/** A question of any run; what it is exactly depends on its kind, as GET /runs/{id}/questions has it. */
export const QuestionOfRun = z
  .object({
    run_id: z.string(),
    interaction_id: z.string(),
    fingerprint: z.string().meta({ description: "Of exactly what is asked; an answer names it" }),
    kind: z.string(),
    title: z.string(),
    why: z.string(),
    options: z.array(z.object({ label: z.string(), value: z.string() })).meta({
      description: "The answers to choose from; empty where only a form is filled in",
    }),
    response_schema: Json.optional().meta({ description: "What `value` of the answer has to fit" }),
    expires_at: Time.optional().meta({ description: "Until when it can be answered, in Unix milliseconds" }),
    workflow_id: z.string().nullable(),
    workflow_name: z.string(),
    node_id: z.string(),
    node_name: z.string(),
    agent_id: z.string().nullable().meta({ description: "Who asks; null where the node itself does" }),
    role_name: z.string().nullable(),
    requested_at: Time,
    urgency: z.enum(URGENCIES),
    assigned_to: z.string().nullable(),
    reminded_at: Time.nullable(),
    escalations: z.int().meta({ description: "How many more people were asked as nobody answered" }),
    held: HeldReason.nullable(),
  })
  .catchall(Json);

export const RunSummary = z.object({
  id: z.string(),
  workflow_id: z.string().nullable(),
  workflow_name: z.string(),
  status: RunStatus,
  held: HeldReason.nullable().meta({
    description: "Why the run was put aside, while its status is `held`: try it again or cancel it",
  }),
  final_status: FinalStatus.nullable(),
  reason_code: z.string().nullable(),
  simulated: z.boolean().meta({ description: "The offline demo model wrote the answers" }),
  cost_usd: Cost,
  unknown_cost_calls: z.int().meta({ description: "Calls whose price is unknown; they are not in cost_usd" }),
  input_tokens: z.number(),
  output_tokens: z.number(),
  trigger: z.string(),
  created_at: Time,
  started_at: Time.nullable(),
  finished_at: Time.nullable(),
  input_excerpt: z.string().meta({ description: "The beginning of its input in one line" }),
  outcome_excerpt: z
    .string()
    .meta({ description: "The beginning of its result, or why there is none, in one line" }),
  waits_for: z.enum(["person", "time"]).nullable().meta({
    description: "What stands between it and its going on; `waiting_for` of the run has more",
  }),
  wakes_at: Time.nullable().meta({
    description: "When it goes on by itself, or no longer waits for a person",
  }),
  origin: z
    .object({
      kind: z.enum(["fork", "replay"]),
      run_id: z.string(),
      root: z.string().meta({ description: "The first run of the lineage" }),
      seq: z.int().meta({ description: "The last event that both runs have" }),
    })
    .nullable()
    .meta({ description: "The run that it began as; null where it began by itself" }),
});

/** Who carries out runs; what the engine cannot get on with is named by its workflow as well. */
export const Engine = EngineState.extend({
  troubled: z.array(TroubledRun.extend({ workflow_id: z.string().nullable(), workflow_name: z.string() })),
});

/** What runs cost together. */
export const Spending = z.object({
  runs: z.int(),
  cost_usd: z.number().nullable().meta({ description: "Null: nothing of it is known" }),
  unknown_cost_calls: z.int().meta({ description: "Calls whose price is unknown; they are not in cost_usd" }),
});

/** Which runs a list is to have. */
export const RunFilter = z.object({
  workflow_id: z.string().optional(),
  final_status: FinalStatus.optional().meta({ description: "Only runs that ended like this" }),
  waits_for: z.enum(["person", "time"]).optional().meta({ description: "Only runs that wait for this" }),
  search: z
    .string()
    .max(200)
    .optional()
    .meta({
      description: `Words that the workflow's name, the input or the outcome hold, of each the first ${RUN_TEXT.kept} characters`,
    }),
  since: z.coerce
    .number<number>()
    .optional()
    .meta({ description: "Created at this Unix time or later, in milliseconds" }),
  until: z.coerce
    .number<number>()
    .optional()
    .meta({ description: "Created at this Unix time or before, in milliseconds" }),
  cost_from: z.coerce
    .number<number>()
    .min(0)
    .optional()
    .meta({ description: "Cost so many US dollars or more" }),
  order: z.enum(RUN_ORDERS).default("newest"),
});

export const RunNode = z.object({
  status: z.enum(["idle", "ready", "running", "waiting", "completed", "failed", "skipped", "cancelled"]),
  count: z.int().meta({ description: "How many times it ran" }),
  attempt: z.int().optional(),
  output: Values.nullable(),
  error: RunError.nullable(),
  tokens_used: z.int().meta({ description: "Of all times that it ran" }),
  cost_usd: Cost,
  unknown_cost_calls: z.int(),
});

const at = { node_id: z.string(), activation_id: z.string() };

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
  tokens_used: z.number().meta({ description: "Of everybody who worked on it" }),
  cost_usd: z.number().nullable().meta({ description: "In US dollars; null: a price among it is unknown" }),
  started_at: z.string().nullable(),
  completed_at: z.string().nullable(),
});

/** What stands between a run and its going on. */
export const WaitingFor = z.discriminatedUnion("for", [
  z.object({
    for: z.literal("person"),
    ...at,
    interaction_id: z.string().meta({ description: "The question, as `/questions` tells it" }),
    kind: z.string(),
    until: Time,
  }),
  z.object({
    for: z.literal("limit"),
    limit: z.string().meta({ description: "Raise it by `/limits`, and the run goes on" }),
  }),
  z.object({ for: z.enum(["timer", "retry"]), ...at, until: Time }),
  z.object({
    for: z.literal("signal"),
    ...at,
    name: z.string().meta({ description: "Send it by `/signals`" }),
    until: Time.optional(),
  }),
]);

export const RunPlan = z.object({
  ...at,
  status: z.enum(["running", "completed", "failed", "stopped"]).meta({ description: "Of the crew's work" }),
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
  breakpoint: Breakpoint.optional().meta({ description: "The one that holds it" }),
  reason: z.enum(["person", "step", "breakpoint", "question"]),
  by: z.string(),
  since: Time,
});

export const Run = RunSummary.extend({
  last_seq: z.int().meta({ description: "The number of the last event" }),
  error: RunError.nullable(),
  warnings: z.array(z.string()),
  resumable: z.array(z.string()).meta({ description: "Limits that may be raised to go on" }),
  input: Values,
  state: Values,
  output: Values.nullable(),
  usage: Usage,
  inherited: z
    .object({ cost_usd: Cost, unknown_cost_calls: z.int(), usage: Usage })
    .nullable()
    .meta({ description: "What the runs that it comes from had paid; none of it is in the run's own cost" }),
  nodes: z.record(z.string(), RunNode),
  tasks: z.array(RunTask).meta({ description: "Of the plans of its crews" }),
  paused_at: PausedAt.nullable().meta({
    description: "Where a person, a step or a breakpoint holds it, while its status is `paused`",
  }),
  waiting_for: z
    .array(WaitingFor)
    .meta({ description: "People, limits and times; other work may go on beside them" }),
  place: RunPlace.nullable().meta({
    description: "Where it is at work; null where the server carries it out itself, or it is not at work",
  }),
});

export const RunEvent = z.looseObject({
  seq: z.int().meta({ description: "Counts from 1 without gaps" }),
  ts: Time,
  type: z.string(),
  payload: Values,
  node_id: z.string().optional(),
  activation_id: z.string().optional(),
  agent_id: z.string().optional(),
  task_id: z.string().optional(),
  call_id: z.string().optional(),
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
  tainted: z.boolean().meta({ description: "It may hold words of strangers" }),
  created_at: Time,
});
/** Places are counted in UTF-16 units. */
export const RunFilePart = RunFile.extend({
  content: z.string(),
  offset: z.int(),
  total: z.int().meta({ description: "Of the whole file" }),
  next_offset: z.int().nullable().meta({ description: "Where to go on reading; null at the end" }),
});

export const StoredRole = z.object({
  role: RoleDefinition,
  revision: z.int(),
  builtin: z.boolean(),
  updated_at: Time,
  origin: z
    .object({ kind: z.literal("folder"), file: z.string() })
    .optional()
    .meta({ description: "Present on roles that are read from a file; they are changed only there" }),
});

const inLibrary = {
  id: z.string().meta({ description: "What others name it by" }),
  name: z.string(),
  revision: z.int(),
  updated_at: Time,
};
export const StoredCrew = z.object({ ...inLibrary, crew: CrewConfig });
export const StoredAgent = z.object({ ...inLibrary, agent: AgentConfig });

/** What agents remember. */
export const StoredMemory = z.object({
  id: z.int(),
  scope: MemoryScope,
  scope_id: z.string().meta({ description: "What the scope is bound to: a run, a workflow ..." }),
  key: z.string(),
  value: Json.meta({ description: "A text, or any other JSON value" }),
  importance: z.number().meta({ description: "0 to 1" }),
  tainted: z.boolean().meta({ description: "It came from content that nobody here vouches for" }),
  source: MemorySource.meta({ description: "Who wrote it, and where" }),
  created_at: Time,
  updated_at: Time,
  expires_at: Time.nullable().meta({ description: "Null: it stays until it is removed" }),
});
/** With what it is bound to. */
export const PlacedMemory = StoredMemory.extend({
  place: z.object({
    workflow: z.object({ id: z.string(), name: z.string() }).nullable(),
    run: z.object({ id: z.string(), name: z.string(), workflow_id: z.string().nullable() }).nullable(),
  }),
});

const Bytes = z.number().meta({ description: "In bytes" });

export const StorageState = z.object({
  sizes: z.object({
    database: Bytes,
    free: Bytes.meta({ description: "Of the database: what deleted runs left, in bytes" }),
    can_shrink: z.boolean(),
    wal: Bytes,
    files: Bytes.meta({ description: "Of the database: files of runs, in bytes" }),
    copies: z.object({ count: z.int(), bytes: Bytes }),
    runs: z.object({ finished: z.int(), held: z.int(), other: z.int() }),
  }),
  rules: KeepRules,
  outdated: z.int().meta({ description: "Finished runs that the rules do not keep" }),
});

const UsedBy = z.array(z.string()).meta({ description: "The roles that name it" });

export const ListedTools = z.object({
  tools: z.array(ToolSpec.extend({ used_by: UsedBy })),
  crew: z
    .array(
      z.object({
        name: z.string(),
        description: z.string(),
        grant: z
          .enum(["always", "way", "role", "delegation"])
          .meta({ description: "What gives it to agents" }),
        used_by: UsedBy,
      }),
    )
    .meta({ description: "What a run carries out itself" }),
});

/** What a search uses. Nothing of its key is told. */
export const SearchService = z.object({
  purpose: SearchPurpose,
  kind: SearchKind.nullable().meta({ description: "Null: nothing is set up" }),
  base_url: z.string(),
  has_key: z.boolean(),
});

/** A version of a tool that was written in the app. */
export const CustomTool = z.object({
  definition: CustomToolDefinition,
  version: z.int(),
  created_at: Time,
  deleted_at: Time.nullable().meta({ description: "Set while it lies in the bin" }),
});

const McpTool = z.object({
  name: z.string().meta({ description: "As the server calls it" }),
  full_name: z.string().meta({ description: "As roles and calls name it" }),
  description: z.string(),
  input_schema: Values,
  output_schema: Values.nullable(),
  state: z.enum(["approved", "new", "changed", "gone"]).meta({
    description: "approved: may be called; new, changed: a person must approve it first; gone: not there now",
  }),
  fingerprint: z.string().meta({ description: "Of its definition" }),
  hints: z
    .object({
      read_only: z.boolean(),
      destructive: z.boolean(),
      idempotent: z.boolean(),
      open_world: z.boolean(),
    })
    .partial()
    .meta({ description: "What the server says of it; nothing here believes it but where it warns" }),
  fixed: McpToolWord.nullable().meta({ description: "What the operator's file says of it" }),
  corrected: z
    .object({ ...McpToolWord.shape, holds: z.boolean() })
    .nullable()
    .meta({ description: "What a person said of it" }),
});

/** An MCP server. Its address and command are not told: they may hold keys. */
export const McpServer = z.object({
  name: z.string(),
  kind: z.enum(["http", "stdio"]),
  state: z.enum(["off", "connecting", "connected", "failed", "needs_sign_in"]),
  is_enabled: z.boolean(),
  from_file: z.boolean().meta({ description: "Declared by whoever runs Troupe; it is changed there" }),
  has_authorization: z.boolean(),
  sign_in: z
    .object({
      state: z.enum(["none", "signed_in"]),
      host: z.string().nullable().meta({ description: "Who granted access" }),
      scope: z.string().nullable(),
      until: z.number().nullable().meta({ description: "Unix time in milliseconds" }),
      renews: z.boolean(),
      as_program: z.boolean(),
      wants_more: z.string().nullable(),
    })
    .nullable()
    .meta({ description: "Access that a person granted; null where it is not reached over HTTP" }),
  connected_at: Time.nullable(),
  latency_ms: z.number().nullable(),
  tools: z.array(McpTool),
});

/** A place that answers model calls. Nothing of its key and the values of its headers is told. */
export const ModelProvider = z.object({
  id: z.string(),
  name: z.string(),
  kind: z.enum(["openai-compatible", "offline"]),
  base_url: z.string(),
  has_key: z.boolean(),
  header_names: z.array(z.string()).meta({ description: "Headers of its own that go with each request" }),
  default_model: z.string(),
  is_default: z.boolean(),
  simulated: z.boolean().meta({ description: "Answers by rules, not by an AI" }),
  from_environment: z.boolean().meta({ description: "It is changed there" }),
  settings: ProviderSettings,
  is_damaged: z
    .boolean()
    .optional()
    .meta({ description: "Its settings cannot be read; no call goes out until they are saved again" }),
});

export const ProviderCheck = z.object({
  ok: z.boolean(),
  message: z.string().meta({ description: "That it works, or what is wrong and what to do" }),
  found: z.array(z.string()),
  models: z.array(z.string()),
  latency_ms: z.number(),
});

export const StartRun = z
  .object({
    input: Values.default({}).meta({ description: "Values for the keys that the start node asks for" }),
    config: RunConfigChanges.optional().meta({
      description: "Settings of this run; the rest is the workflow's own",
    }),
  })
  .default({ input: {} });

export const Page = z.object({
  limit: z.coerce.number().int().min(1).max(LIMITS.page.largest).default(LIMITS.page.normal),
  cursor: z.string().max(200).optional().meta({ description: "The next_cursor of the page before" }),
});

/** Schemas that the OpenAPI file names. */
export const NAMED_SCHEMAS: Record<string, z.ZodType> = {
  Error: ApiErrorBody,
  Finding,
  Problem: WorkflowProblem,
  WorkflowFile,
  WorkflowGraph,
  WorkflowNode,
  UnfinishedNode,
  OpenHandsGraph,
  CapabilityGrant,
  WorkflowSummary,
  RunSummary,
  Run,
  RunNode,
  RunTask,
  RunPlan,
  WaitingFor,
  RunPlace,
  Engine,
  Worker: WorkerState,
  ExecutionPlan,
  RunEvent,
  RunError,
  RunConfig,
  Usage,
  RoleDefinition,
  StoredRole,
  CrewConfig,
  StoredCrew,
  AgentConfig,
  StoredAgent,
  StoredMemory,
  PlacedMemory,
  SearchService,
  CustomTool,
  McpServer,
  ModelProvider,
  Json,
};
