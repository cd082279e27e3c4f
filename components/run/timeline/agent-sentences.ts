import { describeTokens, formatDuration, formatTokens, ordinal } from "@/components/display/format";
import type { Usage } from "@/server/domain/agent/outcome";
import { formatCost, ofOneCall } from "@/server/domain/model/cost";
import { after, byPerson, closed, detail, person, type SentencesOf, story, who } from "./sentence-parts";

/** What an agent does in a turn named by the process; null for tasks of a plan. */
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

/** "1,200 tokens (1,000 for thoughts), $0.012" */
function paid(
  usage: Usage,
  { simulated, cost_usd = null }: { simulated?: boolean; cost_usd?: number | null },
) {
  return `${describeTokens(usage)}, ${simulated ? "simulated" : formatCost(ofOneCall(cost_usd))}`;
}

/** The sentences for events of agents and questions. */
export const agentSentences = {
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
    const variants = {
      completed: detail(`${agent} finished`, "completed"),
      failed: story(`${agent} failed${why}`, "failed"),
      handed_off: detail(`${agent} handed over`),
      rejected: story(`${agent} says that it cannot be done${why}`, "warning"),
      stopped: story(`${agent} was stopped: its result is not needed any more`, "cancelled"),
    };
    return variants[payload.status];
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

  tool_call_abandoned: ({ payload }) => story(payload.message, "warning"),

  interaction_requested: ({ payload }) => story(`A person is asked: ${payload.title}`, "waiting"),
  interaction_reminded: () => story("Half of the time to answer is over, and nobody has answered", "waiting"),
  interaction_escalated: ({ payload }) =>
    story(`Nobody answered in time, so ${payload.to} is asked`, "waiting"),
  interaction_extended: () => story("The question stays open a little longer", "waiting"),
  interaction_answered: ({ payload }) => {
    const message = payload.message ? `: ${payload.message}` : "";
    const variants = {
      approve: story(`${byPerson(payload.by)} approved it${message}`, "completed"),
      approve_always: story(
        `${byPerson(payload.by)} approved this tool for the rest of the run${message}`,
        "completed",
      ),
      reject: story(`${byPerson(payload.by)} said no${message}`, "warning"),
      cancel: story(`${byPerson(payload.by)} left the question open`, "warning"),
      chosen: story(`${byPerson(payload.by)} answered “${payload.option ?? ""}”${message}`, "completed"),
      given: story(`${byPerson(payload.by)} filled in the form${message}`, "completed"),
      expired: story("Nobody answered in time", "warning"),
    };
    return variants[payload.answer];
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
} satisfies SentencesOf;
