import {
  countOf,
  describeTokens,
  formatDuration,
  formatList,
  formatTokens,
  ordinal,
} from "@/components/display/format";
import type { RaisableLimit, Usage } from "@/server/domain/agent/outcome";
import { keysOf } from "@/server/domain/base/guards";
import type { ExecutionPlan, TaskStatus } from "@/server/domain/crew/plan";
import { CREW_PROCESSES } from "@/server/domain/crew/processes";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { costInWords, formatDollars, ofOneCall } from "@/server/domain/model/cost";
import type { NodeStatus } from "@/server/domain/run";
import { pausedPlaceInWords, targetInWords } from "@/server/domain/run/control-words";
import type { EventType, RunEvent, RunEventOf } from "@/server/domain/run/events";

/** What an event means to a person. `level`: what belongs to the story, and what only to the details. */
export interface Sentence {
  text: string;
  tone: NodeStatus | "plain" | "warning";
  level: "story" | "detail";
}

/** Names for the ids that events carry. */
export interface Names {
  node(id: string | undefined): string;
  edge(id: string): string;
  task(activationId: string | undefined, taskId: string | undefined): string;
}

/** Tasks are called by what is to be done, as far as that fits. */
/** What an agent does in a turn that the way of working named itself; null for tasks of a plan. */
function describeTurn(id: string): string | null {
  const [, kind, count] = /^(round|hop|ballot|step|replan|criteria)-(\d+)$/.exec(id) ?? [];
  switch (kind) {
    case "round":
      return `has its turn in round ${count}`;
    case "hop":
      return count === "1" ? "begins" : "goes on";
    case "ballot":
      return `votes in round ${count}`;
    case "step":
      return `does step ${count}`;
    case "replan":
      return "plans anew";
    case "criteria":
      return "checks the result";
  }
  return (
    { proposal: "writes the proposal", correction: "improves the result", "casting-vote": "decides" }[id] ??
    null
  );
}

const TASK_WORDS_MOST = 64;

/** How much of what agents say to each other a sentence holds. */
const SAID_MOST = 120;

/** Names from the graph that a run runs on, and from its plans as they come to be. */
export function newNames(
  graph: WorkflowGraph | null | undefined,
  plans: () => Readonly<Record<string, ExecutionPlan>> = () => ({}),
): Names {
  const node = (id: string | undefined) => {
    if (id === undefined) return "the run";
    const found = graph && Object.hasOwn(graph.nodes, id) ? graph.nodes[id] : undefined;
    return found?.name || id;
  };
  const edge = (id: string) => {
    const found = graph?.edges.find((candidate) => candidate.id === id);
    return found ? `${node(found.source_node_id)} → ${node(found.target_node_id)}` : id;
  };
  const task = (activationId: string | undefined, taskId: string | undefined) => {
    const tasks = (activationId === undefined ? undefined : plans()[activationId])?.tasks;
    const title = tasks?.find(({ task_id }) => task_id === taskId)?.description ?? taskId ?? "?";
    return title.length > TASK_WORDS_MOST ? `${title.slice(0, TASK_WORDS_MOST - 1).trimEnd()}…` : title;
  };
  return { node, edge, task };
}

const LIMIT_WORDS: Record<RaisableLimit, string> = {
  max_steps: "node runs",
  max_global_iterations: "model turns",
  max_active_ms: "running time",
  max_log_chars: "what it writes down",
  max_cost_usd: "cost",
  max_total_tokens: "tokens",
};

/** A limit in words. */
export function describeLimit(limit: RaisableLimit): string {
  return LIMIT_WORDS[limit];
}

/** A limit's value in its unit. */
export function limitValue(limit: RaisableLimit, value: number): string {
  if (limit === "max_active_ms") return formatDuration(value);
  if (limit === "max_cost_usd") return formatDollars(value);
  return value.toLocaleString("en-US");
}

