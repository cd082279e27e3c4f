import { z } from "zod";
import { keysOf } from "@/server/domain/base/guards";
import { Json } from "@/server/domain/base/values";
import { Rejection } from "@/server/domain/errors/rejection";
import { withLibrary } from "@/server/domain/library/library";
import { Pins } from "@/server/domain/run/commands/pins";
import { compareRuns } from "@/server/domain/run/compare/compare";
import { firstDivergence } from "@/server/domain/run/compare/divergence";
import type { RunEvent } from "@/server/domain/run/events";
import { FINDING_KINDS, findingsOf } from "@/server/domain/run/findings";
import { asSent } from "@/server/domain/run/past/as-sent";
import { askedPerson } from "@/server/domain/run/past/asked-person";
import { keyHistory } from "@/server/domain/run/past/key-history";
import { whenTrue } from "@/server/domain/run/past/when-true";
import { staleOutputs } from "@/server/domain/run/stale";
import { ExpressionError } from "@/server/domain/text/expression/expression";
import { shownOf } from "@/server/runner/lifecycle/redact-events";
import { operationsOf } from "../operation";
import { notFound } from "../rejections";
import type { Services } from "../services";
import { ByRun, known, runOf } from "./runs";

const { query } = operationsOf("Runs");

/** More events than a run can have. */
const ALL = 1_000_000_000;

/**
 * The whole log of a run; of one that isn't running, as far as it can be read. Throws not_found, and DamagedLog for a
 * running one.
 */
export function wholeLog(services: Pick<Services, "runs">, id: string): RunEvent[] {
  const { status } = runOf(services, id);
  return shownOf(
    services.runs,
    id,
  )(services.runs.events(id, 0, ALL, status === "held" || status === "finished"));
}

const Place = {
  seq: z.int().meta({ description: "The event's number" }),
  node_id: z.string().optional(),
  activation_id: z.string().optional(),
  agent_id: z.string().optional(),
  task_id: z.string().optional(),
};
const Finding = z.object({
  kind: z.enum(keysOf(FINDING_KINDS)),
  title: z.string(),
  ...Place,
  said: z.string().meta({ description: "What happened" }),
  advice: z.string().meta({ description: "What to do" }),
});

const KeyWrite = z.object({
  seq: Place.seq,
  ts: z.number(),
  writer: z.string().meta({ description: "An activation, or `input`" }),
  node_id: z.string().optional(),
  agent_id: z.string().optional(),
  by: z.string().optional().meta({ description: "The person who wrote it" }),
  before: Json.optional(),
  after: Json.optional(),
});

const Change = z.object({ key: z.string(), before: Json.optional(), after: Json.optional() });
const NodePart = z.object({
  status: z.string(),
  count: z.int(),
  tokens: z.number(),
  cost_usd: z.number().nullable(),
  ms: z.number(),
  output: z.record(z.string(), Json).optional(),
  labels: z.array(z.string()).optional().meta({ description: "The routes that it last took" }),
});
const Totals = z.object({
  final_status: z.string().nullable(),
  tokens: z.number(),
  cost_usd: z.number().nullable(),
  ms: z.number(),
  steps: z.number(),
});
const Comparison = z.object({
  is_same_graph: z.boolean(),
  nodes: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      a: NodePart.optional(),
      b: NodePart.optional(),
      differs: z.array(z.enum(["path", "status", "output", "way"])),
    }),
  ),
  edges: z.array(z.object({ id: z.string(), a: z.int(), b: z.int() })),
  first: z
    .object({
      a: z.string().optional(),
      b: z.string().optional(),
      why: z.enum(["node", "status", "output", "way"]),
    })
    .nullable()
    .meta({ description: "The first step that differs" }),
  parted: z
    .object({
      what: z.enum(["model", "tool"]),
      call_id: z.string(),
      a: z.int(),
      b: z.int(),
      node_id: z.string().optional(),
      agent_id: z.string().optional(),
      tool_name: z.string().optional(),
      answers: z.object({ a: Json, b: Json }),
    })
    .nullable()
    .meta({ description: "The first identical request that got a different response" }),
  input: z.array(Change),
  state: z.array(Change),
  output: z.array(Change),
  totals: z.object({ a: Totals, b: Totals }),
});

