import { withForkSettings } from "@/server/domain/agent/outcome";
import type { RoleDefinition } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import { Rejection } from "@/server/domain/errors/rejection";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { findInputErrors } from "@/server/domain/graph/input-check";
import { EMPTY_LIBRARY, type Library, withLibrary } from "@/server/domain/library/library";
import type { Models } from "@/server/llm/model";
import type { RunStore } from "@/server/store/runs/runs";
import type { Host } from "../lifecycle/host";
import {
  calledBy,
  foreignText,
  notStarted,
  readyToRun,
  refusePriceless,
  type TextSources,
} from "../lifecycle/launch";
import type { ForkRequest } from "./fork";

export type ForkLaunch = Omit<ForkRequest, "latest">;

/** Creates forks and replays: looks up the current workflow, checks it, and hands over to the host. */
export function newForkLauncher(parts: {
  workflows: TextSources["workflows"] & {
    find(
      id: string,
    ): { id: string; name: string; graph: WorkflowGraph; withheld?: readonly string[] } | undefined;
  };
  roles: TextSources["roles"] & { all(): RoleDefinition[] };
  library?: Library;
  models: Models;
  runs: Pick<RunStore, "find" | "state">;
  host: Pick<Host, "fork">;
}) {
  const { library = EMPTY_LIBRARY, models } = parts;

  /** The workflow's current graph, checked as for any start. */
  const latestOf = (
    run_id: string,
    { input: given, config: settings = {} }: Pick<ForkLaunch, "input" | "config">,
  ): ForkRequest["latest"] => {
    const { workflow_id } = parts.runs.find(run_id) ?? { workflow_id: null };
    const workflow = workflow_id === null ? undefined : parts.workflows.find(workflow_id);
    if (!workflow)
      throw new Rejection(
        "not_forked",
        "The workflow of this run was deleted. Continue with the version it ran.",
      );
    const state = parts.runs.state(run_id);
    const input = given ?? state?.input ?? {};
    const drawn = withLibrary(workflow.graph, library);
    const config = state && withForkSettings(state.run.config, settings);
    const { withheld } = workflow;
    const { graph, roles } = readyToRun(
      drawn,
      parts.roles.all(),
      { input, withheld, ...defined({ config: config || undefined }) },
      models,
    );
    return {
      graph,
      roles,
      ...foreignText(parts, { graph, roles }, withheld),
      ...calledBy(parts, graph, [workflow.id]),
    };
  };

  return {
    /** Throws Rejection, also if the current graph or a new input doesn't fit. */
    forkRun(request: ForkLaunch): ReturnType<Host["fork"]> {
      const { run_id, graph, input } = request;
      if (input && graph === "original") {
        const own = parts.runs.state(run_id)?.graph;
        const errors = own ? findInputErrors(own, input) : [];
        if (errors.length > 0) throw notStarted("The input is invalid.", { errors });
      }
      const state = request.config?.budget ? parts.runs.state(run_id) : undefined;
      if (state && request.config)
        refusePriceless(state.graph, withForkSettings(state.run.config, request.config), models);
      const latest = graph === "latest" ? latestOf(run_id, request) : undefined;
      return parts.host.fork({ ...request, latest });
    },
  };
}
