import { z } from "zod";
import type { Principal } from "@/server/access/principal";
import { isTrusted } from "@/server/access/trusted";
import { RunConfigChanges } from "@/server/domain/agent/outcome";
import { defined } from "@/server/domain/base/defined";
import { asJson } from "@/server/domain/base/json";
import { Json, StateKey } from "@/server/domain/base/values";
import { Rejection } from "@/server/domain/errors/rejection";
import { Pins } from "@/server/domain/run/commands/pins";
import { hubHistory, hubState } from "@/server/domain/run/hub-state";
import type { StartedBy } from "@/server/domain/run/started-by";
import type { RunSummary } from "@/server/store/runs/runs";
import { WorkspaceError } from "@/server/store/runs/workspace";
import { operationsOf } from "../operation";
import { notFound } from "../rejections";
import type { Services } from "../services";
import { lastResults, nodeResult } from "./node-result";
import {
  RunSummary as ListedRun,
  RunFile,
  RunFilePart,
  RunFilter,
  RunStatus,
  Spending,
  VersionChoice,
} from "./run-schemas";
import { stateOf } from "./run-view";

const { mutation, query } = operationsOf("Runs");

export const ByRun = z.object({ run_id: z.string() });
/** How much of a file is read at once, in UTF-16 units. */
const PART = 200_000;

/** The row of a run. Throws not_found. */
export function runOf(services: Pick<Services, "runs">, id: string) {
  const run = services.runs.find(id);
  if (!run) throw notFound("run");
  return run;
}

/** The row of a run and what its log comes to. Throws not_found, and DamagedLog as `stateOf` does. */
export function known(services: Pick<Services, "runs">, id: string) {
  const run = runOf(services, id);
  const state = stateOf(services, run);
  if (!state) throw notFound("run");
  return { run, state };
}

/** Who starts a run, for its origin. */
export function startedBy({ tokens }: Pick<Services, "tokens">, principal: Principal): StartedBy {
  const trust = isTrusted(principal) ? { trusted: true as const } : {};
  if (principal.kind !== "token") return { kind: "person", ...trust };
  const { id } = principal;
  return { kind: "token", id, ...defined({ name: tokens.nameOf(id) }), ...trust };
}