/** What one can ask of a run's past: no model is asked, nothing runs again. */
export const pastOperations = {
  stale: query({
    name: "listStaleOutputs",
    summary: "List outputs of a run that may be out of date",
    needs: "read",
    input: ByRun.extend({ pins: Pins.optional() }),
    output: z.array(z.object({ node_id: z.string(), reason: z.string() })),
    problems: ["not_found", "damaged_log"],
    http: { browserOnly: "part of what the browser pins" },
    run(services, { run_id, pins }) {
      const { run, state } = known(services, run_id);
      const workflow = run.workflow_id === null ? undefined : services.workflows.find(run.workflow_id);
      // A run of a single node has a workflow of its own; a deleted workflow can't be compared.
      if (!workflow || state.run.only_node !== undefined) return [];
      const graph = withLibrary(workflow.graph, services.library);
      return staleOutputs(state, { graph, roles: services.roles.all(), pins });
    },
  }),

  findings: query({
    name: "getRunFindings",
    summary: "Get a run's diagnostics",
    about:
      "Known failure patterns of crews and workflows that the events prove, each with its location and fix. No model is called. Empty if none were found.",
    needs: "read",
    input: ByRun,
    output: z.array(Finding),
    http: {
      route: "GET /runs/{id}/findings",
      success: "The diagnostics, in order of occurrence",
      as: "findings",
    },
    run: (services, { run_id }) =>
      findingsOf(wholeLog(services, run_id)).map((finding) => ({
        ...finding,
        title: FINDING_KINDS[finding.kind],
      })),
  }),

  keyHistory: query({
    name: "getRunKeyHistory",
    summary: "Get a state key's history",
    about: "Every write: its event, step and agent, and the previous value.",
    needs: "read",
    input: ByRun.extend({ key: z.string().min(1).max(64) }),
    output: z.array(KeyWrite),
    http: { route: "GET /runs/{id}/writes", success: "The writes, oldest first", as: "writes" },
    run: (services, { run_id, key }) => keyHistory(wholeLog(services, run_id), key),
  }),

  when: query({
    name: "findWhenTrue",
    summary: "Find when a condition was true in a run",
    about:
      "`condition` is a CEL expression over state, input, nodes and run. Searches backwards from the end within a work limit: `searched_to` is the earliest event searched.",
    needs: "read",
    input: ByRun.extend({ condition: z.string().min(1).max(2_000) }),
    output: z.object({
      held: z.array(
        z.object({
          from: z.int(),
          to: z.int().nullable(),
          node_id: z.string().optional(),
          activation_id: z.string().optional(),
        }),
      ),
      is_now: z.boolean(),
      searched_to: z.int(),
      undecided: z.string().optional(),
    }),
    problems: ["not_found", "bad_request"],
    http: { route: "GET /runs/{id}/when", success: "Ranges of events in which it was true, latest first" },
    run(services, { run_id, condition }) {
      try {
        const { isNow: is_now, ...found } = whenTrue(wholeLog(services, run_id), condition);
        return { is_now, ...found };
      } catch (error) {
        if (error instanceof ExpressionError) throw new Rejection("bad_request", error.message);
        throw error;
      }
    },
  }),

  asSent: query({
    name: "getRunPrompt",
    summary: "Get the exact prompt of a model call",
    about: "`call_id` is from the call's events. `doubt` says why it may not be the exact prompt.",
    needs: "read",
    input: ByRun.extend({ call_id: z.string().min(1).max(500) }),
    output: z.object({
      seq: Place.seq,
      agent_id: z.string(),
      role_name: z.string().optional(),
      messages: z.array(
        z.looseObject({ role: z.enum(["system", "user", "assistant", "tool"]), content: z.string() }),
      ),
      tools: z.array(z.string()),
      response_format: z.string().optional(),
      model: z.string().optional(),
      condensed: z.int(),
      doubt: z.string().optional(),
    }),
    http: { route: "GET /runs/{id}/prompt", success: "The prompt's messages" },
    run(services, { run_id, call_id }) {
      const found = asSent(wholeLog(services, run_id), call_id);
      if (!found) throw notFound("call");
      return found;
    },
  }),

  compare: query({
    name: "compareRuns",
    summary: "Compare two runs",
    about: "How two runs differ in path, state, outputs and cost. `a` is this run, `b` is the run in `with`.",
    needs: "read",
    input: ByRun.extend({ with: z.string() }),
    output: Comparison,
    http: { route: "GET /runs/{id}/compare", success: "The differences" },
    run: (services, { run_id, with: other }) => ({
      ...compareRuns(known(services, run_id).state, known(services, other).state),
      parted: firstDivergence(wholeLog(services, run_id), wholeLog(services, other)),
    }),
  }),

  asked: query({
    name: "getRunQuestion",
    summary: "Get what a person saw when they answered",
    about: "The question and the state at that moment, and what has changed since it was asked.",
    needs: "read",
    input: ByRun.extend({ interaction_id: z.string().min(1).max(500) }),
    output: z.object({
      asked: z.record(z.string(), Json),
      asked_seq: z.int(),
      asked_at: z.number(),
      answered: z.record(z.string(), Json).optional(),
      answered_seq: z.int().optional(),
      answered_at: z.number().optional(),
      state: z.record(z.string(), Json),
      changed_meanwhile: z.array(
        z.object({ key: z.string(), before: Json.optional(), after: Json.optional() }),
      ),
    }),
    http: { route: "GET /runs/{id}/asked", success: "The question" },
    run(services, { run_id, interaction_id }) {
      const found = askedPerson(wholeLog(services, run_id), interaction_id);
      if (!found) throw notFound("question");
      return found;
    },
  }),
};
