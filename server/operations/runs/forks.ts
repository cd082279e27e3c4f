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
import { ByRun, known, runOf } from "./runs";

const { mutation, query } = operationsOf("Runs");

const Moment = z.union([
  z.strictObject({
    seq: z
      .int()
      .min(1)
      .meta({ description: "After this event; what follows from it of itself comes with it" }),
  }),
  z.strictObject({
    node_id: Id,
    occurrence: z.int().min(1).optional().meta({
      description: "Just before the node began for the how-manieth time, from 1; absent: the last time",
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
      "The last event that both runs have. A fork that changes the state begins before the running nodes that read what is changed, if nothing has come from outside since they began",
  }),
  warnings: z.array(z.string()).exactOptional().meta({
    description: "Which nodes keep a value that they read before it was changed, a sentence each",
  }),
});

/** A person's actions in a run, other than answers, as another run repeats them. */
const Doings = z.object({
  repeats: z.array(z.string()).meta({
    description:
      "What people did on the way beside answering, in words; a replay and a kept test do it again at the same places",
  }),
  not_repeated: z
    .array(z.string())
    .meta({ description: "What made the run another one and is not repeated, in words" }),
});

const Recorded = Doings.extend({
  answers: z.int().meta({ description: "Answers of models and tools that are found by their request" }),
  model_calls: z.int().meta({ description: "Calls of models that came to an answer" }),
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
    summary: "Goes on from a moment of a run as another run",
    about:
      "The new run has the log of the original up to that moment, with its files and memories, and goes on by itself. Nothing that was finished is done or paid again; behind the fork, too, a call of a model or of a tool that only reads is answered from the original's log where the same is asked, and a tool that may change something asks a person first. Questions that were answered stay answered, open ones are asked again. `graph: latest` goes on with the workflow's drawing as it is now. The original never changes. 409 says why a fork cannot be made there.",
    needs: "run",
    input: ByRun.extend({
      at: Moment.optional().meta({ description: "Absent: the beginning" }),
      input: z
        .record(StateKey, Json)
        .optional()
        .meta({ description: "Another input; the run begins at the beginning then, and `at` is left out" }),
      state: StatePatch.optional(),
      messages: ForkPatches.shape.messages,
      plan: ForkPatches.shape.plan,
      graph: ForkGraph.default("original"),
      config: ForkSettings.optional().meta({
        description:
          "Settings that the fork has otherwise than the original, from the moment on: mode, breakpoints, stop_at, limits. What the original spent does not count against them",
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
    http: { route: "POST /runs/{id}/fork", status: 202, success: "The fork is on its way" },
    cli: [
      {
        form: "fork RUN [--at MOMENT] [--set KEY=VALUE]... [--latest]",
        summary:
          "Forks a run after an event (--at 57) or before a node (--at NODE, --at NODE:TIME), or else from its beginning; --latest takes the workflow as it is now",
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
        throw new Rejection("bad_request", "Another input is for a run from the beginning: leave `at` out.");
      const patches = {
        ...(state ? { state } : {}),
        ...(messages ? { messages } : {}),
        ...(plan ? { plan } : {}),
      };
      const trigger: ForkLaunch["trigger"] = principal.kind === "token" ? "api" : "editor";
      return services.forkRun({ run_id, at, input, graph, patches, config, by, trigger });
    },
  }),

  replay: mutation({
    name: "replayRun",
    summary: "Carries a run out again with its recorded answers",
    about:
      "A new run from the beginning, on the drawing of the original. Models and tools are answered from the original's log, found by their request, and people's answers are taken over, so that it costs nothing. What people did on the way (changes of state, plan and team, instructions, skips, choices of what comes next, raised limits, signals, a cancel) is done again at the same places: `repeats` says what, `not_repeated` what is not. A change that does not fit there any more is told as a warning. `strict` makes no call at all: it ends with the code NOT_RECORDED where something is asked that was never asked, whatever the drawing says of failures, and `error.detail` says what differs from the nearest recorded request. `lenient` asks a person before it calls. Failures of the original are not repeated, and waits take their time.",
    needs: "run",
    input: ByRun.extend({ mode: ReplayMode.default("strict") }),
    output: Forked.extend(Doings.shape),
    problems: ["not_found", "not_forked", "queue_full", "damaged_log"],
    http: { route: "POST /runs/{id}/replay", status: 202, success: "The replay is on its way" },
    cli: [
      {
        form: "replay RUN [--lenient]",
        summary:
          "Replays a run with its recorded answers; --lenient asks a person before a call that was not recorded",
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
    summary: "How many of a run's answers another run can be given",
    about:
      "A fork or a replay finds an answer by its request. Runs from before requests were recorded have none: behind a fork of one all is asked anew, and a strict replay of it ends at its first call. `repeats` and `not_repeated` say what of people's doings another run would do again.",
    needs: "read",
    input: ByRun,
    output: Recorded,
    problems: ["not_found", "damaged_log"],
    http: { route: "GET /runs/{id}/recorded", success: "What can be found again" },
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
    summary: "A run with the runs it comes from and those that come from it",
    about: "`origin` of each says where it comes from; the first of the lineage has none.",
    needs: "read",
    input: ByRun,
    output: z.array(RunSummary),
    http: {
      route: "GET /runs/{id}/family",
      success: "The runs of its lineage, the oldest first",
      as: "runs",
    },
    run(services, { run_id }): StoredSummary[] {
      runOf(services, run_id);
      return services.runs.family(run_id);
    },
  }),
};
