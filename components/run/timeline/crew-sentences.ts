import { countOf, formatList, ordinal } from "@/components/display/format";
import type { TaskStatus } from "@/server/domain/crew/plan";
import { CREW_PROCESSES } from "@/server/domain/crew/processes";
import { byPerson, detail, named, person, type Sentence, type SentencesOf, story } from "./sentence-parts";

/** How much of a message between agents a sentence shows, in characters. */
const MAX_MESSAGE_LENGTH = 120;

const TASK_STATUS_LABELS: Record<TaskStatus, string> = {
  pending: "is pending",
  in_progress: "started",
  completed: "finished",
  failed: "failed",
  blocked: "is blocked",
  skipped: "was skipped",
  cancelled: "was cancelled",
  awaiting_human: "is waiting for a person",
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

/** The beginning of something long, on one line. */
function shortened(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > MAX_MESSAGE_LENGTH ? `${line.slice(0, MAX_MESSAGE_LENGTH - 1).trimEnd()}…` : line;
}

/** What a crew does, in sentences. */
export const crewSentences = {
  crew_started: ({ payload }) => {
    const count = countOf(payload.members.length, "agent");
    return story(`A crew of ${count} started, ${CREW_PROCESSES[payload.process].how}`, "running");
  },
  crew_finished: ({ payload }) =>
    story(
      `The crew ${payload.status === "completed" ? "finished" : "failed"}${
        payload.rounds ? ` after ${countOf(payload.rounds, "round")}` : ""
      }`,
      payload.status,
    ),
  round_started: ({ payload }) => detail(`Crew started round ${payload.round}`),
  post_sent: ({ payload }) => {
    const how = {
      post: "wrote to",
      reply: "answered",
      question: "asked",
      answer: "answered",
      feedback: "gave feedback to",
      result: "sent its result to",
    };
    return story(
      `${person(payload.from)} ${how[payload.kind]} ${named(payload.to)}: ${shortened(payload.message)}`,
    );
  },
  ledger_updated: ({ payload }) => {
    const step = payload.current_step ? `: ${shortened(payload.current_step)}` : "";
    const issues = [
      payload.stalls > 0 ? `${countOf(payload.stalls, "round")} without progress` : "",
      payload.replans > 0 ? `${ordinal(payload.replans + 1)} plan` : "",
    ].filter(Boolean);
    const issueText = issues.length > 0 ? ` (${issues.join(", ")})` : "";
    const text = `The manager updated the ledger${step}${issueText}`;
    return payload.stalls > 0 ? story(text, "warning") : detail(text);
  },
  board_written: ({ payload }) =>
    story(`${person(payload.alias)} posted on the board: ${shortened(payload.bulletin)}`),
  handed_off: ({ payload }) =>
    story(
      `${person(payload.from)} handed off to ${named(payload.to)}${payload.reason ? `: ${shortened(payload.reason)}` : ""}`,
    ),
  delegation_started: ({ payload }) => {
    const how = { delegate: "delegated a task to", ask: "asked", parallel: "delegated part of a task to" };
    return story(
      `${person(payload.from)} ${how[payload.kind]} ${named(payload.to)}: ${shortened(payload.task)}`,
      "running",
    );
  },
  delegation_finished: ({ payload }) => {
    const [from, to] = [person(payload.from), person(payload.to)];
    const variants = {
      completed: detail(`${to} returned the result to ${named(payload.from)}`, "completed"),
      failed: story(`${to} couldn't complete the task for ${named(payload.from)}`, "failed"),
      // The agent's own end says so.
      stopped: detail(`${from} stopped waiting for ${named(payload.to)}`, "cancelled"),
    };
    return variants[payload.status];
  },
  team_changed: ({ payload }) => {
    const members = formatList(payload.agents.map(named));
    const variants = {
      created: `${person(payload.by)} created the team “${payload.team}” with ${members}`,
      modified: `${person(payload.by)} changed the team “${payload.team}” to ${members}`,
      dissolved: `${person(payload.by)} dissolved the team “${payload.team}”`,
    };
    return story(variants[payload.action]);
  },
  proposal_created: ({ payload }) =>
    story(`${person(payload.by)} proposed: ${shortened(payload.decision)}`, "waiting"),
  vote_cast: ({ payload }) => {
    const how = { approve: "voted for it", reject: "voted against it", abstain: "abstained" };
    return story(
      payload.forced
        ? `${person(payload.agent_id)} cast no valid vote; counted as an abstention`
        : `${person(payload.agent_id)} ${how[payload.vote]}${payload.reasoning ? `: ${shortened(payload.reasoning)}` : ""}`,
    );
  },
  consensus_finalized: ({ payload }) => {
    const votes = `${payload.approve} for, ${payload.reject} against, ${payload.abstain} abstained`;
    const variants = {
      approved: story(`Proposal accepted (${votes})`, "completed"),
      rejected: story(`Proposal rejected (${votes})`, "warning"),
      tie: story(`Vote tied (${votes})`, "warning"),
      no_quorum: story(`No quorum (${votes})`, "warning"),
    };
    return variants[payload.outcome];
  },

  plan_created: ({ payload }) => {
    const count = countOf(payload.plan.tasks.length, "task");
    return story(
      payload.by ? `${person(payload.by)} created a plan with ${count}` : `Plan with ${count} set`,
    );
  },
  plan_changed: ({ payload }) => {
    const parts = [
      payload.added?.length ? `${countOf(payload.added.length, "task")} added` : "",
      payload.changed ? `${countOf(Object.keys(payload.changed).length, "task")} changed` : "",
    ].filter(Boolean);
    const reason = payload.reason ? `: ${shortened(payload.reason)}` : "";
    return story(`${byPerson(payload.by)} changed the plan (${parts.join(", ") || "no changes"})${reason}`);
  },
  criterion_checked: ({ payload }) =>
    story(
      `“${shortened(payload.criterion)}” is ${payload.met ? "met" : "not met"}${
        payload.evidence ? `: ${shortened(payload.evidence)}` : ""
      }`,
      payload.met ? "completed" : "warning",
    ),
  // The agent's own start follows, so the start of a task is a detail, unless an agent had to be chosen.
  task_status_changed: ({ task_id, activation_id, payload }, names) => {
    const who =
      payload.to === "in_progress" && payload.assigned_agent
        ? `, assigned to ${named(payload.assigned_agent)}`
        : "";
    const cause = payload.error?.message ?? payload.chosen_because;
    const why = cause === undefined ? "" : `: ${cause}`;
    const by = payload.by ? ` by ${payload.by === "user" ? "a person" : person(payload.by)}` : "";
    const text = `Task “${names.task(activation_id, task_id)}” ${TASK_STATUS_LABELS[payload.to]}${by}${who}${why}`;
    const isDetail = payload.to === "in_progress" || payload.to === "pending";
    return isDetail && payload.chosen_because === undefined
      ? detail(text, TASK_TONES[payload.to])
      : story(text, TASK_TONES[payload.to]);
  },
} satisfies SentencesOf;
