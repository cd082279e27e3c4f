import { withForkSettings } from "@/server/domain/agent/outcome";
import type { RoleDefinition } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import { Rejection } from "@/server/domain/errors/rejection";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { findInputErrors } from "@/server/domain/graph/input-check";
import type { Library } from "@/server/domain/library/library";
import type { Models } from "@/server/llm/model";
import type { RunStore } from "@/server/store/runs/runs";
import type { Host } from "../lifecycle/host";
import {
  calledBy,
  foreignIn,
  notStarted,
  readyToRun,
  refusePriceless,
  type TextSources,
} from "../lifecycle/launch";
import { type VersionSources, versionOf } from "../lifecycle/workflow-version";
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
  versions?: VersionSources["versions"];
  secrets?: TextSources["secrets"];
  variables?: TextSources["variables"];
  models: Models;
  runs: Pick<RunStore, "find" | "state">;
  host: Pick<Host, "fork">;
}) {
  const { models } = parts;

  /** The workflow's draft or published version, checked like any start. */
  const latestOf = (
    run_id: string,
    { graph: choice, input: given, config: settings = {} }: Pick<ForkLaunch, "graph" | "input" | "config">,
  ): ForkRequest["latest"] => {
    const { workflow_id } = parts.runs.find(run_id) ?? { workflow_id: null };
    const version =
      workflow_id === null
        ? undefined
        : versionOf(parts, workflow_id, choice === "published" ? choice : "draft");
    if (!version)
      throw new Rejection(
        "not_forked",
        "The workflow of this run was deleted. Continue with the version it ran.",
      );
    const state = parts.runs.state(run_id);
    const input = given ?? state?.input ?? {};
    const config = state && withForkSettings(state.run.config, settings);
    const { withheld, published } = version;
    const { graph, roles } = readyToRun(
      version.graph,
      version.roles,
      {
        input,
        withheld,
        secrets: parts.secrets?.knownTo(version.id),
        ...defined({ config: config || undefined }),
      },
      models,
    );
    return {
      graph,
      roles,
      workflow_version: published?.number,
      ...foreignIn(parts, version, { graph, roles }),
      ...calledBy(parts, graph, [version.id]),
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
      const latest = graph === "original" ? undefined : latestOf(run_id, request);
      return parts.host.fork({ ...request, latest });
    },
  };
}