const TASK_WORDS: Record<TaskStatus, string> = {
  pending: "is waiting its turn",
  in_progress: "began",
  completed: "is done",
  failed: "failed",
  blocked: "is blocked",
  skipped: "was skipped",
  cancelled: "was cancelled",
  awaiting_human: "waits for a person",
};

const TASK_TONES: Record<TaskStatus, Sentence["tone"]> = {
  pending: "plain",
  in_progress: "running",
  completed: "completed",
  failed: "failed",
  blocked: "waiting",
  skipped: "skipped",
  cancelled: "cancelled",
  awaiting_human: "waiting",
};

const story = (text: string, tone: Sentence["tone"] = "plain"): Sentence => ({ text, tone, level: "story" });
const detail = (text: string, tone: Sentence["tone"] = "plain"): Sentence => ({
  text,
  tone,
  level: "detail",
});
const keys = (names: readonly string[]) => formatList(names.map((name) => `“${name}”`));
const used = (metric: "cost_usd" | "total_tokens", value: number) =>
  metric === "cost_usd" ? formatDollars(value) : `${formatTokens(value)} tokens`;
const after = (ms: number | undefined) => (ms ? ` in ${formatDuration(ms)}` : "");

const NEXT_WORDS: Record<RunEventOf<"node_failed">["payload"]["next"], string> = {
  retry: "It will be tried again.",
  error_edge: "The run goes on along its error edge.",
  continue: "The run goes on with its default output.",
  skip_branch: "The branch behind it is skipped.",
  fail_run: "The run ends here.",
};

const FINAL_WORDS: Record<RunEventOf<"run_finished">["payload"]["final_status"], Sentence> = {
  COMPLETED: story("The run is completed", "completed"),
  ERROR: story("The run failed", "failed"),
  INCOMPLETE: story("The run stopped at a limit", "waiting"),
  CANCELLED: story("The run was cancelled", "cancelled"),
};

