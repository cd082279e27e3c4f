import { z } from "zod";
import { senderOf } from "@/server/access/trusted";
import { limitRaiseError, RaisableLimit } from "@/server/domain/agent/outcome";
import { asJson } from "@/server/domain/base/json";
import { present } from "@/server/domain/base/must";
import { Json, type JsonObject } from "@/server/domain/base/values";
import { Rejection, type RejectionCode } from "@/server/domain/errors/rejection";
import type { RunState } from "@/server/domain/run";
import { noteAnswer, toolsAskedAbout } from "@/server/domain/run/audit";
import { tooLate } from "@/server/domain/run/commands/command";
import { PlanEdit } from "@/server/domain/run/commands/plan-edit";
import { readAnswer, SentAnswer } from "@/server/domain/run/questions/person-answer";
import { notOpen } from "@/server/domain/run/questions/tool-question";
import { CANCEL } from "@/server/runner/durable/embedded-contract";
import type { CommandResult as CommandReceipt } from "@/server/runner/people/steering";
import { operationsOf } from "../operation";
import { notFound } from "../rejections";
import type { Services } from "../services";
import { RunPlan } from "./run-schemas";
import { ByRun, known, runOf } from "./runs";

const { mutation, query } = operationsOf("Runs");

/** What the answer to a command says of it. */
export const Accepted = z.object({
  command_id: z.string().meta({ description: "ID of the command; the event that it causes includes it" }),
  applied: z.boolean().meta({
    description:
      "False if the command is stored and the run will apply it as soon as possible. An event with this `command_id` then reports its effect, or a warning says why it was dropped.",
  }),
});
export const PENDING = "Accepted, not applied yet";
export const REFUSALS = ["not_found", "run_held", "run_ended", "not_now"] as const;
const RunRef = z.object({ run_id: z.string() });

/** What is said of a command that a run was given. Throws Rejection where it came too late. */
export function acceptedBy(
  services: Pick<Services, "runs">,
  run_id: string,
  { command_id, heard }: CommandReceipt,
  rejectionCode: RejectionCode = "not_now",
): z.output<typeof Accepted> {
  const { status, final_status } = runOf(services, run_id);
  // A quarantined run applies it when it is retried.
  const isPending = heard === null || (heard === "ended" && status !== "finished");
  const late = isPending ? null : tooLate(heard);
  if (late === null) return { command_id, applied: !isPending };
  if (status === "finished") throw new Rejection("run_ended", late, { final_status, command_id });
  throw new Rejection(rejectionCode, late, { status, command_id });
}

/**
 * The known data of a run that takes commands. Throws run_held for a quarantined one, which can only be retried or
 * cancelled.
 */
export function atHand(services: Services, id: string) {
  const { held } = runOf(services, id);
  if (held) throw new Rejection("run_held", `This run is quarantined: ${held.message} Retry or cancel it.`);
  return known(services, id);
}

