import { z } from "zod";
import { asJson } from "@/server/domain/base/json";
import type { QuestionListed } from "@/server/store/runs/questions";
import { operationsOf } from "../operation";
import { notFound } from "../rejections";
import { QuestionOfRun } from "./run-schemas";
import { ByRun, known } from "./runs";

const { query } = operationsOf("Runs");

const Narrowed = z.object({
  workflow_id: z.string().optional(),
  kind: z.string().max(100).optional(),
  assigned_to: z.string().max(200).optional().meta({
    description: "Only questions that this person, or anyone, can answer",
  }),
  expertise: z.string().max(200).optional().meta({
    description: "Only questions that need this expertise",
  }),
});

/** The most pressing questions, and how many there are in all. */
interface Inbox {
  questions: QuestionListed[];
  total: number;
}

/** What all runs ask people. Answers are given to the run: see `answer` in `steering.ts`. */
export const questionOperations = {
  list: query({
    name: "listQuestions",
    summary: "List open questions",
    about:
      "Open questions of all runs, most urgent first, then by deadline; at most 500. Each includes the fields that POST /runs/{id}/answers requires. If `held` is set, the run is quarantined and takes no answers until it is retried.",
    needs: "read",
    input: Narrowed,
    output: z.array(QuestionOfRun),
    http: { route: "GET /questions", success: "The open questions", as: "questions" },
    run: ({ questions }, query) => questions.list({ ...query, limit: 500 }).map(toQuestion),
  }),

  inbox: query({
    name: "getInbox",
    summary: "List questions for the inbox",
    needs: "read",
    input: Narrowed.prefault({}),
    http: { browserOnly: "the same as GET /questions, in the form of the cards" },
    run: ({ questions }, query): Inbox => ({
      questions: questions.list(query),
      total: questions.total(query),
    }),
  }),

  standing: query({
    name: "getQuestionStanding",
    summary: "Get the current state of a question",
    needs: "read",
    input: ByRun.extend({ interaction_id: z.string() }),
    problems: ["not_found"],
    http: { browserOnly: "for an open card while someone else answers" },
    run(services, { run_id, interaction_id }) {
      const { state } = known(services, run_id);
      const ask = state.interactions[interaction_id];
      if (!ask) throw notFound("question");
      const given = ask.answered ? null : services.host.steering.answered(run_id, interaction_id);
      return {
        status: ask.status,
        ...(ask.answered && { answered: ask.answered }),
        // What came after the run's end is not in its log.
        ...(given?.late ? { answered: { interaction_id, ...given }, isLate: true as const } : {}),
        isOver: state.run.status === "finished",
      };
    },
  }),

  count: query({
    name: "countQuestions",
    summary: "Count open questions",
    needs: "read",
    input: z.void(),
    http: { browserOnly: "for the count next to the inbox; GET /questions returns them" },
    run: ({ questions }) => questions.count(),
  }),
};

/** A question in the terms of the API. */
function toQuestion({ ask, asker, ...listed }: QuestionListed): z.input<typeof QuestionOfRun> {
  const { requested, node_id, requested_at } = ask;
  const { expires_at, ...parts } = requested;
  return {
    ...asJson(parts),
    ...parts,
    ...listed,
    node_id,
    node_name: asker.node_name,
    agent_id: asker.agent_id ?? null,
    role_name: asker.role?.name ?? null,
    requested_at,
    expires_at,
    options: optionsOf(requested),
  };
}

type Requested = QuestionListed["ask"]["requested"];

const OF_TOOLS = ["approve", "approve_always", "reject"];
/** What questions take that have no options of their own: the words of their kind; a form has none. */
const DEFAULT_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  tool_confirmation: OF_TOOLS,
  escalation: ["approve", "reject"],
  review: ["approve", "reject"],
  tie: ["approve", "reject"],
  question: ["approve", "reject", "cancel"],
};

/** The answers to choose from; `label` and `value` can both be given. */
function optionsOf({ kind, options, response_schema, tool_name }: Requested) {
  if (options || response_schema) return options ?? [];
  const values = kind === "escalation" && tool_name ? OF_TOOLS : (DEFAULT_OPTIONS[kind] ?? []);
  return values.map((word) => ({ label: word, value: word }));
}