/** One sentence for every event type; the compiler refuses a type without one. */
const sentences: { [T in EventType]: (event: RunEventOf<T>, names: Names) => Sentence } = {
  run_created: ({ payload }) => {
    const by = {
      editor: "from the editor",
      api: "through the API",
      cli: "from the command line",
      test: "by a test",
    };
    const model = payload.provider_summary
      ? `, answered by ${payload.provider_summary.name}${payload.provider_summary.simulated ? " (simulated)" : ""}`
      : "";
    return story(`Run of ${payload.workflow_name || "a workflow"} created ${by[payload.trigger]}${model}`);
  },
  run_started: () => story("The run began", "running"),
  run_cancel_requested: ({ payload }) =>
    story(`Cancelling was asked for${payload.reason ? `: ${payload.reason}` : ""}`, "cancelled"),
  run_recovered: ({ payload }) =>
    story(
      payload.requeued.length > 0
        ? `The server came back; ${countOf(payload.requeued.length, "step")} under way went on`
        : "The server came back; the run went on",
      "running",
    ),
  clock_jumped: ({ payload }) =>
    detail(
      payload.ms > 0
        ? `The machine slept, or its clock was set forward: ${formatDuration(payload.ms)} do not count as running time`
        : "The machine's clock was set back; running time is measured without it",
    ),
  run_limit_raised: ({ payload }) =>
    story(
      `The limit of ${LIMIT_WORDS[payload.limit]} was raised ${
        payload.from === null ? "" : `from ${limitValue(payload.limit, payload.from)} `
      }to ${limitValue(payload.limit, payload.to)}`,
    ),
  run_resumed: () => story("The run goes on", "running"),
  run_paused: ({ payload: { reason, at, by, now } }, names) => {
    const place = at.point === "anywhere" ? "" : ` ${pausedPlaceInWords(at, names.node)}`;
    const why = {
      person: ` by ${by}`,
      step: ", one step on",
      breakpoint: " by a breakpoint",
      question: " for an answer",
    };
    const given = now ? "; calls of models under way were given up and are made again" : "";
    return story(`The run was paused${place}${why[reason]}${given}`, "waiting");
  },
  run_continued: ({ payload: { as, granularity } }) =>
    as === "resume"
      ? story("The run goes on", "running")
      : detail(`The run goes on by one ${granularity === "turn" ? "turn" : "node"}`, "running"),
  state_edited: ({ payload: { set, remove, by } }) => {
    const said = [
      ...(Object.keys(set).length > 0 ? [`set ${keys(Object.keys(set))}`] : []),
      ...(remove.length > 0 ? [`removed ${keys(remove)}`] : []),
    ];
    return story(`${by} ${said.join(" and ")} in the state`);
  },
  next_overridden: ({ node_id, payload: { to, agent_id, by } }, names) =>
    story(
      to === undefined
        ? `${by} chose ${agent_id ?? "another agent"} to go on in ${names.node(node_id)}`
        : `${by} sent the run from ${names.node(node_id)} to ${names.node(to)}`,
    ),
  member_changed: ({ node_id, payload: { agent_id, action, agent, by } }, names) =>
    story(
      {
        added: `${by} added ${agent_id} (${agent?.role_name ?? ""}) to the crew of ${names.node(node_id)}`,
        removed: `${by} took ${agent_id} out of the crew of ${names.node(node_id)}`,
        changed: `${by} changed ${agent_id} in the crew of ${names.node(node_id)}`,
      }[action],
    ),
  next_agent_taken: ({ payload: { agent_id } }) => detail(`${agent_id} goes on, as a person chose`),
  signal_received: ({ payload: { name, by } }) => story(`${by} sent the signal “${name}”`),
  signal_taken: ({ node_id, payload: { name } }, names) =>
    detail(`${names.node(node_id)} took the signal “${name}”, which had been sent before`),
  node_retried: ({ node_id, payload: { by, along } }, names) =>
    along
      ? detail(`${names.node(node_id)}, which that had stopped, begins anew`)
      : story(`${by} has ${names.node(node_id)} tried again`),
  instruction_injected: ({ payload: { target, text, by } }, names) =>
    story(`${by} told ${targetInWords(target, names.node)}: ${text}`),
  node_skipped_by: ({ node_id, payload }, names) =>
    story(`${payload.by} gave ${names.node(node_id)} its output; it is not carried out`, "skipped"),
  breakpoints_set: ({ payload: { breakpoints } }) =>
    detail(
      breakpoints.length === 0
        ? "All breakpoints were taken out"
        : `The run has ${countOf(breakpoints.length, "breakpoint")} now`,
    ),
  run_forked: ({ payload: { patches, graph } }) => {
    const { state, messages = [], plan = [] } = patches;
    const keys = [...Object.keys(state?.set ?? {}), ...(state?.remove ?? [])];
    const changes = [
      ...(keys.length > 0 ? [`another ${formatList(keys.map((key) => `“${key}”`))}`] : []),
      ...(messages.length > 0 ? [`${countOf(messages.length, "message")} changed`] : []),
      ...(plan.length > 0 ? ["a changed plan"] : []),
      ...(graph === "latest" ? ["the present drawing"] : []),
    ];
    const how = changes.length > 0 ? `, with ${formatList(changes)}` : "";
    return story(`From here on it goes its own way${how}; what came before is its original's`, "running");
  },
  run_finished: ({ payload }) => {
    const base = FINAL_WORDS[payload.final_status];
    return payload.error && payload.final_status !== "COMPLETED"
      ? { ...base, text: `${base.text}: ${payload.error.message}` }
      : base;
  },

  state_initialized: ({ payload }) => {
    const given = Object.keys(payload.state);
    const defaults =
      payload.defaults_applied.length > 0 ? `; ${keys(payload.defaults_applied)} by default` : "";
    return detail(
      given.length > 0 ? `The state begins with ${keys(given)}${defaults}` : "The state begins empty",
    );
  },
  state_patched: ({ payload }) =>
    detail(`${keys(Object.keys({ ...payload.set, ...payload.changed })) || "Nothing"} written to the state`),
  state_conflict: ({ payload }, names) =>
    story(
      `${payload.writers.map((writer) => names.node(writer.split("#")[0])).join(" and ")} both wrote “${
        payload.key
      }”; ${payload.policy === "strict" ? "that is not allowed here" : `the value of ${names.node(payload.winner.split("#")[0])} stays`}`,
      "warning",
    ),
  state_invalid: ({ payload }) =>
    story(`“${payload.key}” does not fit the state's schema: ${payload.errors.join("; ")}`, "failed"),

  node_ready: ({ node_id, payload }, names) =>
    detail(
      payload.iteration && payload.iteration > 1
        ? `${names.node(node_id)} is queued for its ${ordinal(payload.iteration)} round`
        : `${names.node(node_id)} is queued`,
      "ready",
    ),
  // A first attempt and an end without words are told by the heading of the node's part of the timeline.
  node_started: ({ node_id, payload }, names) =>
    payload.attempt > 1
      ? story(`${names.node(node_id)} began its ${ordinal(payload.attempt)} attempt`, "running")
      : detail(`${names.node(node_id)} began`, "running"),
  node_waiting: ({ node_id, payload }, names) => {
    const what = {
      timer: "for its time to come",
      signal: "for a signal",
      human: "for a person",
      limit: "at a limit that can be raised",
    };
    return story(`${names.node(node_id)} waits ${what[payload.for]}`, "waiting");
  },
  node_completed: ({ node_id, payload }, names) =>
    payload.pinned
      ? story(`${names.node(node_id)} gave its pinned output; it was not carried out`, "completed")
      : payload.written_keys.length > 0
        ? story(`${names.node(node_id)} is done and wrote ${keys(payload.written_keys)}`, "completed")
        : detail(`${names.node(node_id)} is done`, "completed"),
  node_failed: ({ node_id, payload }, names) =>
    story(
      `${names.node(node_id)} failed: ${closed(payload.error.message)} ${NEXT_WORDS[payload.next]}`,
      "failed",
    ),
  node_retry_scheduled: ({ node_id, payload }, names) =>
    story(
      `${names.node(node_id)} will be tried a ${ordinal(payload.attempt)} time${after(payload.delay_ms)}`,
      "waiting",
    ),
  node_skipped: ({ node_id, payload }, names) => {
    const why = {
      unreachable: "nothing leads there any more",
      condition: "its condition does not hold",
      join_shortfall: "too few of its branches arrived",
    };
    return story(`${names.node(node_id)} is skipped: ${why[payload.reason]}`, "skipped");
  },
  node_cancelled: ({ node_id, payload }, names) =>
    story(`${names.node(node_id)} was cancelled${payload.reason ? `: ${payload.reason}` : ""}`, "cancelled"),

  edge_taken: ({ payload }, names) =>
    detail(
      `${names.edge(payload.edge_id)} was taken${payload.label ? ` (${payload.label})` : ""}`,
      "completed",
    ),
  edge_skipped: ({ payload }, names) => detail(`${names.edge(payload.edge_id)} was not taken`, "skipped"),
  token_absorbed: ({ node_id }, names) =>
    detail(`A late branch arrived at ${names.node(node_id)} and was not needed`),
  join_rearmed: ({ node_id }, names) => detail(`${names.node(node_id)} is open for its branches again`),
  join_shortfall: ({ node_id, payload }, names) => {
    const then = { skip: "it is skipped", error: "that is an error", fire: "it runs anyway" };
    return story(
      `Only ${payload.got} of ${countOf(payload.need, "branch", "branches")} reached ${names.node(node_id)}; ${then[payload.action]}`,
      "warning",
    );
  },
  loop_started: ({ node_id, payload }, names) =>
    detail(`A loop begins at ${names.node(node_id)}, ${countOf(payload.max, "round")} at most`),
  loop_iteration: ({ node_id, payload }, names) =>
    story(`Round ${payload.iteration} of at most ${payload.max} at ${names.node(node_id)}`, "running"),
  loop_finished: ({ node_id, payload }, names) =>
    story(
      `The loop at ${names.node(node_id)} reached its limit of ${countOf(payload.iterations, "round")}${
        payload.exit_edge ? ` and leaves by ${names.edge(payload.exit_edge)}` : ""
      }`,
      "warning",
    ),
  router_decided: ({ node_id, payload }, names) =>
    story(
      payload.labels.length > 0
        ? `${names.node(node_id)} chose ${keys(payload.labels)}${payload.reason ? `: ${payload.reason}` : ""}`
        : `${names.node(node_id)} found no way to go on`,
      payload.labels.length > 0 ? "completed" : "warning",
    ),
  timer_fired: () => detail("The timer rang"),

  agent_started: ({ payload, agent_id, task_id, activation_id }, names) => {
    const id = task_id ?? payload.task_id;
    const turn = id ? describeTurn(id) : null;
    const agent = agent_id ? person(agent_id) : payload.role_name;
    if (turn) return story(`${agent} ${turn}`, "running");
    const task = id ? names.task(activation_id, id) : null;
    return story(task ? `${agent} takes up the task “${task}”` : `${agent} takes up the work`, "running");
  },
  iteration_started: ({ payload }) =>
    detail(`Turn ${payload.local_iteration} (the run's ${ordinal(payload.global_iteration)})`),
  message_added: ({ payload }) => {
    const origin = {
      system: "The role's prompt was set",
      template: "The task was put to the model",
      reask: "The model was asked again for an answer that fits",
      nudge: "The model was asked to change its ways",
      tool: "A tool's result joined the conversation",
      handoff: "What was handed over joined the conversation",
      person: "A person's words joined the conversation",
    };
    if (payload.message.role === "assistant") return detail("The answer joined the conversation");
    return detail(origin[payload.origin]);
  },
  llm_call_started: ({ payload }) => {
    const purpose = {
      task: "The model is asked",
      plan: "The model is asked for a plan",
      route: "The model is asked which way to go",
      manage: "The manager is asked who goes on",
      vote: "A vote is asked for",
      judge: "A judge is asked",
      summary: "A summary is asked for",
    };
    return detail(
      `${purpose[payload.purpose]}${payload.model ? ` (${payload.model})` : ""}${
        payload.attempt > 1 ? `, ${ordinal(payload.attempt)} attempt` : ""
      }`,
      "running",
    );
  },
  llm_call_completed: ({ payload }) =>
    story(
      `${payload.model} answered in ${formatDuration(payload.latency_ms)}: ${paid(payload.usage, payload)}`,
      "completed",
    ),
  llm_call_failed: ({ payload }) =>
    story(
      `The model did not answer: ${closed(payload.error.message)}${
        payload.usage ? ` It took ${closed(paid(payload.usage, payload))}` : ""
      }${payload.will_retry ? ` It will be asked again${after(payload.delay_ms)}.` : ""}`,
      payload.will_retry ? "warning" : "failed",
    ),
  output_parsed: ({ payload }) => {
    if (!payload.ok) return story(`The answer does not fit: ${payload.errors.join("; ")}`, "warning");
    return detail(payload.repair === "none" ? "The answer fits" : "The answer fits after a small repair");
  },
  agent_finished: ({ agent_id, payload }) => {
    const agent = who(agent_id);
    const why = payload.error ? `: ${payload.error.message}` : "";
    const ways = {
      completed: detail(`${agent} finished`, "completed"),
      failed: story(`${agent} failed${why}`, "failed"),
      handed_off: detail(`${agent} handed over`),
      rejected: story(`${agent} says that it cannot be done${why}`, "warning"),
      stopped: story(`${agent} was stopped: its result is not needed any more`, "cancelled"),
    };
    return ways[payload.status];
  },
  agent_tainted: ({ agent_id, payload }) =>
    story(
      `${who(agent_id)} read what ${payload.tool_name} brought from outside; from now on a person confirms what leaves`,
      "warning",
    ),
  context_condensed: ({ agent_id, payload }) => {
    const how = {
      pruned: "Old results of tools were taken out of",
      summarised: "The older part was summed up in",
      reset: "All but the task was taken out of",
    };
    return detail(
      `${how[payload.kind]} what ${who(agent_id)} reads: ${formatTokens(payload.tokens_before)} tokens became ${formatTokens(payload.tokens_after)}`,
    );
  },
  stuck_detected: ({ agent_id, payload }) => {
    const then = {
      nudge: "It was asked to try another way.",
      stop: "It was stopped.",
      escalate: "A person is asked.",
    };
    return story(
      `${who(agent_id)} goes round in circles: ${closed(payload.message)} ${then[payload.action]}`,
      "warning",
    );
  },
  guardrail_checked: ({ payload }) => {
    if (payload.ok) return detail(`The check “${payload.name}” passed`, "completed");
    const then = {
      none: "",
      retry: " It will be tried again.",
      fail: " That ends the task.",
      escalate: " A person is asked.",
      warn: " It goes on with a warning.",
    };
    return story(
      `The check “${payload.name}” did not pass: ${closed(payload.reason ?? "no reason was given")}${then[payload.action]}`,
      payload.action === "fail" ? "failed" : "warning",
    );
  },

  tool_call_started: ({ agent_id, node_id, payload }, names) =>
    story(`${agent_id ? person(agent_id) : names.node(node_id)} uses ${payload.tool_name}`, "running"),
  tool_call_refused: ({ payload }) =>
    story(`${payload.tool_name} was not carried out: ${payload.reason}`, "warning"),
  tool_call_retried: ({ payload }) =>
    story(
      `${payload.tool_name} failed with ${payload.status_code}: ${closed(payload.error ?? "no reason was given")} It will be called again${after(payload.delay_ms)}.`,
      "warning",
    ),
  tool_call_completed: ({ payload }) =>
    payload.status_code === 200
      ? detail(
          `${payload.tool_name} is done${after(payload.latency_ms)}${payload.simulated ? " (simulated)" : ""}`,
          "completed",
        )
      : story(
          `${payload.tool_name} failed with ${payload.status_code}${payload.error ? `: ${payload.error}` : ""}`,
          "warning",
        ),

  interaction_requested: ({ payload }) => story(`A person is asked: ${payload.title}`, "waiting"),
  interaction_reminded: () => story("Half of the time to answer is over, and nobody has answered", "waiting"),
  interaction_escalated: ({ payload }) =>
    story(`Nobody answered in time, so ${payload.to} is asked`, "waiting"),
  interaction_extended: () => story("The question stays open a little longer", "waiting"),
  interaction_answered: ({ payload }) => {
    const said = payload.message ? `: ${payload.message}` : "";
    const ways = {
      approve: story(`${byPerson(payload.by)} approved it${said}`, "completed"),
      approve_always: story(
        `${byPerson(payload.by)} approved this tool for the rest of the run${said}`,
        "completed",
      ),
      reject: story(`${byPerson(payload.by)} said no${said}`, "warning"),
      cancel: story(`${byPerson(payload.by)} left the question open`, "warning"),
      chosen: story(`${byPerson(payload.by)} answered “${payload.option ?? ""}”${said}`, "completed"),
      given: story(`${byPerson(payload.by)} filled in the form${said}`, "completed"),
      expired: story("Nobody answered in time", "warning"),
    };
    return ways[payload.answer];
  },

  artifact_created: ({ payload }) =>
    payload.kind === "file"
      ? story(
          payload.version > 1
            ? `The file ${payload.path} was changed (version ${payload.version})`
            : `The file ${payload.path} was written`,
        )
      : detail(`The whole result is kept as ${payload.path}`),
  memory_stored: ({ agent_id, payload }) =>
    detail(
      `${who(agent_id)} remembers “${payload.key}” for ${payload.scope}${payload.tainted ? ", from content of strangers" : ""}`,
    ),

  crew_started: ({ payload }) => {
    const count = countOf(payload.members.length, "agent");
    return story(`A crew of ${count} begins, ${CREW_PROCESSES[payload.process].how}`, "running");
  },
  crew_finished: ({ payload }) =>
    story(
      `The crew ${payload.status === "completed" ? "is done" : "failed"}${
        payload.rounds ? ` after ${countOf(payload.rounds, "round")}` : ""
      }`,
      payload.status,
    ),
  round_started: ({ payload }) => detail(`Round ${payload.round} of the crew begins`),
  post_sent: ({ payload }) => {
    const how = {
      post: "writes to",
      reply: "answers",
      question: "asks",
      answer: "answers",
      feedback: "gives feedback to",
      result: "passes its result on to",
    };
    return story(
      `${person(payload.from)} ${how[payload.kind]} ${person(payload.to)}: ${shortened(payload.message)}`,
    );
  },
  ledger_updated: ({ payload }) => {
    const step = payload.current_step ? `: ${shortened(payload.current_step)}` : "";
    const trouble = [
      payload.stalls > 0 ? `${countOf(payload.stalls, "round")} without progress` : "",
      payload.replans > 0 ? `${ordinal(payload.replans + 1)} plan` : "",
    ].filter(Boolean);
    const troubles = trouble.length > 0 ? ` (${trouble.join(", ")})` : "";
    const text = `The manager took stock${step}${troubles}`;
    return payload.stalls > 0 ? story(text, "warning") : detail(text);
  },
  board_written: ({ payload }) =>
    story(`${person(payload.alias)} wrote on the board: ${shortened(payload.bulletin)}`),
  handed_off: ({ payload }) =>
    story(
      `${person(payload.from)} hands over to ${person(payload.to)}${payload.reason ? `: ${shortened(payload.reason)}` : ""}`,
    ),
  delegation_started: ({ payload }) => {
    const how = { delegate: "gives a task to", ask: "asks", parallel: "gives a part to" };
    return story(
      `${person(payload.from)} ${how[payload.kind]} ${person(payload.to)}: ${shortened(payload.task)}`,
      "running",
    );
  },
  delegation_finished: ({ payload }) => {
    const [from, to] = [person(payload.from), person(payload.to)];
    const ways = {
      completed: detail(`${to} returned the result to ${from}`, "completed"),
      failed: story(`${to} could not do it for ${from}`, "failed"),
      // The agent's own end says so.
      stopped: detail(`${from} waits for ${to} no longer`, "cancelled"),
    };
    return ways[payload.status];
  },
  team_changed: ({ payload }) => {
    const members = formatList(payload.agents.map(person));
    const ways = {
      created: `${person(payload.by)} made the team “${payload.team}” of ${members}`,
      modified: `${person(payload.by)} changed the team “${payload.team}”: now ${members}`,
      dissolved: `${person(payload.by)} dissolved the team “${payload.team}”`,
    };
    return story(ways[payload.action]);
  },
  proposal_created: ({ payload }) =>
    story(`${person(payload.by)} proposes: ${shortened(payload.decision)}`, "waiting"),
  vote_cast: ({ payload }) => {
    const how = { approve: "votes for it", reject: "votes against it", abstain: "abstains" };
    return story(
      payload.forced
        ? `${person(payload.agent_id)} gave no valid vote, which counts as abstaining`
        : `${person(payload.agent_id)} ${how[payload.vote]}${payload.reasoning ? `: ${shortened(payload.reasoning)}` : ""}`,
    );
  },
  consensus_finalized: ({ payload }) => {
    const votes = `${payload.approve} for, ${payload.reject} against, ${payload.abstain} abstained`;
    const ways = {
      approved: story(`The proposal is accepted (${votes})`, "completed"),
      rejected: story(`The proposal is turned down (${votes})`, "warning"),
      tie: story(`The vote is a tie (${votes})`, "warning"),
      no_quorum: story(`Too few voted (${votes})`, "warning"),
    };
    return ways[payload.outcome];
  },

  plan_created: ({ payload }) => {
    const count = countOf(payload.plan.tasks.length, "task");
    return story(payload.by ? `${person(payload.by)} made a plan of ${count}` : `A plan of ${count} is set`);
  },
  plan_changed: ({ payload }) => {
    const parts = [
      payload.added?.length ? `${countOf(payload.added.length, "task")} added` : "",
      payload.changed ? `${countOf(Object.keys(payload.changed).length, "task")} changed` : "",
    ].filter(Boolean);
    const reason = payload.reason ? `: ${shortened(payload.reason)}` : "";
    return story(`${byPerson(payload.by)} changed the plan (${parts.join(", ") || "nothing new"})${reason}`);
  },
  criterion_checked: ({ payload }) =>
    story(
      `“${shortened(payload.criterion)}” is ${payload.met ? "met" : "not met"}${
        payload.evidence ? `: ${shortened(payload.evidence)}` : ""
      }`,
      payload.met ? "completed" : "warning",
    ),
  // Who takes up a task says so itself: the beginning is only a detail, unless somebody had to be chosen.
  task_status_changed: ({ task_id, activation_id, payload }, names) => {
    const who =
      payload.to === "in_progress" && payload.assigned_agent ? ` with ${person(payload.assigned_agent)}` : "";
    const cause = payload.error?.message ?? payload.chosen_because;
    const why = cause === undefined ? "" : `: ${cause}`;
    const by = payload.by ? ` by ${payload.by === "user" ? "a person" : person(payload.by)}` : "";
    const text = `The task “${names.task(activation_id, task_id)}” ${TASK_WORDS[payload.to]}${by}${who}${why}`;
    const isDetail = payload.to === "in_progress" || payload.to === "pending";
    return isDetail && payload.chosen_because === undefined
      ? detail(text, TASK_TONES[payload.to])
      : story(text, TASK_TONES[payload.to]);
  },

  budget_warning: ({ payload }) =>
    story(
      `${used(payload.metric, payload.used)} of ${used(payload.metric, payload.limit)} are used up`,
      "warning",
    ),
  budget_exceeded: ({ payload }) =>
    story(
      `The budget is used up: ${used(payload.metric, payload.used)} of ${used(payload.metric, payload.limit)}`,
      "failed",
    ),
  warning: ({ payload }) => story(payload.message, "warning"),
};

