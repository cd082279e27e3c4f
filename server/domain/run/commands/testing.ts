// A crew of two at work, whose team a person changes: for tests of such changes.

import { RoleDefinition } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import type { NewEvent } from "../events";
import { crewRun } from "../testing";
import type { TeamCommand, TeamEdit } from "./team-edit";

export const role = (name: string, tools: string[] = []) => RoleDefinition.parse({ name, tools });
export const writer = role("Writer", ["read", "write"]);
export const reader = role("Reader", ["read"]);
export const judge = role("Judge", ["read", "mcp:law/*"]);
export const roles = [writer, reader];

export const edited = (edit: TeamEdit, more: Partial<TeamCommand> = {}): TeamCommand => ({
  kind: "edit_team",
  node_id: "crew",
  edit,
  ...more,
});
export const add = (role_name: string, more: object = {}) => edited({ kind: "add", role_name, ...more });
export const remove = (agent_id: string) => edited({ kind: "remove", agent_id });
export const change = (agent_id: string, patch: object) => edited({ kind: "change", agent_id, patch });
/** The event that such a change makes. */
export const changed = (agent_id: string, role_name: string | null, tools?: string[]): NewEvent => ({
  type: "member_changed",
  node_id: "crew",
  activation_id: "crew#1",
  payload: {
    agent_id,
    action: role_name === null ? "removed" : "changed",
    ...defined({ agent: role_name === null ? undefined : ({ agent_id, role_name } as never), tools }),
    by: "ann",
  },
});

export const pair = { members: { ann: "Writer", bob: "Reader" }, roles };
export const { a, begin, running } = crewRun(pair);
