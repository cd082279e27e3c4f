import { z } from "zod";
import { Rejection } from "@/server/domain/errors/rejection";
import { foldRun } from "@/server/domain/run";
import { CASSETTE_LIMITS, Cassette } from "@/server/domain/scenario/cassette";
import { TestReport } from "@/server/domain/scenario/report";
import { ScenarioFields } from "@/server/domain/scenario/scenario-test";
import { cassetteOf, isRecordable, testOfRun, verifyKept } from "@/server/runner/scenario/keep-run";
import { runTest } from "@/server/runner/scenario/run-test";
import { redactJson } from "@/server/secrets/redact";
import { operationsOf } from "../operation";
import { notFound } from "../rejections";
import { ByRun, runOf } from "../runs/runs";
import type { Services } from "../services";
import { createTest, freshTestId, judgeBookOf, TestView, testedOf, testIn, viewOf } from "./stored-tests";

const { mutation, query } = operationsOf("Tests");

/** A finished run with its journal. Throws not_ended if it is not finished, not_forked if it cannot be replayed. */
function endedJournal(services: Services, run_id: string) {
  const run = runOf(services, run_id);
  if (run.status !== "finished")
    throw new Rejection("not_ended", "Only finished runs can be saved as tests.", { status: run.status });
  const journal = services.runs.journal(run_id);
  if (!isRecordable(journal))
    throw new Rejection(
      "not_forked",
      "This run was recorded by another version of Troupe, so it can't be replayed here.",
    );
  return { run, journal };
}

export const keptRunOperations = {
  keep: mutation({
    name: "keepRunAsTest",
    summary: "Save a run as a test",
    about:
      "Includes its input, the answers of models, tools and people, and expectations: final status, path, questions, result. Anything that differs when the run is immediately repeated is left out and listed in `notes`. `report` is the test's result on the current workflow.",
    needs: ["author", "read"],
    input: ByRun.extend({ name: ScenarioFields.shape.name.optional() }),
    output: z.object({
      workflow_id: z.string(),
      test: TestView,
      report: TestReport,
      notes: z.array(z.string()),
    }),
    problems: ["not_found", "not_ended", "not_forked", "too_large", "damaged_log"],
    http: { route: "POST /runs/{id}/test", status: 201, success: "The test" },
    async run(services, { run_id, name }, { by, signal }) {
      const { run, journal } = endedJournal(services, run_id);
      const workflow = run.workflow_id === null ? undefined : services.workflows.find(run.workflow_id);
      if (!workflow) throw notFound("workflow");
      const fields = testOfRun(run_id, journal, name ?? nameOf(run), redactJson);
      if (
        JSON.stringify(fields).length > CASSETTE_LIMITS.chars ||
        (fields.answers?.answers.length ?? 0) > CASSETTE_LIMITS.answers
      )
        throw new Rejection(
          "too_large",
          `The recorded answers are too large for a test: at most 4 MiB and ${CASSETTE_LIMITS.answers} answers.`,
        );
      const events = journal.turns.flatMap((turn) => turn.events);
      const state = foldRun(run_id, events);
      const id = freshTestId(services, workflow.id, fields.name);
      const { graph, roles, run: past } = state;
      const own = { ...testedOf(services, workflow), graph, roles, foreign: past.foreign };
      const { test, notes } = await verifyKept(own, { id, ...fields }, events, services.testParts);
      createTest(services, workflow.id, test);
      const began = performance.now();
      const report = await runTest(testedOf(services, workflow), test, services.testParts, {
        book: judgeBookOf(services, workflow.id),
        aborted: signal,
      });
      const about = { by, revision: workflow.revision, took_ms: performance.now() - began };
      services.scenarios.keep(workflow.id, about, report);
      return {
        workflow_id: workflow.id,
        test: viewOf(services, workflow, testIn(services, workflow.id, id)),
        report,
        notes,
      };
    },
  }),

  cassette: query({
    name: "getCassette",
    summary: "Export a run's recorded answers",
    about:
      "The answers with their requests, in order. Secrets stored here are redacted. Used as a test's `answers`, they answer identical requests.",
    needs: "read",
    input: ByRun,
    output: Cassette,
    problems: ["not_found", "not_ended", "not_forked", "damaged_log"],
    http: { route: "GET /runs/{id}/cassette", success: "The cassette" },
    run(services, { run_id }) {
      const { journal } = endedJournal(services, run_id);
      return cassetteOf(run_id, journal, redactJson);
    },
  }),
};
const nameOf = ({
  workflow_name,
  final_status,
  created_at,
}: {
  workflow_name: string;
  final_status: string | null;
  created_at: number;
}): string =>
  `${workflow_name || "Run"}, ${final_status === "COMPLETED" ? "as it ran" : "as it failed"} on ${new Date(created_at).toISOString().slice(0, 10)}`.slice(
    0,
    200,
  );