/** "1,200 tokens (1,000 for thoughts), $0.012" */
function paid(
  usage: Usage,
  { simulated, cost_usd = null }: { simulated?: boolean; cost_usd?: number | null },
) {
  return `${describeTokens(usage)}, ${simulated ? "simulated" : costInWords(ofOneCall(cost_usd))}`;
}

/** What happened, in a sentence for people. */
export function sentenceOf(event: RunEvent, names: Names): Sentence {
  const say = sentences[event.type] as ((event: RunEvent, names: Names) => Sentence) | undefined;
  // An event of a newer server than this page: shown by its name rather than not at all.
  return say ? say(event, names) : detail((event as { type: string }).type.replaceAll("_", " "));
}

/** Every event type that has a sentence. */
export const eventTypes = keysOf(sentences);

/** An agent as people call it: its id in words. "user" stands for whoever started the crew. */
export function person(agentId: string): string {
  if (agentId.toLowerCase() === "user") return "The requester";
  const agentName = agentId.replace(/[_-]+/g, " ").trim();
  return agentName === "" ? agentId : agentName.charAt(0).toUpperCase() + agentName.slice(1);
}

const who = (agentId: string | undefined) => (agentId ? person(agentId) : "The agent");

/** Whoever answered: the one person of this installation has no name of their own. */
export const byPerson = (by: string) => (by === "user" || by === "" ? "A person" : person(by));

/** The beginning of something long, on one line. */
function shortened(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > SAID_MOST ? `${line.slice(0, SAID_MOST - 1).trimEnd()}…` : line;
}

/** A message that ends as a sentence does. */
function closed(message: string): string {
  return /[.!?…]$/.test(message) ? message : `${message}.`;
}
