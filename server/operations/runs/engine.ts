import { z } from "zod";
import { operationsOf } from "../operation";
import type { Services } from "../services";
import { Engine } from "./run-schemas";

const { query } = operationsOf("Server");

/** Where runs execute, with the workflows of runs that are stalled on the engine. */
function engineOf({ engine, runs }: Pick<Services, "engine" | "runs">): z.output<typeof Engine> {
  const state = engine.state();
  return {
    ...state,
    troubled: state.troubled.map((one) => {
      const run = runs.find(one.run_id);
      return {
        ...one,
        workflow_id: run?.workflow_id ?? null,
        workflow_name: run?.workflow_name ?? "",
      };
    }),
  };
}

/** Where runs execute: on this server, or on workers via an engine. */
export const engineOperations = {
  get: query({
    name: "getEngine",
    summary: "Get the status of the execution engine",
    about:
      "The engine is this server, or workers connected through Restate. The status includes each worker's load and last heartbeat, messages waiting for the engine, and runs that it can't advance.",
    needs: "read",
    input: z.void(),
    output: Engine,
    http: { route: "GET /engine", success: "The engine's status" },
    cli: [{ form: "engine" }],
    run: engineOf,
  }),
};
