import { z } from "zod";
import { noteAnswer, toolsAskedAbout } from "@/server/domain/audit";
import { type FinalStatus, limitFault, RaisableLimit } from "@/server/domain/outcome";
import { PlanEdit } from "@/server/domain/plan-edit";
import type { RunState } from "@/server/domain/run";
import { answerFaults, notOpen, PersonsAnswer } from "@/server/domain/tool-question";
import { Json, type JsonObject } from "@/server/domain/values";
import { notFound, Problem } from "@/server/operations/problem";
import { RunPlan } from "@/server/operations/schemas";
import { type Call, endpoint } from "./endpoint";
import { stateOf } from "./run-view";

/** Who asks, as events and the audit name them. */
const byOf = ({ principal }: Pick<Call, "principal">) =>
  principal?.id === "environment" ? "API" : `API token ${principal?.id}`;

/** The row of a run and everything that is known of it. */
function known(services: Call["services"], id: string) {
  const run = services.runs.find(id);
  const state = run && stateOf(services, run);
  if (!run || !state) throw notFound("run");
  return { run, state };
}

/** What is known of a run that takes commands: one that is held takes none but to go on or to end. */
function atHand(services: Call["services"], id: string) {
  const found = known(services, id);
  if (found.run.held)
    throw new Problem(
      "run_held",
      `This run is held: ${found.run.held.message} Try it again first, or cancel it.`,
    );
  return found;
}

const ended = (status: z.infer<typeof FinalStatus> | null) =>
  new Problem("run_ended", "This run has ended.", { final_status: status });

