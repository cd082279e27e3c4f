import { describeTokens, formatDuration, formatTokens, ordinal } from "@/components/display/format";
import type { Usage } from "@/server/domain/agent/outcome";
import { formatCost, ofOneCall } from "@/server/domain/model/cost";
import { after, byPerson, closed, detail, person, type SentencesOf, story, who } from "./sentence-parts";

/** What an agent does in a turn named by the process; null for tasks of a plan. */
function describeTurn(id: string): string | null {
  const [, kind, count] = /^(round|hop|ballot|step|replan|criteria)-(\d+)$/.exec(id) ?? [];
  switch (kind) {
    case "round":
      return `started its turn in round ${count}`;
    case "hop":
      return count === "1" ? "started" : "continued";
    case "ballot":
      return `started voting in round ${count}`;
    case "step":
      return `started step ${count}`;
    case "replan":
      return "started replanning";
    case "criteria":
      return "started checking the result";
  }
  return (
    {
      proposal: "started the proposal",
      correction: "started improving the result",
      "casting-vote": "started the casting vote",
    }[id] ?? null
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
    const agent = `${agent_id ? person(agent_id) : payload.role_name}${payload.by_rule ? " (by rule)" : ""}`;
    if (turn) return story(`${agent} ${turn}`, "running");
    const task = id ? names.task(activation_id, id) : null;
    return story(task ? `${agent} started the task “${task}”` : `${agent} started`, "running");
  },
  iteration_started: ({ payload }) =>
    detail(`Turn ${payload.local_iteration} (${ordinal(payload.global_iteration)} in the run)`),
  message_added: ({ payload }) => {
    const origin = {
      system: "System prompt set",
      template: "Task sent to the model",
      reask: "Model asked for a valid response",
      nudge: "Model asked to change its approach",
      tool: "Tool result added",
      handoff: "Handoff context added",
      person: "Message from a person added",
      rule: "Message passed to the rule",
    };
    if (payload.message.role === "assistant") return detail("Response added");
    return detail(origin[payload.origin]);
  },
  llm_call_started: ({ payload }) => {
    const purpose = {
      task: "Model called",
      plan: "Model called to plan",
      route: "Model called to choose a route",
      manage: "Manager called to choose the next agent",
      vote: "Vote requested",
      judge: "Judge called",
      summary: "Summary requested",
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
      `Model call failed: ${closed(payload.error.message)}${
        payload.usage ? ` Used ${closed(paid(payload.usage, payload))}` : ""
      }${payload.will_retry ? ` Retrying${after(payload.delay_ms)}.` : ""}`,
      payload.will_retry ? "warning" : "failed",
    ),
  output_parsed: ({ payload }) => {
    if (!payload.ok) return story(`Invalid response: ${payload.errors.join("; ")}`, "warning");
    return detail(payload.repair === "none" ? "Response validated" : "Response validated after repair");
  },
  agent_finished: ({ agent_id, payload }) => {
    const agent = who(agent_id);
    const why = payload.error ? `: ${payload.error.message}` : "";
    const variants = {
      completed: detail(`${agent} finished`, "completed"),
      failed: story(`${agent} failed${why}`, "failed"),
      handed_off: detail(`${agent} handed off`),
      rejected: story(`${agent} rejected the task${why}`, "warning"),
      stopped: story(`${agent} stopped: its result was no longer needed`, "cancelled"),
    };
    return variants[payload.status];
  },
  agent_tainted: ({ agent_id, payload }) =>
    story(
      `${who(agent_id)} read untrusted content from ${payload.tool_name}; sending data out now needs approval`,
      "warning",
    ),
  context_condensed: ({ agent_id, payload }) => {
    const how = {
      pruned: "Old tool results removed from",
      summarised: "Older messages summarized in",
      reset: "All but the task removed from",
    };
    return detail(
      `${how[payload.kind]} ${agent_id ? person(agent_id) : "the agent"}'s context: ${formatTokens(payload.tokens_before)} → ${formatTokens(payload.tokens_after)} tokens`,
    );
  },
  stuck_detected: ({ agent_id, payload }) => {
    const then = {
      nudge: "Asked it to try another approach.",
      stop: "It was stopped.",
      escalate: "Asked a person.",
    };
    return story(
      `${who(agent_id)} got stuck in a loop: ${closed(payload.message)} ${then[payload.action]}`,
      "warning",
    );
  },
  guardrail_checked: ({ payload }) => {
    if (payload.ok) return detail(`Guardrail “${payload.name}” passed`, "completed");
    const then = {
      none: "",
      retry: " Will retry.",
      fail: " The task ends.",
      escalate: " Asked a person.",
      warn: " Continued with a warning.",
    };
    return story(
      `Guardrail “${payload.name}” failed: ${closed(payload.reason ?? "no reason given")}${then[payload.action]}`,
      payload.action === "fail" ? "failed" : "warning",
    );
  },

  tool_call_started: ({ agent_id, node_id, payload }, names) =>
    story(`${agent_id ? person(agent_id) : names.node(node_id)} called ${payload.tool_name}`, "running"),
  tool_call_refused: ({ payload }) => story(`${payload.tool_name} was blocked: ${payload.reason}`, "warning"),
  tool_call_retried: ({ payload }) =>
    story(
      `${payload.tool_name} failed with status ${payload.status_code}: ${closed(payload.error ?? "no reason given")} Retrying${after(payload.delay_ms)}.`,
      "warning",
    ),
  tool_call_completed: ({ payload }) =>
    payload.status_code === 200
      ? detail(
          `${payload.tool_name} finished${after(payload.latency_ms)}${payload.simulated ? " (simulated)" : ""}`,
          "completed",
        )
      : story(
          `${payload.tool_name} failed with status ${payload.status_code}${payload.error ? `: ${payload.error}` : ""}`,
          "warning",
        ),

  tool_call_abandoned: ({ payload }) => story(payload.message, "warning"),

  interaction_requested: ({ payload }) => story(`Asked a person: ${payload.title}`, "waiting"),
  interaction_reminded: () => story("Reminder: half the time to answer has passed", "waiting"),
  interaction_escalated: ({ payload }) => story(`No answer in time, so ${payload.to} was asked`, "waiting"),
  interaction_extended: () => story("Time to answer extended", "waiting"),
  interaction_answered: ({ payload }) => {
    const message = payload.message ? `: ${payload.message}` : "";
    const variants = {
      approve: story(`${byPerson(payload.by)} approved it${message}`, "completed"),
      approve_always: story(
        `${byPerson(payload.by)} approved this tool for the rest of the run${message}`,
        "completed",
      ),
      reject: story(`${byPerson(payload.by)} rejected it${message}`, "warning"),
      cancel: story(`${byPerson(payload.by)} skipped the question`, "warning"),
      chosen: story(`${byPerson(payload.by)} answered “${payload.option ?? ""}”${message}`, "completed"),
      given: story(`${byPerson(payload.by)} filled in the form${message}`, "completed"),
      expired: story("No one answered in time", "warning"),
    };
    return variants[payload.answer];
  },

  artifact_created: ({ payload }) =>
    payload.kind === "file"
      ? story(
          payload.version > 1
            ? `File ${payload.path} changed (version ${payload.version})`
            : `File ${payload.path} written`,
        )
      : detail(`Full result saved as ${payload.path}`),
  memory_stored: ({ agent_id, payload }) =>
    detail(
      `${who(agent_id)} stored “${payload.key}” in ${payload.scope} memory${payload.tainted ? ", from untrusted content" : ""}`,
    ),
} satisfies SentencesOf;
