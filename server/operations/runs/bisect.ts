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
    summary: "Bisect a good and a bad run",
    about:
      "Finds the first step that makes the difference between two runs of the same workflow. `expect` is an expectation, as in a test, that the good run meets and this one doesn't. The run is replayed with more and more of its differences (graph, roles, settings, input, answers of models, tools and people) taken from the good run. Recorded answers are used only for identical requests, and no model or tool is called; if a request was never recorded, that replay is `unknown`. `tries` contains the result of each replay. Replays aren't stored. 409 says why two runs can't be compared.",
    needs: ["run", "read"],
    input: ByRun.extend({
      good: ByRun.shape.run_id.meta({ description: "The good run" }),
      expect: RuleExpectation,
    }),
    output: BisectReport,
    problems: ["bad_request", "not_found", "not_compared", "damaged_log"],
    http: {
      route: "POST /runs/{id}/bisect",
      success: "The difference, as far as the recordings show it",
    },
    cli: [
      {
        form: "bisect BAD --good GOOD [--when CONDITION] [--status STATUS] [--visits NODE]... [--never NODE]... [--expect JSON]",
        summary:
          "Find the first step that makes the difference between a bad run and a good one. Use an option to say what only the good run does: meet a CEL condition, end with a status, reach or avoid nodes, or pass a test expectation",
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