/** Commands of people and programs to a run in progress. */
export const steeringOperations = {
  cancel: mutation({
    name: "cancelRun",
    summary: "Cancel a run",
    about: "Works in any status; finished runs are unchanged.",
    needs: "run",
    input: ByRun.extend({ reason: z.string().max(500).optional() }),
    output: RunRef.extend({ cancelled: z.boolean(), ...Accepted.partial().shape }),
    http: {
      route: "POST /runs/{id}/cancel",
      status: 202,
      success: "Cancelling, or already finished",
    },
    cli: [{ form: "cancel RUN [TEXT]...", fields: { text: "reason" } }],
    async run(services, { run_id, reason }, { by, principal }) {
      const { final_status } = runOf(services, run_id);
      const isProgram = principal.kind === "token";
      const why = reason ?? (isProgram ? "Cancelled through the API" : "");
      try {
        if (!services.host.cancel(run_id, { by, reason: why }))
          throw new Rejection("run_ended", "This run has already ended.", { final_status });
        const heard = await services.host.waiters.wait(run_id, CANCEL);
        const accepted = acceptedBy(services, run_id, { command_id: "cancel", heard });
        return { run_id, cancelled: true, ...accepted };
      } catch (error) {
        // To a program that wants it ended, that it has ended already is no failure.
        if (isProgram && error instanceof Rejection && error.code === "run_ended")
          return { run_id, cancelled: false };
        throw error;
      }
    },
  }),

  tryAgain: mutation({
    name: "tryRunAgain",
    summary: "Retry a quarantined run",
    about:
      "A run is quarantined (status `held`) if resuming it would be harmful or isn't possible: the server hung or repeatedly crashed while executing it, its log is damaged, or another version started it. `held` contains the reason and when the run is retried automatically. The run resumes where its log ends. 409 if it isn't quarantined.",
    needs: "run",
    input: ByRun,
    output: RunRef,
    problems: ["not_found", "not_held"],
    http: { route: "POST /runs/{id}/try-again", status: 202, success: "Resumed" },
    run(services, { run_id }) {
      const { status } = runOf(services, run_id);
      if (!services.host.tryAgain(run_id))
        throw new Rejection("not_held", "This run is not quarantined.", { status });
      return { run_id };
    },
  }),

  raiseLimit: mutation({
    name: "raiseRunLimit",
    summary: "Raise a run's limit",
    about:
      "A run that stopped at the limit resumes; an active run can use more. `resumable` lists the limits that a run stopped at.",
    needs: "run",
    input: ByRun.extend({
      limit: RaisableLimit,
      to: z
        .number()
        .positive()
        .meta({ description: "In the limit's unit: US dollars, tokens, milliseconds or a count" }),
    }),
    output: RunRef.extend({ ...Accepted.shape, limit: RaisableLimit, to: z.number() }),
    problems: [...REFUSALS, "not_at_limit", "no_such_limit", "not_higher"],
    http: { route: "POST /runs/{id}/limits", status: 202, success: "Raised" },
    async run(services, { run_id, limit, to }, { by }) {
      const { run, state } = atHand(services, run_id);
      if (run.status === "finished" && !state.run.resumable?.includes(limit))
        throw new Rejection(
          "not_at_limit",
          "This run didn't stop because of this limit, so raising it has no effect.",
          {
            final_status: run.final_status,
            resumable: [...(state.run.resumable ?? [])],
          },
        );
      const error = limitRaiseError(limit, to);
      if (error !== null) throw new Rejection("no_such_limit", error);
      const now = limitOf(state, limit);
      if (now !== null && to <= now)
        throw new Rejection("not_higher", `The limit ${limit} is already ${now}. Enter a higher value.`, {
          now,
        });
      const receipt = await services.host.steering.raiseLimit(run_id, limit, to, by);
      return { run_id, ...acceptedBy(services, run_id, receipt), limit, to };
    },
  }),

  plans: query({
    name: "listRunPlans",
    summary: "Get the plans of a run's crews",
    about: "In the plan.json format: every task with its status, assignee, result, tokens and cost.",
    needs: "read",
    input: ByRun,
    output: z.array(RunPlan),
    http: { route: "GET /runs/{id}/plans", success: "One plan per crew", as: "plans" },
    run: (services, { run_id }) => plansOf(known(services, run_id).state),
  }),

  editPlan: mutation({
    name: "changeRunPlan",
    summary: "Edit the plan of a running crew",
    about:
      "Adds a task, or edits or cancels one that hasn't started. `activation_id` is the crew's activation and can be omitted if only one crew is running. 409 says why an edit is no longer possible.",
    needs: "run",
    input: ByRun.extend({ activation_id: z.string().optional(), edit: PlanEdit }),
    output: RunRef.extend({ ...Accepted.shape, activation_id: z.string() }),
    problems: ["not_found", "run_held", "run_ended", "plan_not_changed", "no_crew_at_work", "which_crew"],
    http: {
      route: "POST /runs/{id}/plan",
      status: 202,
      success: "Plan edited, or, if `applied` is false, accepted but not applied yet",
    },
    async run(services, { run_id, edit, ...input }, caller) {
      const { run, state } = atHand(services, run_id);
      if (run.status === "finished")
        throw new Rejection("run_ended", "This run has ended.", { final_status: run.final_status });
      const activation_id = input.activation_id ?? onlyCrew(state);
      if (!Object.hasOwn(state.plans, activation_id)) throw notFound("plan");
      const receipt = await services.host.steering.editPlan(run_id, activation_id, edit, senderOf(caller));
      return { run_id, activation_id, ...acceptedBy(services, run_id, receipt, "plan_not_changed") };
    },
  }),

  questions: query({
    name: "listRunQuestions",
    summary: "List a run's open questions",
    about:
      "For example, whether to allow a tool call, with exactly what an answer would approve. If a question has `options`, answer with one of them; with a `response_schema`, send the completed form as `value`; with a `draft`, send the edited draft as `value`. A question with a `late_answer` was answered after its run ended without waiting for it. For kind `question`, `asks` contains the form (`schema`) that a person must fill in for a tool's server, or the URL (`url`) that they must open.",
    needs: "read",
    input: ByRun,
    output: z.array(z.record(z.string(), Json)),
    http: { route: "GET /runs/{id}/questions", success: "Open questions, oldest first", as: "questions" },
    run(services, { run_id }): JsonObject[] {
      const { state } = known(services, run_id);
      const open = Object.values(state.interactions).filter(({ status }) => status === "open");
      return open.map(({ id, node_id, agent_id, requested_at, requested }) => {
        const given = services.host.steering.answered(run_id, id);
        return {
          node_id,
          agent_id: agent_id ?? null,
          requested_at,
          ...asJson(requested),
          ...(given?.late ? { late_answer: given } : {}),
        };
      });
    },
  }),

  answer: mutation({
    name: "answerRun",
    summary: "Answer a run's question",
    about:
      "Applies once, and only to the question with this fingerprint: the first answer wins. 409 if the question has changed or is no longer open, with `answered_by` and `answer` if someone else answered first; 400 with `errors` by field if the answer isn't one of the options or its `value` violates the `response_schema`; 422 if the content of a tool's form violates its schema.",
    needs: "answer",
    input: ByRun.extend({ interaction_id: z.string(), fingerprint: z.string(), ...SentAnswer.shape }),
    output: RunRef.extend({
      ...Accepted.shape,
      late: z.boolean().optional().meta({
        description:
          "True if the run had ended without waiting for this answer: it is stored with the run and marked as late",
      }),
    }),
    problems: ["not_found", "run_held", "run_ended", "not_open", "invalid_answer", "answer_does_not_fit"],
    audits: ["question_answered"],
    http: { route: "POST /runs/{id}/answers", success: "Accepted", pending: PENDING },
    async run(services, { run_id, interaction_id, fingerprint, ...sent }, caller) {
      const { host } = services;
      const { run, state } = atHand(services, run_id);
      const asked = state.interactions[interaction_id]?.requested;
      const missed = () => {
        const given = host.steering.answered(run_id, interaction_id);
        const details = given ? { answered_by: given.by, answer: given.option ?? given.answer } : undefined;
        return new Rejection("not_open", notOpen(given), details);
      };
      if (host.steering.answered(run_id, interaction_id)) throw missed();
      if (!asked) throw missed();
      const read = readAnswer(asked, sent);
      if (!read.ok) {
        const { errors } = read;
        const messages = ["The answer doesn't match the question.", ...errors.map(({ message }) => message)];
        throw read.isForm
          ? new Rejection("invalid_answer", present(messages[0], "words[0]"), { errors })
          : new Rejection("answer_does_not_fit", messages.join(" "), { errors });
      }
      const given = { ...read.answer, ...senderOf(caller) };
      if (!host.steering.answer(run_id, interaction_id, fingerprint, given)) throw missed();
      const { answer, option } = read.answer;
      noteAnswer(caller.note, run, option ?? answer, toolsAskedAbout(asked));
      const command_id = `answer:${interaction_id}`;
      if (host.steering.answered(run_id, interaction_id)?.late)
        return { run_id, command_id, applied: true, late: true };
      const heard = await host.waiters.wait(run_id, command_id);
      // The run no longer waits for it: its node was skipped, or its time was over.
      if (heard === null && known(services, run_id).state.interactions[interaction_id]?.status !== "open")
        throw missed();
      return { run_id, ...acceptedBy(services, run_id, { command_id, heard }, "not_open") };
    },
  }),
};

/** Every plan with whose it is, the newest crew last. */
function plansOf(state: RunState): z.input<typeof RunPlan>[] {
  return Object.entries(state.plans).map(([activation_id, plan]) => ({
    activation_id,
    node_id: state.activations[activation_id]?.node_id ?? "",
    status: state.crews[activation_id]?.status ?? "running",
    plan,
  }));
}

/** The only running crew with a plan. Throws if there is none, or more than one. */
function onlyCrew(state: RunState): string {
  const running = Object.keys(state.plans).filter((id) => state.crews[id]?.status === "running");
  if (running.length === 1) return present(running[0], "atWork[0]");
  throw new Rejection(
    running.length === 0 ? "no_crew_at_work" : "which_crew",
    running.length === 0
      ? "No running crew in this run has a plan."
      : "Several crews are running. Specify one with activation_id.",
    { activation_ids: running },
  );
}

function limitOf({ run: { config } }: RunState, limit: RaisableLimit): number | null {
  return limit === "max_cost_usd" || limit === "max_total_tokens"
    ? (config.budget[limit] ?? null)
    : config[limit];
}
