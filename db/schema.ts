import { sql } from "drizzle-orm";
import {
  blob,
  index,
  integer,
  primaryKey,
  real,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";

// JSON columns stay text here: server/store parses them into domain objects.
// Times are Unix milliseconds.

export const workflows = sqliteTable(
  "workflows",
  {
    id: text("id").primaryKey(),
    name: text("name").notNull(),
    graph: text("graph").notNull(),
    /** Counts saves; a save names the revision it was made on. */
    revision: integer("revision").notNull().default(1),
    /** What its file asked for and nobody has allowed: keys as JSON. Never part of the drawing, so no file can set it. */
    withheld: text("withheld").notNull().default("[]"),
    createdAt: integer("created_at").notNull(),
    updatedAt: integer("updated_at").notNull(),
    /** Set while the workflow lies in the bin. */
    deletedAt: integer("deleted_at"),
  },
  (t) => [index("workflows_updated").on(t.deletedAt, t.updatedAt)],
);

/** Published versions, which never change. The newest is in use. */
export const workflowVersions = sqliteTable(
  "workflow_versions",
  {
    workflowId: text("workflow_id").notNull(),
    /** Counts the versions of the workflow, from 1. */
    number: integer("number").notNull(),
    name: text("name").notNull(),
    /** With copies of the crews and agents that it names. */
    graph: text("graph").notNull(),
    /** The roles that it uses, as JSON. */
    roles: text("roles").notNull(),
    /** Withheld permissions, as in `workflows`. */
    withheld: text("withheld").notNull().default("[]"),
    /** Its texts from imported files (`ForeignText`), as JSON; null: none. */
    foreignText: text("foreign_text"),
    note: text("note").notNull().default(""),
    /** Who published it, as named in the audit. */
    by: text("by").notNull(),
    /** SHA-256 of graph, roles, permissions and foreign texts, hex. */
    hash: text("hash").notNull(),
    /** Test results from when it was published, as JSON; null: no tests. */
    tests: text("tests"),
    createdAt: integer("created_at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.workflowId, t.number] })],
);

/** Drafts kept before later edits. */
export const restorePoints = sqliteTable(
  "restore_points",
  {
    id: integer("id").primaryKey({ autoIncrement: true }),
    workflowId: text("workflow_id").notNull(),
    name: text("name").notNull(),
    graph: text("graph").notNull(),
    /** Withheld permissions, as in `workflows`. */
    withheld: text("withheld").notNull(),
    /** What replaced this draft: edit | import | merge | replace | restore. */
    reason: text("reason", { enum: ["edit", "import", "merge", "replace", "restore"] }).notNull(),
    createdAt: integer("created_at").notNull(),
  },
  (t) => [index("restore_points_workflow").on(t.workflowId, t.createdAt)],
);

/** Triggers of workflows. */
export const triggers = sqliteTable(
  "triggers",
  {
    id: text("id").primaryKey(),
    workflowId: text("workflow_id").notNull(),
    kind: text("kind", { enum: ["webhook", "schedule", "form", "workflow"] }).notNull(),
    /** Its settings, by the schema of its kind, as JSON. */
    config: text("config").notNull(),
    isEnabled: integer("is_enabled", { mode: "boolean" }).notNull().default(true),
    /** SHA-256 of the key in its address, hex; null for kinds without an address. */
    keyHash: text("key_hash").unique(),
    /** The key itself, encrypted, so that its address can be shown again. */
    key: text("key"),
    /** Signing secrets, encrypted, as JSON; null: none. */
    secret: text("secret"),
    /** Of a schedule: the next planned time that has no fire yet. */
    nextAt: integer("next_at"),
    /** Fires in a row that failed. */
    failures: integer("failures").notNull().default(0),
    /** Why Troupe disabled it; null if it is enabled or a person disabled it. */
    disabledReason: text("disabled_reason"),
    /** Who saved it last, as named in the audit. */
    by: text("by").notNull(),
    createdAt: integer("created_at").notNull(),
    updatedAt: integer("updated_at").notNull(),
  },
  (t) => [index("triggers_workflow").on(t.workflowId)],
);

/** Fires of triggers: one per planned time, delivery or ended run. */
export const triggerFires = sqliteTable(
  "trigger_fires",
  {
    triggerId: text("trigger_id").notNull(),
    /** Unique within the trigger: the planned time, the ID of the delivery, or the ended run. */
    key: text("key").notNull(),
    plannedAt: integer("planned_at").notNull(),
    at: integer("at").notNull(),
    /** pending: recorded, its run not started yet. buffered: waits for an earlier run to end. */
    status: text("status", {
      enum: ["pending", "buffered", "started", "skipped", "missed", "failed"],
    }).notNull(),
    /** The input of its run while that has not started, as JSON; null for a planned time of a schedule, which has its own. */
    input: text("input"),
    runId: text("run_id"),
    /** Why no run started, as a sentence. */
    reason: text("reason"),
    /** SHA-256 of the body of a delivery, hex; null for other fires. */
    bodyHash: text("body_hash"),
    /** Of a form page: keyed hashes of the visitor's cookie and IP address. */
    visitor: text("visitor"),
    address: text("address"),
    /** Length of the chain of ended runs that led to this fire. */
    depth: integer("depth").notNull().default(0),
    /** Whether a person tested the trigger: such fires don't count as failures. */
    isTest: integer("is_test", { mode: "boolean" }).notNull().default(false),
  },
  (t) => [
    primaryKey({ columns: [t.triggerId, t.key] }),
    index("trigger_fires_order").on(t.triggerId, t.plannedAt),
    index("trigger_fires_recent").on(t.triggerId, t.at),
    index("trigger_fires_body").on(t.triggerId, t.bodyHash).where(sql`${t.bodyHash} is not null`),
    index("trigger_fires_status").on(t.status, t.triggerId),
  ],
);

/** Named secrets for HTTP requests. */
export const secrets = sqliteTable("secrets", {
  name: text("name").primaryKey(),
  /** AES-256-GCM record of the value, bound to its name. */
  value: text("value").notNull(),
  hint: text("hint"),
  /** Hosts that it may be sent to, as a JSON array. */
  hosts: text("hosts").notNull(),
  /** IDs of workflows that may use it, as a JSON array; null: all. */
  workflows: text("workflows"),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
});

/** Values that runs read as `vars.NAME`; a workflow's own override those of the installation. */
export const variables = sqliteTable(
  "variables",
  {
    /** "" for the installation. */
    workflowId: text("workflow_id").notNull().default(""),
    name: text("name").notNull(),
    /** JSON. */
    value: text("value").notNull(),
    updatedAt: integer("updated_at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.workflowId, t.name] })],
);

export const roles = sqliteTable("roles", {
  name: text("name").primaryKey(),
  content: text("role").notNull(),
  /** Built-in roles came with Troupe; people may change them. */
  builtin: integer("builtin", { mode: "boolean" }).notNull().default(false),
  revision: integer("revision").notNull().default(1),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
});

export const runs = sqliteTable(
  "runs",
  {
    id: text("id").primaryKey(),
    workflowId: text("workflow_id"),
    workflowName: text("workflow_name").notNull(),
    /** queued | running | waiting | held | finished */
    status: text("status", {
      enum: ["queued", "running", "waiting", "paused", "held", "finished"],
    }).notNull(),
    /** Why it is held, as JSON; null where it is not. */
    held: text("held"),
    /** How many times in a row the server ended while it computed this run, without progress since. */
    stops: integer("stops").notNull().default(0),
    /** The last turn of progress when that happened. */
    stoppedTurn: integer("stopped_turn"),
    finalStatus: text("final_status", { enum: ["COMPLETED", "ERROR", "INCOMPLETE", "CANCELLED"] }),
    reasonCode: text("reason_code"),
    interpreterVersion: integer("interpreter_version").notNull(),
    trigger: text("trigger").notNull(),
    simulated: integer("simulated", { mode: "boolean" }).notNull().default(false),
    costUsd: real("cost_usd").notNull().default(0),
    unknownCostCalls: integer("unknown_cost_calls").notNull().default(0),
    inputTokens: integer("input_tokens").notNull().default(0),
    outputTokens: integer("output_tokens").notNull().default(0),
    idempotencyKey: text("idempotency_key"),
    /** SHA-256 of what was asked for with the key, hex. */
    requestHash: text("request_hash"),
    createdAt: integer("created_at").notNull(),
    startedAt: integer("started_at"),
    finishedAt: integer("finished_at"),
    /** The last turn of its log, and the hash at which its chain of hashes stands. */
    lastTurn: integer("last_turn").notNull().default(0),
    logHash: text("log_hash"),
    /** When the first of its sleeps is over; null where it waits for none. */
    wakeAt: integer("wake_at"),
    /** The beginning of its input, and of its result or of why there is none, as words to be searched. */
    inputText: text("input_text").notNull().default(""),
    outcomeText: text("outcome_text").notNull().default(""),
    /** person | time | run: what it waits for; null if nothing. */
    waitsFor: text("waits_for", { enum: ["person", "time", "run"] }),
    /** The run that it began as, up to which event, and the first of that lineage; null where it began by itself. */
    forkedFrom: text("forked_from"),
    forkedSeq: integer("forked_seq"),
    rootRun: text("root_run"),
    /** fork | replay: what it makes of that run. */
    lineage: text("lineage", { enum: ["fork", "replay"] }),
    /** Of a fork: the turn of its original in which it goes its own way, as JSON. */
    forkTurn: text("fork_turn"),
    /** Of a run that a node of another run started: that run, the activation, and the item of a map from 0. */
    parentRun: text("parent_run"),
    parentActivation: text("parent_activation"),
    parentItem: integer("parent_item"),
    /** The published version that it runs; null: the draft. */
    workflowVersion: integer("workflow_version"),
    /** The trigger that started it. */
    triggerId: text("trigger_id"),
    /** Who started it, as JSON; null in older runs. */
    startedBy: text("started_by"),
    /** Set while the run lies in the bin. */
    deletedAt: integer("deleted_at"),
  },
  (t) => [
    index("runs_root").on(t.rootRun).where(sql`${t.rootRun} is not null`),
    index("runs_parent")
      .on(t.parentRun, t.parentActivation, t.parentItem)
      .where(sql`${t.parentRun} is not null`),
    index("runs_trigger_open")
      .on(t.triggerId)
      .where(sql`${t.triggerId} is not null and ${t.status} <> 'finished'`),
    index("runs_wake").on(t.wakeAt).where(sql`${t.wakeAt} is not null`),
    index("runs_created").on(t.createdAt),
    index("runs_workflow").on(t.workflowId, t.createdAt),
    index("runs_status").on(t.status),
    uniqueIndex("runs_idempotency").on(t.idempotencyKey),
    index("runs_deleted").on(t.deletedAt).where(sql`${t.deletedAt} is not null`),
    index("runs_waiting").on(t.waitsFor).where(sql`${t.waitsFor} is not null`),
  ],
);

/**
 * One row per turn of a run: the answer that began it and the events that followed, recorded together.
 * A row is the unit of atomicity, so it is the unit of storage.
 */
export const runTurns = sqliteTable(
  "run_turns",
  {
    runId: text("run_id").notNull(),
    turn: integer("turn").notNull(),
    /** The highest event number up to and including this turn. */
    lastSeq: integer("last_seq").notNull(),
    at: integer("at").notNull(),
    /** The key that settled, or null for the first turn; and its result. */
    key: text("key"),
    result: text("result"),
    events: text("events").notNull(),
    /** How many inline steps were settled in this turn. */
    inlined: integer("inlined").notNull().default(0),
    /** The links of the chain of hashes: see server/store/runs/log-chain.ts. Null in logs from before it. */
    chain: blob("chain", { mode: "buffer" }),
  },
  (t) => [primaryKey({ columns: [t.runId, t.turn] })],
);

export const runTimers = sqliteTable(
  "run_timers",
  { runId: text("run_id").notNull(), key: text("key").notNull(), dueAt: integer("due_at").notNull() },
  (t) => [primaryKey({ columns: [t.runId, t.key] })],
);

export const runSignals = sqliteTable(
  "run_signals",
  {
    runId: text("run_id").notNull(),
    name: text("name").notNull(),
    value: text("value").notNull(),
    sentAt: integer("sent_at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.runId, t.name] })],
);

/**
 * Runs that another process carries out, a stretch at a time: from where the log ends to where the run next rests. What was
 * not sent to the engine yet is what this table and `run_signals` say beyond what was.
 */
export const segments = sqliteTable(
  "stretches",
  {
    runId: text("run_id").primaryKey(),
    /** Counts the stretches of the run; what an earlier one says is not heard any more. */
    stretch: integer("stretch").notNull(),
    /** Whether it is at work elsewhere; what is left of it otherwise is its number. */
    isActive: integer("is_active", { mode: "boolean" }).notNull(),
    /** Whether the engine was told to begin it. */
    isPosted: integer("is_posted", { mode: "boolean" }).notNull(),
    /** The last turn of the log at its beginning. */
    fromTurn: integer("from_turn").notNull(),
    /** How many signals the run had at its beginning; and how many after them the engine was told of. */
    signalsBefore: integer("signals_before").notNull(),
    signalsSent: integer("signals_sent").notNull(),
    begunAt: integer("begun_at").notNull(),
    /** When it was last heard of. */
    heardAt: integer("heard_at"),
    /** The worker that last said something of it; and the one before, with when it changed. */
    worker: text("worker"),
    movedFrom: text("moved_from"),
    movedAt: integer("moved_at"),
  },
  (t) => [index("stretches_active").on(t.isActive).where(sql`${t.isActive} = 1`)],
);

/** The questions to people that are open, of all runs: written with the turn that asks, answers or withdraws. */
export const runQuestions = sqliteTable(
  "run_questions",
  {
    runId: text("run_id").notNull(),
    interactionId: text("interaction_id").notNull(),
    kind: text("kind").notNull(),
    title: text("title").notNull(),
    /** 0 is the most pressing: the place in URGENCIES. */
    urgency: integer("urgency").notNull(),
    assignedTo: text("assigned_to"),
    askedAt: integer("asked_at").notNull(),
    expiresAt: integer("expires_at"),
    remindedAt: integer("reminded_at"),
    /** How many more people were asked as nobody answered. */
    escalations: integer("escalations").notNull().default(0),
    /** The whole question as the state of its run holds it, with who asks, as JSON. */
    question: text("question").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.runId, t.interactionId] }),
    index("run_questions_order").on(t.urgency, t.expiresAt),
  ],
);

/** Notices of questions on their way to people outside of the app: written with the turn that gives cause for them. */
export const notices = sqliteTable(
  "notices",
  {
    id: integer("id").primaryKey({ autoIncrement: true }),
    runId: text("run_id").notNull(),
    interactionId: text("interaction_id").notNull(),
    /** asked | reminded | escalated */
    cause: text("cause").notNull(),
    /** Tells several of one cause apart. */
    nth: integer("nth").notNull().default(0),
    /** webhook | email */
    channel: text("channel").notNull(),
    /** waiting | sent | failed | obsolete */
    state: text("state").notNull().default("waiting"),
    attempts: integer("attempts").notNull().default(0),
    createdAt: integer("created_at").notNull(),
    /** When it is tried next. */
    dueAt: integer("due_at").notNull(),
    /** Why the last attempt failed, in a sentence. */
    fault: text("fault"),
  },
  (t) => [
    uniqueIndex("notices_once").on(t.runId, t.interactionId, t.cause, t.nth, t.channel),
    index("notices_due").on(t.dueAt).where(sql`${t.state} = 'waiting'`),
  ],
);

export const providers = sqliteTable("providers", {
  id: text("id").primaryKey(),
  name: text("name").notNull(),
  /** openai-compatible | offline */
  kind: text("kind").notNull(),
  baseUrl: text("base_url").notNull(),
  /** AES-256-GCM record of the key, bound to this row and base URL; null where there is none. */
  secret: text("secret"),
  secretHint: text("secret_hint"),
  /** Names of its own headers and, sealed like the key, their values; null where there are none. */
  headers: text("headers"),
  defaultModel: text("default_model").notNull(),
  /** Concurrency, rates, price overrides, learned capabilities. */
  settings: text("settings").notNull().default("{}"),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
});

export const apiTokens = sqliteTable("api_tokens", {
  id: text("id").primaryKey(),
  name: text("name").notNull(),
  /** SHA-256 of the token, hex. */
  hash: text("hash").notNull().unique(),
  hint: text("hint").notNull(),
  createdAt: integer("created_at").notNull(),
  lastUsedAt: integer("last_used_at"),
  revokedAt: integer("revoked_at"),
  /** Scopes, as a JSON array; null: all. */
  scopes: text("scopes"),
  /** IDs of workflows that it may see and use, as a JSON array; null: all. */
  workflows: text("workflows"),
  expiresAt: integer("expires_at"),
  /** Whether input sent with it is trusted. It is for tokens from before scopes. */
  isTrusted: integer("is_trusted", { mode: "boolean" }).notNull().default(true),
});

export const sessions = sqliteTable("sessions", {
  /** SHA-256 of the cookie's value, hex. */
  hash: text("hash").primaryKey(),
  createdAt: integer("created_at").notNull(),
  lastSeenAt: integer("last_seen_at").notNull(),
});

export const settings = sqliteTable("settings", {
  key: text("key").primaryKey(),
  value: text("value").notNull(),
});

/** The virtual workspace of a run: every write is a version of its own. */
export const workspaceFiles = sqliteTable(
  "workspace_files",
  {
    runId: text("run_id").notNull(),
    path: text("path").notNull(),
    version: integer("version").notNull(),
    artifactId: text("artifact_id").notNull(),
    /** file: written by an agent or a person; result: the whole output of a tool call that was cut for the model. */
    kind: text("kind").notNull(),
    mediaType: text("media_type").notNull(),
    size: integer("size").notNull(),
    content: text("content").notNull(),
    /** What wrote it: agent, role, node, tool. */
    source: text("source").notNull().default("{}"),
    /** It may hold words of strangers: the run had read some when this version was written. */
    tainted: integer("tainted", { mode: "boolean" }).notNull().default(true),
    /** The call that wrote it: a repeated call writes nothing twice. */
    writtenBy: text("written_by").notNull().unique(),
    createdAt: integer("created_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.runId, t.path, t.version] }),
    // A fork has the files of its original under the names that its log knows.
    uniqueIndex("workspace_files_artifact").on(t.runId, t.artifactId),
  ],
);

/** What agents remember. The full-text index beside it is made by its migration. */
export const memories = sqliteTable(
  "memories",
  {
    id: integer("id").primaryKey({ autoIncrement: true }),
    /** task | agent | run | workflow | project | global */
    scope: text("scope").notNull(),
    /** What the scope is bound to: a run, a workflow ...; "" for global. */
    scopeId: text("scope_id").notNull(),
    key: text("key").notNull(),
    /** The text; of any other value the words in it, for the search. */
    value: text("value").notNull(),
    /** A value that is no text, as JSON. */
    json: text("json"),
    importance: real("importance").notNull().default(0.5),
    /** Came from content that nobody here vouches for. */
    tainted: integer("tainted", { mode: "boolean" }).notNull().default(false),
    source: text("source").notNull().default("{}"),
    createdAt: integer("created_at").notNull(),
    updatedAt: integer("updated_at").notNull(),
    expiresAt: integer("expires_at"),
  },
  (t) => [
    uniqueIndex("memories_key").on(t.scope, t.scopeId, t.key),
    index("memories_expiry").on(t.expiresAt),
  ],
);

/** Tools written in the app; the newest version is the one in use. */
export const customTools = sqliteTable(
  "custom_tools",
  {
    name: text("name").notNull(),
    version: integer("version").notNull(),
    definition: text("definition").notNull(),
    createdAt: integer("created_at").notNull(),
    /** Set on the newest version while the tool lies in the bin. */
    deletedAt: integer("deleted_at"),
  },
  (t) => [primaryKey({ columns: [t.name, t.version] })],
);

export const mcpServers = sqliteTable("mcp_servers", {
  /** The word in `mcp:NAME/tool`. */
  name: text("name").primaryKey(),
  url: text("url").notNull(),
  /** AES-256-GCM record of the Authorization header, bound to this row and URL; null where there is none. */
  secret: text("secret"),
  secretHint: text("secret_hint"),
  /** AES-256-GCM record of the OAuth client and tokens, bound to this row and URL; null where there are none. */
  oauth: text("oauth"),
  isEnabled: integer("is_enabled", { mode: "boolean" }).notNull().default(true),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
});

/** The definition of a server's tool as a person approved it; servers of the operator's file have pins too. */
export const mcpPins = sqliteTable(
  "mcp_pins",
  {
    server: text("server").notNull(),
    tool: text("tool").notNull(),
    /** SHA-256 of the definition, hex. */
    fingerprint: text("fingerprint").notNull(),
    definition: text("definition").notNull(),
    approvedAt: integer("approved_at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.server, t.tool] })],
);

/** What a person said of a server's tool, for exactly the definition that they saw. */
export const mcpCorrections = sqliteTable(
  "mcp_corrections",
  {
    server: text("server").notNull(),
    tool: text("tool").notNull(),
    /** SHA-256 of the definition, hex: for another one it does not count. */
    fingerprint: text("fingerprint").notNull(),
    /** JSON. */
    word: text("word").notNull(),
    correctedAt: integer("corrected_at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.server, t.tool] })],
);

/** Crews that workflows use by their id. */
export const crews = sqliteTable("crews", {
  id: text("id").primaryKey(),
  name: text("name").notNull(),
  content: text("crew").notNull(),
  revision: integer("revision").notNull().default(1),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
});

/**
 * What members of crews did in runs that ended, in sums: they outlive the runs, and go with their workflow. `workflow_id`
 * and `crew_id` (of the library) are empty where there is none.
 */
export const crewWork = sqliteTable(
  "crew_work",
  {
    workflowId: text("workflow_id").notNull(),
    nodeId: text("node_id").notNull(),
    crewId: text("crew_id").notNull(),
    agentId: text("agent_id").notNull(),
    roleName: text("role_name").notNull(),
    /** What simulated models did says nothing of real ones. */
    simulated: integer("simulated", { mode: "boolean" }).notNull(),
    done: integer("done").notNull(),
    failed: integer("failed").notNull(),
    /** Of what was done: what a person did not take. */
    sentBack: integer("sent_back").notNull(),
  },
  (t) => [
    primaryKey({
      columns: [t.workflowId, t.nodeId, t.crewId, t.agentId, t.roleName, t.simulated],
    }),
    index("crew_work_role").on(t.roleName),
  ],
);

/** Tests of workflows. */
export const scenarioTests = sqliteTable(
  "scenario_tests",
  {
    workflowId: text("workflow_id").notNull(),
    id: text("id").notNull(),
    name: text("name").notNull(),
    /** The rest of it, as JSON. */
    content: text("content").notNull(),
    /** Its place among the workflow's tests. */
    place: integer("place").notNull(),
    revision: integer("revision").notNull().default(1),
    createdAt: integer("created_at").notNull(),
    updatedAt: integer("updated_at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.workflowId, t.id] })],
);

/** What became of tests each time that they were run. */
export const scenarioResults = sqliteTable(
  "scenario_results",
  {
    id: integer("id").primaryKey({ autoIncrement: true }),
    workflowId: text("workflow_id").notNull(),
    testId: text("test_id").notNull(),
    at: integer("at").notNull(),
    by: text("by").notNull(),
    /** passed | failed | not_run */
    status: text("status", { enum: ["passed", "failed", "not_run"] }).notNull(),
    /** Of the workflow, then. */
    revision: integer("revision").notNull(),
    /** The report, as JSON. */
    report: text("report").notNull(),
    tookMs: integer("took_ms").notNull(),
  },
  (t) => [index("scenario_results_test").on(t.workflowId, t.testId, t.at)],
);

/** What a judge said of something, and what a person says of it. */
export const judgeLabels = sqliteTable(
  "judge_labels",
  {
    workflowId: text("workflow_id").notNull(),
    /** Names the judge: its rubric and its model. */
    judge: text("judge").notNull(),
    /** Names what was judged. */
    item: text("item").notNull(),
    testId: text("test_id").notNull(),
    text: text("text").notNull(),
    score: real("score").notNull(),
    reason: text("reason").notNull(),
    at: integer("at").notNull(),
    /** 1: it is good. Null: no person has said. */
    label: integer("label", { mode: "boolean" }),
    labelledBy: text("labelled_by"),
    labelledAt: integer("labelled_at"),
  },
  (t) => [primaryKey({ columns: [t.workflowId, t.judge, t.item] })],
);

/** Agents that crews and workflows use by their id. */
export const agents = sqliteTable("agents", {
  id: text("id").primaryKey(),
  name: text("name").notNull().default(""),
  content: text("agent").notNull(),
  revision: integer("revision").notNull().default(1),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
});

/** Roles, crews and agents that were deleted, as they were. Workflows, runs and tools are marked in their own tables. */
export const bin = sqliteTable(
  "bin",
  {
    id: integer("id").primaryKey({ autoIncrement: true }),
    kind: text("kind", { enum: ["role", "crew", "agent", "memory", "test"] }).notNull(),
    /** Its name or id among those that are there, with what it belongs to. */
    key: text("key").notNull(),
    name: text("name").notNull(),
    content: text("content").notNull(),
    deletedAt: integer("deleted_at").notNull(),
  },
  (t) => [index("bin_key").on(t.kind, t.key), index("bin_deleted").on(t.deletedAt)],
);

/** Grants, confirmations, refusals and changes of secrets: only ever added to. */
export const audit = sqliteTable(
  "audit",
  {
    id: integer("id").primaryKey({ autoIncrement: true }),
    at: integer("at").notNull(),
    kind: text("kind").notNull(),
    who: text("who").notNull(),
    detail: text("detail").notNull().default("{}"),
  },
  (t) => [index("audit_at").on(t.at)],
);
