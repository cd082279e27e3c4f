import { randomBytes } from "node:crypto";
import type { RunConfig } from "@/server/domain/agent/outcome";
import type { RoleDefinition } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import type { JsonObject } from "@/server/domain/base/values";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { EDITION } from "@/server/domain/run/edition";
import type { PeopleRules, RunEventOf } from "@/server/domain/run/events";
import { RULES_NOW, USUAL_PEOPLE } from "@/server/domain/run/questions/question-times";
import { storedCreation } from "./creation-cache";

type Creation = RunEventOf<"run_created">["payload"];

export interface StartRequest {
  workflow_id: string | null;
  workflow_name: string;
  graph: WorkflowGraph;
  roles: RoleDefinition[];
  input: JsonObject;
  config: RunConfig;
  trigger: Creation["trigger"];
  provider_summary: Creation["provider_summary"];
  context_windows?: Creation["context_windows"];
  installation?: Creation["installation"];
  foreign?: Creation["foreign"];
  pins?: Creation["pins"];
  only_node?: Creation["only_node"];
  parent?: Creation["parent"];
  workflows?: Creation["workflows"];
  origin?: Creation["origin"];
  workflow_version?: Creation["workflow_version"];
  variables?: Creation["variables"];
  idempotency_key?: string;
  /** Of what was asked for with the key, so that the same key is not taken for something else. */
  request_hash?: string;
}

/** The first event of a run that is asked for, as its log gives it back. */
export function creationOf(
  request: StartRequest,
  about: {
    /** Unix time in milliseconds. */
    now: number;
    past_work: NonNullable<Creation["past_work"]>;
    people?: PeopleRules | undefined;
    redact?: (<T>(value: T) => T) | undefined;
  },
): RunEventOf<"run_created"> {
  const { now, past_work, people, redact } = about;
  return storedCreation({
    type: "run_created",
    seq: 1,
    ts: now,
    payload: {
      graph: request.graph,
      roles: request.roles,
      workflow_id: request.workflow_id,
      workflow_name: request.workflow_name,
      input: redact ? redact(request.input) : request.input,
      config: request.config,
      trigger: request.trigger,
      provider_summary: request.provider_summary,
      ...defined({
        context_windows: request.context_windows,
        past_work: past_work.length > 0 ? past_work : undefined,
        can_hold: request.config.mode === "continuous" ? undefined : (true as const),
        installation: request.installation,
        foreign: request.foreign,
        pins: request.pins,
        only_node: request.only_node,
        parent: request.parent,
        workflows: request.workflows,
        origin: request.origin,
        workflow_version: request.workflow_version,
        variables: request.variables,
      }),
      people: { ...(people ?? USUAL_PEOPLE), ...RULES_NOW },
      edition: EDITION,
      prompt_seed: randomBytes(16).toString("hex"),
    },
  });
}