/** What people and programs tell a run while it goes on. */
export const steeringEndpoints = [
  endpoint({
    method: "POST",
    path: "/runs/{id}/cancel",
    name: "cancelRun",
    summary: "Cancels a run",
    about: "In whatever state it is; a run that has ended stays as it is.",
    tag: "Runs",
    body: z.object({ reason: z.string().max(500).optional() }).optional(),
    success: {
      status: 202,
      about: "It was told to stop, or had ended already",
      schema: z.object({ run_id: z.string(), cancelled: z.boolean() }),
    },
    refusals: [404],
    answer(call) {
      const { run } = known(call.services, call.params.id);
      const reason = call.body?.reason ?? "Cancelled through the API";
      const cancelled = call.services.host.cancel(run.id, { by: byOf(call), reason });
      return { status: 202, body: { run_id: run.id, cancelled } };
    },
  }),

  endpoint({
    method: "POST",
    path: "/runs/{id}/try-again",
    name: "tryRunAgain",
    summary: "Tries a held run again",
    about:
      "A run is `held` where taking it up would do harm or is not possible: the server ended more than once while it computed the run, its log is damaged, or it began with another version; `held` of the run says which. It goes on where its log ends. 409 where it is not held.",
    tag: "Runs",
    success: {
      status: 202,
      about: "It is taken up",
      schema: z.object({ run_id: z.string() }),
    },
    refusals: [404, 409],
    answer({ services, params }) {
      const { run } = known(services, params.id);
      if (!services.host.tryAgain(run.id))
        throw new Problem("not_held", "This run is not held.", { status: run.status });
      return { status: 202, body: { run_id: run.id } };
    },
  }),

  endpoint({
    method: "POST",
    path: "/runs/{id}/limits",
    name: "raiseRunLimit",
    summary: "Raises a limit of a run",
    about:
      "A run that stopped at the limit goes on; one that is at work may go further. `resumable` of the run names the limits that it stopped at.",
    tag: "Runs",
    body: z.object({
      limit: RaisableLimit,
      to: z
        .number()
        .positive()
        .meta({ description: "In the unit of the limit: US dollars, tokens, ms, counts" }),
    }),
    success: {
      status: 202,
      about: "It was told",
      schema: z.object({ run_id: z.string(), limit: RaisableLimit, to: z.number() }),
    },
    refusals: [404, 409, 422],
    answer(call) {
      const { services, params, body } = call;
      const { run, state } = atHand(services, params.id);
      if (run.status === "finished" && !state.run.resumable?.includes(body.limit))
        throw new Problem("not_at_limit", "This run has ended, and not at that limit.", {
          final_status: run.final_status,
          resumable: [...(state.run.resumable ?? [])],
        });
      const fault = limitFault(body.limit, body.to);
      if (fault !== null) throw new Problem("no_such_limit", fault);
      const now = limitOf(state, body.limit);
      if (now !== null && body.to <= now)
        throw new Problem("not_higher", `The limit ${body.limit} is ${now} already; give more than that.`, {
          now,
        });
      services.host.raiseLimit(run.id, body.limit, body.to, byOf(call));
      return { status: 202, body: { run_id: run.id, ...body } };
    },
  }),

  endpoint({
    method: "GET",
    path: "/runs/{id}/plans",
    name: "listRunPlans",
    summary: "The plans of a run's crews",
    about: "As plan.json: every task with its state, who does it, its result, tokens and cost.",
    tag: "Runs",
    success: { status: 200, about: "One plan for each crew", schema: z.object({ plans: z.array(RunPlan) }) },
    refusals: [404],
    answer({ services, params }) {
      const { state } = known(services, params.id);
      return { body: { plans: plansOf(state) } };
    },
  }),

  endpoint({
    method: "POST",
    path: "/runs/{id}/plans",
    name: "changeRunPlan",
    summary: "Changes the plan of a crew at work",
    about:
      "Adds a task, changes or cancels one that has not begun. `activation_id` names the crew's work; it may be left out where just one crew is at work. 409 says why a change cannot be made any more.",
    tag: "Runs",
    body: z.object({ activation_id: z.string().optional(), edit: PlanEdit }),
    success: {
      status: 202,
      about: "The change is on its way; the events tell when it took effect",
      schema: z.object({ run_id: z.string(), activation_id: z.string() }),
    },
    refusals: [404, 409, 422],
    answer(call) {
      const { services, params, body } = call;
      const { run, state } = atHand(services, params.id);
      if (run.status === "finished") throw ended(run.final_status);
      const activation_id = body.activation_id ?? onlyCrew(state);
      if (!Object.hasOwn(state.plans, activation_id)) throw notFound("plan");
      const fault = services.host.editPlan(run.id, activation_id, body.edit, byOf(call));
      if (fault !== null) throw new Problem("plan_not_changed", fault);
      return { status: 202, body: { run_id: run.id, activation_id } };
    },
  }),

  endpoint({
    method: "GET",
    path: "/runs/{id}/questions",
    name: "listRunQuestions",
    summary: "What a run asks people",
    about:
      "Open questions, such as whether a tool may be called, with exactly what an answer would agree to; one of kind `question` has in `asks` the form (`schema`) or the address (`url`) that a tool's server wants a person for.",
    tag: "Runs",
    success: {
      status: 200,
      about: "Open questions, the oldest first",
      schema: z.object({ questions: z.array(z.record(z.string(), Json)) }),
    },
    refusals: [404],
    answer({ services, params }) {
      const { state } = known(services, params.id);
      const open = Object.values(state.interactions).filter(({ status }) => status === "open");
      return {
        body: {
          questions: open.map(({ node_id, agent_id, requested_at, requested }) => ({
            node_id,
            agent_id: agent_id ?? null,
            requested_at,
            ...(requested as unknown as JsonObject),
          })),
        },
      };
    },
  }),

  endpoint({
    method: "POST",
    path: "/runs/{id}/answers",
    name: "answerRun",
    summary: "Answers a question of a run",
    about:
      "Counts for exactly the question that the fingerprint names, once: the first answer counts. 409 where it is not open any more, with `answered_by` and `answer` where somebody was first, or where it asks for something else; 422 with `errors` by field where a form's content does not fit its schema.",
    tag: "Runs",
    body: z.object({
      interaction_id: z.string(),
      fingerprint: z.string(),
      ...PersonsAnswer.shape,
    }),
    success: { status: 200, about: "It counts", schema: z.object({ run_id: z.string() }) },
    refusals: [404, 409, 422],
    answer(call) {
      const { interaction_id, fingerprint, ...value } = call.body;
      const { run, state } = atHand(call.services, call.params.id);
      const asked = state.interactions[interaction_id]?.requested;
      const by = byOf(call);
      const tooLate = () => {
        const given = call.services.host.answered(run.id, interaction_id);
        const details = given && { answered_by: given.by, answer: given.answer };
        return new Problem("not_open", notOpen(given), details ?? undefined);
      };
      if (call.services.host.answered(run.id, interaction_id)) throw tooLate();
      const errors = asked ? answerFaults(asked, value) : [];
      if (errors.length > 0)
        throw new Problem("invalid_answer", "The answer does not fit what is asked.", { errors });
      if (!call.services.host.answer(run.id, interaction_id, fingerprint, { ...value, by })) throw tooLate();
      noteAnswer(call.note, run, value.answer, toolsAskedAbout(asked));
      return { body: { run_id: run.id } };
    },
  }),
];

/** Every plan with whose it is, the newest crew last. */
function plansOf(state: RunState): z.input<typeof RunPlan>[] {
  return Object.entries(state.plans).map(([activation_id, plan]) => ({
    activation_id,
    node_id: state.activations[activation_id]?.node_id ?? "",
    status: state.crews[activation_id]?.status ?? "running",
    plan: plan,
  }));
}

/** The one crew with a plan that is at work. */
function onlyCrew(state: RunState): string {
  const atWork = Object.keys(state.plans).filter((id) => state.crews[id]?.status === "running");
  if (atWork.length === 1) return atWork[0]!;
  throw new Problem(
    atWork.length === 0 ? "no_crew_at_work" : "which_crew",
    atWork.length === 0
      ? "No crew with a plan is at work in this run."
      : "Several crews are at work; say which by activation_id.",
    { activation_ids: atWork },
  );
}

function limitOf({ run: { config } }: RunState, limit: RaisableLimit): number | null {
  return limit === "max_cost_usd" || limit === "max_total_tokens"
    ? (config.budget[limit] ?? null)
    : config[limit];
}
