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
    description: "Only what this person, or anybody, is to answer",
  }),
  expertise: z.string().max(200).optional().meta({
    description: "Only what needs somebody who knows this",
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
    summary: "What runs ask people",
    about:
      "Open questions of all runs, the most pressing first: by urgency, then by when their time is over; at most 500. Each has what POST /runs/{id}/answers takes. Where `held` is set, the run takes no answer before it is tried again.",
    needs: "read",
    input: Narrowed,
    output: z.array(QuestionOfRun),
    http: { route: "GET /questions", success: "The open questions", as: "questions" },
    run: ({ questions }, query) => questions.list({ ...query, limit: 500 }).map(toQuestion),
  }),

  inbox: query({
    name: "getInbox",
    summary: "What runs ask people, for the inbox",
    needs: "read",
    input: Narrowed.prefault({}),
    http: { browserOnly: "the same as GET /questions in the form of the cards" },
    run: ({ questions }, query): Inbox => ({
      questions: questions.list(query),
      total: questions.total(query),
    }),
  }),

  standing: query({
    name: "getQuestionStanding",
    summary: "How one question stands now",
    needs: "read",
    input: ByRun.extend({ interaction_id: z.string() }),
    problems: ["not_found"],
    http: { browserOnly: "for a card that was open while somebody else answered" },
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
    summary: "How many questions can be answered",
    needs: "read",
    input: z.void(),
    http: { browserOnly: "for the number beside the inbox; GET /questions has them all" },
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
function optionsOf({ kind, options, tool_name }: Requested) {
  if (options) return options;
  const values = kind === "escalation" && tool_name ? OF_TOOLS : (DEFAULT_OPTIONS[kind] ?? []);
  return values.map((word) => ({ label: word, value: word }));
}
