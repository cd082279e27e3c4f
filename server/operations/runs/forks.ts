import { z } from "zod";
import { ForkSettings } from "@/server/domain/agent/outcome";
import { Id, Json, type JsonObject, StateKey } from "@/server/domain/base/values";
import { Rejection } from "@/server/domain/errors/rejection";
import { doneBy, notRepeated } from "@/server/domain/run/commands/repeated";
import { ForkGraph, ForkPatches, ReplayMode, StatePatch } from "@/server/domain/run/fork/lineage";
import { repeatedOf } from "@/server/runner/fork/fork";
import type { ForkLaunch } from "@/server/runner/fork/fork-launch";
import { countRecorded } from "@/server/runner/replay/recorded-answers";
import type { RunSummary as StoredSummary } from "@/server/store/runs/runs";
import { operationsOf } from "../operation";
import type { Services } from "../services";
import { RunSummary } from "./run-schemas";
import { ByRun, known, runOf, startedBy } from "./runs";

const { mutation, query } = operationsOf("Runs");

const Moment = z.union([
  z.strictObject({
    seq: z.int().min(1).meta({ description: "After this event, including what directly follows from it" }),
  }),
  z.strictObject({
    node_id: Id,
    occurrence: z.int().min(1).optional().meta({
      description: "Which execution of the node to fork before (1-based). If omitted, the last one",
    }),
  }),
]);

/** Reads "57", "NODE" or "NODE:TIME". */
function momentNamed(text: string): JsonObject {
  if (/^\d+$/.test(text)) return { seq: Number(text) };
  const [, node_id = text, time] = /^(.+):(\d+)$/.exec(text) ?? [];
  return { node_id, ...(time && { occurrence: Number(time) }) };
}

/** A run that begins as another one went. */
const Forked = z.object({
  run_id: z.string(),
  at_seq: z.int().meta({
    description:
      "The last event both runs share. A fork that edits the state starts before any running node that read a changed key, unless that node has received something from outside since it started",
  }),
  warnings: z.array(z.string()).exactOptional().meta({
    description: "Nodes that keep a value they read before it was changed, one sentence each",
  }),
});

/** A person's actions in a run, other than answers, as another run repeats them. */
const Doings = z.object({
  repeats: z.array(z.string()).meta({
    description:
      "Interventions (what people did besides answering), as sentences; replays and saved tests repeat them at the same points",
  }),
  not_repeated: z.array(z.string()).meta({ description: "Interventions that aren't repeated, as sentences" }),
});

const Recorded = Doings.extend({
  answers: z
    .int()
    .meta({ description: "Number of model and tool answers that can be found by their request" }),
  model_calls: z.int().meta({ description: "Number of model calls that were answered" }),
});

function doingsOf(services: Pick<Services, "runs">, run_id: string): z.infer<typeof Doings> {
  const journal = services.runs.journal(run_id);
  return {
    repeats: doneBy(repeatedOf(run_id, journal)),
    not_repeated: notRepeated(journal.turns.flatMap(({ events }) => events)),
  };
}