/** Runs: start, look back, delete. */
export const runOperations = {
  start: mutation({
    name: "startRun",
    summary: "Start a run",
    needs: "run",
    input: z.strictObject({
      workflow_id: z.string(),
      version: VersionChoice.optional(),
      input: z.record(StateKey, Json).default({}),
      config: RunConfigChanges.optional(),
      /** Refused of programs: what is pinned is for trying things out. */
      pins: Pins.optional(),
      from_run: z.string().optional().meta({
        description:
          "The run that this input comes from. Values that were untrusted there stay untrusted unless they change",
      }),
      idempotency_key: z.string().min(1).max(200).optional(),
      /** If the offline demo answers, it does so slowly enough to be watched. */
      slow_demo: z.boolean().optional(),
    }),
    problems: ["not_found", "invalid_input", "workflow_has_problems", "key_reused", "queue_full", "busy"],
    http: { own: "reads Idempotency-Key, and reports a repeated start in a header" },
    run(services, { idempotency_key: key, slow_demo, ...input }, { principal }) {
      if (input.from_run !== undefined) runOf(services, input.from_run);
      const isToken = principal.kind === "token";
      const started = services.startRun({
        ...input,
        trigger: isToken ? "api" : "editor",
        origin: startedBy(services, principal),
        // Keys of different tokens are different keys.
        ...(key === undefined ? {} : { idempotency_key: isToken ? `${principal.id}:${key}` : key }),
      });
      if (!started) throw notFound("workflow");
      if (slow_demo) services.demoPace.slow(started.run_id);
      return started;
    },
  }),

  skipDemo: mutation({
    name: "skipDemo",
    summary: "Let the offline demo answer the rest of a run immediately",
    needs: "run",
    input: ByRun,
    http: { browserOnly: "only runs started in the browser play slowly" },
    run: ({ demoPace }, { run_id }): void => demoPace.skip(run_id),
  }),

  startNode: mutation({
    name: "startNode",
    summary: "Run a single node of a workflow",
    about:
      "`state` is the run's initial state. The run belongs to the workflow, has the trigger `test` and ends after the node.",
    needs: "run",
    input: z.strictObject({
      workflow_id: z.string(),
      node_id: z.string(),
      state: z.record(StateKey, Json).default({}),
    }),
    output: z.object({ run_id: z.string() }),
    problems: ["not_found", "invalid_input", "workflow_has_problems", "queue_full", "busy"],
    http: { route: "POST /workflows/{id}/nodes/{node_id}/runs", status: 202, success: "Started" },
    run(services, { workflow_id, node_id, state }, { principal }) {
      const started = services.startRun({
        workflow_id,
        only_node: node_id,
        input: state,
        trigger: "test",
        origin: startedBy(services, principal),
      });
      if (!started) throw notFound("workflow");
      return { run_id: started.run_id };
    },
  }),

  nodeResult: query({
    name: "getNodeResult",
    summary: "Get a node's result",
    about:
      "From the named run, or else the workflow's newest run that reached the node; null if there is none.",
    needs: "read",
    input: z.object({
      workflow_id: z.string(),
      node_id: z.string(),
      run_id: z.string().optional(),
      keys: z.array(z.string()).optional(),
    }),
    http: { browserOnly: "GET /runs/{id} includes it" },
    run: nodeResult,
  }),

  lastResults: query({
    name: "listLastResults",
    summary: "Get the last results of a workflow's nodes",
    needs: "read",
    input: z.object({ workflow_id: z.string() }),
    http: { browserOnly: "GET /runs/{id} includes it" },
    run: (services, { workflow_id }) => lastResults(services, workflow_id),
  }),

  list: query({
    name: "listRuns",
    summary: "List runs",
    needs: "read",
    input: RunFilter.extend({
      status: z.array(RunStatus).min(1).optional(),
      limit: z.number().int().min(1).max(200).default(50),
      after: z.object({ value: z.number(), id: z.string() }).optional(),
    }).prefault({}),
    http: { own: "pages in SQL by status and order; a derived page sorts the whole list in memory" },
    run: ({ runs }, query): RunSummary[] => runs.list(query),
  }),

  children: query({
    name: "listChildRuns",
    summary: "List the runs that a run started",
    about:
      "Runs of sub-workflows and of a map's items, by activation and item. In a fork or replay these include the runs whose results it reused; their `parent` is the run that started them. `after` is the ID of the last run of the previous page.",
    needs: "read",
    input: ByRun.extend({
      activation_id: z.string().max(400).optional(),
      status: z.enum(["running", "completed", "failed"]).optional(),
      after: z.string().optional(),
      limit: z.coerce.number<number>().int().min(1).max(200).default(50),
    }),
    output: z.array(ListedRun),
    problems: ["not_found"],
    http: { route: "GET /runs/{id}/children", success: "The runs", as: "runs" },
    run(services, { run_id, ...query }) {
      const run = runOf(services, run_id);
      const state = run.origin && stateOf(services, run);
      const taken = state ? [...state.children.values()].map((child) => child.run_id) : undefined;
      return services.runs.children(run_id, defined({ ...query, taken }));
    },
  }),

  spent: query({
    name: "getSpending",
    summary: "Get the cost of runs since a time",
    about: "Includes every run created since then, even if it is in the trash.",
    needs: "read",
    input: z.object({
      since: z.coerce.number<number>().meta({ description: "Unix time in milliseconds" }),
    }),
    output: Spending,
    http: { route: "GET /spending", success: "Number of runs, and their model cost" },
    run: ({ runs }, { since }) => runs.spent(since),
  }),

  get: query({
    name: "getRun",
    summary: "Get a run",
    needs: "read",
    input: ByRun,
    problems: ["not_found"],
    http: { own: "adds the state, which the browser computes from the events" },
    run: (services, { run_id }) => ({ ...runOf(services, run_id), place: services.engine.place(run_id) }),
  }),

  input: query({
    name: "getRunInput",
    summary: "Get a run's input",
    needs: "read",
    input: ByRun,
    problems: ["not_found"],
    http: { browserOnly: "GET /runs/{id} includes it" },
    run(services, { run_id }) {
      runOf(services, run_id);
      return { input: services.runs.input(run_id) };
    },
  }),

  remove: mutation({
    name: "deleteRun",
    summary: "Move a finished run to the trash",
    about:
      "It stays there with its events, files and child runs for 30 days. DELETE /bin/run/{id} deletes it permanently.",
    needs: "run",
    input: ByRun,
    problems: ["not_found", "not_ended"],
    http: { route: "DELETE /runs/{id}", success: "Moved to the trash" },
    run(services, { run_id }) {
      const run = runOf(services, run_id);
      if (services.host.live.isHere(run_id) || !services.runs.remove(run_id)) {
        const [open] = run.status === "finished" ? services.runs.openChildren(run_id) : [];
        const which = open === undefined ? "this run" : `its child run ${open}`;
        throw new Rejection("not_ended", `Only finished runs can be deleted. Cancel ${which} first.`, {
          status: run.status,
        });
      }
    },
  }),

  removeMany: mutation({
    name: "deleteRuns",
    summary: "Move finished runs to the trash",
    needs: "run",
    input: z.object({ run_ids: z.array(z.string()).min(1).max(1_000) }),
    http: { browserOnly: "programs delete each by its path" },
    /** `removed`: those that are in the bin now; the others are still running, or don't exist. */
    run: (services, { run_ids }) => ({
      removed: run_ids.filter((id) => !services.host.live.isHere(id) && services.runs.remove(id)),
    }),
  }),

  agents: query({
    name: "getRunAgents",
    summary: "Get a run's agents",
    about:
      "Who worked on what, with states, counters and cost, in the format of OpenHands' agent hub; `history` contains each agent's actions and observations.",
    needs: "read",
    input: ByRun,
    output: z.object({
      state: z.record(z.string(), Json),
      history: z.record(z.string(), z.array(z.record(z.string(), Json))),
    }),
    http: { route: "GET /runs/{id}/agents", success: "The agents' state and history" },
    run(services, { run_id }) {
      const { state } = known(services, run_id);
      const histories = Object.values(state.agents).map((agent) => [agent.key, hubHistory(agent)] as const);
      return { state: asJson(hubState(state)), history: Object.fromEntries(histories) };
    },
  }),

  files: query({
    name: "listRunFiles",
    summary: "List a run's files",
    about: "The latest version of every file in its workspace, by path.",
    needs: "read",
    input: ByRun,
    output: z.array(RunFile),
    http: { route: "GET /runs/{id}/files", success: "The files' metadata", as: "files" },
    run(services, { run_id }) {
      runOf(services, run_id);
      return services.workspace.list(run_id);
    },
  }),

  file: query({
    name: "readRunFile",
    summary: "Read part of a run's file",
    about: "The latest version by default; continue reading at `next_offset`.",
    needs: "read",
    input: ByRun.extend({
      path: z.string().max(1000),
      version: z.coerce.number<number>().int().positive().optional(),
      offset: z.coerce.number<number>().int().nonnegative().optional().meta({
        description: "Where to start, in UTF-16 code units",
      }),
    }),
    output: RunFilePart,
    problems: ["bad_request", "not_found"],
    http: { route: "GET /runs/{id}/file", success: "The requested part" },
    run(services, { run_id, path, version, offset }) {
      const part = inWorkspace(() =>
        services.workspace.read(run_id, { path, version }, { offset, limit: PART }),
      );
      if (!part) throw notFound("file");
      return part;
    },
  }),
};

/** A path that cannot be one is the caller's fault. */
function inWorkspace<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof WorkspaceError) throw new Rejection("bad_request", error.message);
    throw error;
  }
}
