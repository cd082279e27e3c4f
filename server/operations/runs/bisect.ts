import { Rejection } from "@/server/domain/errors/rejection";
import { BisectReport } from "@/server/domain/run/bisect/report";
import { RuleExpectation } from "@/server/domain/scenario/expectation";
import { ExpressionError } from "@/server/domain/text/expression/expression";
import { operationsOf } from "../operation";
import { ByRun, runOf } from "./runs";

const { mutation } = operationsOf("Runs");

/** What made a difference between two runs. */
export const bisectOperations = {
  bisect: mutation({
    name: "bisectRun",
    summary: "Finds the first step that makes the difference between a bad run and a good one",
    about:
      "Takes an expectation, as in a test of the workflow, that holds in the good run and fails in this one, both of the same workflow, and carries the run out again from the two records: with more and more of what differs (drawing, roles, settings, input, answers of models, tools and people) as the good run had it. An answer is given only to what was asked in the very same words, so nothing is guessed, and no model and no tool is called; where neither run was asked, that replay is `unknown`. `tries` says how each replay came out. Nothing is kept of them. 409 says why two runs cannot be searched.",
    needs: "run",
    input: ByRun.extend({
      good: ByRun.shape.run_id.meta({ description: "The run that was good" }),
      expect: RuleExpectation,
    }),
    output: BisectReport,
    problems: ["bad_request", "not_found", "not_compared", "damaged_log"],
    http: {
      route: "POST /runs/{id}/bisect",
      success: "What makes the difference, as far as the records tell",
    },
    cli: [
      {
        form: "bisect BAD --good GOOD [--when CONDITION] [--status STATUS] [--visits NODE]... [--never NODE]... [--expect JSON]",
        summary:
          "Finds the first step that makes the difference; one option says what holds in the good run only: a CEL condition, a final status, nodes that it comes to or never does, or an expectation of a test",
        fields: {
          bad: "run_id",
          when: (when) => ({ expect: { kind: "state", when } }),
          status: (status) => ({ expect: { kind: "status", is: status.toUpperCase() } }),
          visits: (...nodes) => ({ expect: { kind: "path", nodes, mode: "visited" } }),
          never: (...nodes) => ({ expect: { kind: "path", nodes, mode: "never" } }),
        },
      },
    ],
    async run(services, { run_id, good, expect }) {
      runOf(services, run_id);
      runOf(services, good);
      try {
        return await services.findDifference({ good, bad: run_id, expect });
      } catch (error) {
        if (error instanceof ExpressionError) throw new Rejection("bad_request", error.message);
        throw error;
      }
    },
  }),
};