/** Runs that come from others. */
export const forkOperations = {
  fork: mutation({
    name: "forkRun",
    summary: "Fork a run",
    about:
      "The new run has the original's log up to that point, with its files and memories, and continues on its own. Finished work isn't executed or paid for again. After the fork point, too, a model call or read-only tool call with an identical request is answered from the original's log, and a tool that may have side effects asks a person first. Answered questions stay answered; open ones are asked again. `graph: latest` continues with the workflow's draft, `graph: published` with its published version. The original never changes. 409 says why a fork isn't possible at that point.",
    needs: "run",
    input: ByRun.extend({
      at: Moment.optional().meta({ description: "If omitted, forks from the beginning" }),
      input: z.record(StateKey, Json).optional().meta({
        description: "New input; the run then starts from the beginning, and `at` must be omitted",
      }),
      state: StatePatch.optional(),
      messages: ForkPatches.shape.messages,
      plan: ForkPatches.shape.plan,
      graph: ForkGraph.default("original"),
      config: ForkSettings.optional().meta({
        description:
          "Settings that differ from the original, from that point on: mode, breakpoints, stop_at, limits. What the original spent doesn't count toward the limits",
      }),
    }),
    output: Forked,
    problems: [
      "bad_request",
      "not_found",
      "not_forked",
      "invalid_input",
      "workflow_has_problems",
      "queue_full",
      "damaged_log",
    ],
    http: { route: "POST /runs/{id}/fork", status: 202, success: "Fork started" },
    cli: [
      {
        form: "fork RUN [--at MOMENT] [--set KEY=VALUE]... [--latest]",
        summary:
          "Fork a run after an event (--at 57), before a node (--at NODE, --at NODE:TIME), or from its beginning; --latest uses the workflow's current graph",
        fields: {
          at: (moment) => ({ at: momentNamed(moment) }),
          set: "state.set",
          latest: () => ({ graph: "latest" }),
        },
      },
    ],
    run(services, { run_id, at, input, graph, state, messages, plan, config }, { by, principal }) {
      runOf(services, run_id);
      if (at && input)
        throw new Rejection("bad_request", "New input requires a fork from the beginning: omit `at`.");
      const patches = {
        ...(state ? { state } : {}),
        ...(messages ? { messages } : {}),
        ...(plan ? { plan } : {}),
      };
      const trigger: ForkLaunch["trigger"] = principal.kind === "token" ? "api" : "editor";
      const started_by = startedBy(services, principal);
      return services.forkRun({ run_id, at, input, graph, patches, config, by, started_by, trigger });
    },
  }),

  replay: mutation({
    name: "replayRun",
    summary: "Replay a run",
    about:
      "Starts a new run from the beginning on the original's graph. Models and tools are answered from the original's log by their request, and people's answers are reused, so it costs nothing. Interventions (changes of state, plan and team, messages, skips, overrides, raised limits, signals, a cancel) are repeated at the same points: `repeats` lists these, `not_repeated` the others. An intervention that no longer applies becomes a warning. `strict` makes no calls: the run ends with NOT_RECORDED at the first request that wasn't recorded, regardless of the graph's error handling, and `error.detail` says how it differs from the closest recorded one. `lenient` asks a person before making a call. The original's failures aren't repeated, and waits take their full time.",
    needs: "run",
    input: ByRun.extend({ mode: ReplayMode.default("strict") }),
    output: Forked.extend(Doings.shape),
    problems: ["not_found", "not_forked", "queue_full", "damaged_log"],
    http: { route: "POST /runs/{id}/replay", status: 202, success: "Replay started" },
    cli: [
      {
        form: "replay RUN [--lenient]",
        summary:
          "Replay a run with its recorded answers; --lenient asks a person before a call that wasn't recorded",
        fields: { lenient: () => ({ mode: "lenient" }) },
      },
    ],
    run(services, { run_id, mode }, { by, principal }) {
      runOf(services, run_id);
      const trigger: ForkLaunch["trigger"] = principal.kind === "token" ? "api" : "editor";
      const made = services.forkRun({ run_id, graph: "original", patches: {}, replay: mode, by, trigger });
      return { ...made, ...doingsOf(services, run_id) };
    },
  }),

  recorded: query({
    name: "countRecordedAnswers",
    summary: "Get what a fork or replay can reuse",
    about:
      "Forks and replays find answers by request. Runs from before requests were recorded have none: after a fork, every call is made again, and a strict replay ends at its first call. `repeats` and `not_repeated` list the interventions that a replay would and wouldn't repeat.",
    needs: "read",
    input: ByRun,
    output: Recorded,
    problems: ["not_found", "damaged_log"],
    http: { route: "GET /runs/{id}/recorded", success: "What can be reused" },
    run(services, { run_id }): z.infer<typeof Recorded> {
      const { state } = known(services, run_id);
      return {
        answers: countRecorded(services.runs.answers(run_id)),
        ...doingsOf(services, run_id),
        model_calls: Object.values(state.calls).filter(({ status }) => status === "completed").length,
      };
    },
  }),

  family: query({
    name: "listRunFamily",
    summary: "Get a run's lineage",
    about: "`origin` is the run that each run was forked or replayed from; null for the first.",
    needs: "read",
    input: ByRun,
    output: z.array(RunSummary),
    http: {
      route: "GET /runs/{id}/family",
      success: "The runs, oldest first",
      as: "runs",
    },
    run(services, { run_id }): StoredSummary[] {
      runOf(services, run_id);
      return services.runs.family(run_id);
    },
  }),
};
