"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { UserMinus, UserPlus, UserRoundCog } from "lucide-react";
import { useState } from "react";
import { ModelChoice } from "@/components/forms/fields/model-choice";
import { RolePicker } from "@/components/forms/fields/role-field";
import { FormDialog } from "@/components/forms/form-dialog";
import { useRun } from "@/components/run/run-context";
import { person } from "@/components/run/timeline/sentence-parts";
import { useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { CheckboxGroup } from "@/components/ui/input/checkbox-group";
import { Select } from "@/components/ui/input/select";
import { TextArea } from "@/components/ui/input/text-area";
import type { LlmConfig, RoleDefinition } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import type { RunState } from "@/server/domain/run";
import { crewNow, roleFor, type TeamEdit, toolsOfMember } from "@/server/domain/run/commands/team-edit";

const NEW = "(new)";

function MemberSelect({
  agents,
  value,
  onValueChange,
}: {
  agents: NonNullable<ReturnType<typeof crewNow>>["agents"];
  value: string;
  onValueChange: (agentId: string) => void;
}) {
  return (
    <Select
      label="Member"
      options={[
        { value: NEW, label: "New member" },
        ...agents.map(({ agent_id, role_name }) => ({
          value: agent_id,
          label: person(agent_id),
          hint: role_name,
        })),
      ]}
      {...{ value, onValueChange }}
    />
  );
}

/** Changes the crew of a running node: adds a role, changes or removes a member. */
export function TeamDialog({
  runId,
  nodeId,
  member,
  onClose,
}: {
  runId: string;
  nodeId: string;
  /** The member to start with; absent: a new one. */
  member?: string | undefined;
  onClose: () => void;
}) {
  const trpc = useTrpc();
  const head = useRun<RunState | null>((view) => view.head, null);
  const roles = (useQuery(trpc.roles.list.queryOptions()).data ?? []).map(({ role }) => role);
  const [who, setWho] = useState(member ?? NEW);
  const [draft, setDraft] = useState<MemberDraft>({});
  const [error, setError] = useState<string | null>(null);
  const change = useMutation(
    trpc.runs.changeTeam.mutationOptions({
      onSuccess: onClose,
      onError: () => {},
    }),
  );
  const crew = head ? crewNow(head, nodeId) : undefined;
  if (!head || !crew) return null;
  const before = crew.agents.find(({ agent_id }) => agent_id === who);
  const submit = (edit: TeamEdit | string) => {
    setError(typeof edit === "string" ? edit : null);
    if (typeof edit !== "string") change.mutate({ run_id: runId, node_id: nodeId, edit });
  };
  const name = head.graph.nodes[nodeId]?.name || nodeId;
  return (
    <FormDialog
      title={`Edit crew of ${name}`}
      description="Applies to this run only. Model changes apply from the next call, other changes from the next task."
      submit={before ? "Save" : "Add"}
      icon={before ? <UserRoundCog aria-hidden /> : <UserPlus aria-hidden />}
      mutation={change}
      error={error}
      sticky
      onSubmit={() => submit(memberEdit(before, draft))}
      onClose={onClose}
    >
      <MemberSelect
        agents={crew.agents}
        value={who}
        onValueChange={(next) => {
          setWho(next);
          setDraft({});
        }}
      />
      <MemberFields
        key={who}
        head={head}
        nodeId={nodeId}
        roles={roles}
        before={before}
        draft={draft}
        onChange={setDraft}
      />
      {before ? (
        <Button
          size="sm"
          className="self-start"
          icon={<UserMinus aria-hidden />}
          disabled={change.isPending}
          onClick={() => submit({ kind: "remove", agent_id: before.agent_id })}
        >
          Remove {person(before.agent_id)} from the crew
        </Button>
      ) : crew.process === "swarm" ? (
        <p className="text-[13px] text-ink-2">
          Active agents learn about a new member at the next handoff. To switch to the new member immediately,
          use “Override next…”.
        </p>
      ) : null}
    </FormDialog>
  );
}

function MemberFields({
  head,
  nodeId,
  roles,
  before,
  draft,
  onChange,
}: {
  head: RunState;
  nodeId: string;
  roles: readonly RoleDefinition[];
  before:
    | { agent_id: string; role_name: string; llm_config?: object | undefined; backstory?: string | undefined }
    | undefined;
  draft: MemberDraft;
  onChange: (draft: MemberDraft) => void;
}) {
  const roleName = draft.role_name ?? before?.role_name ?? "";
  const isSameRole = roleName === before?.role_name;
  const may =
    roleFor(
      head,
      roleName,
      roles.find(({ name }) => name === roleName),
    )?.tools ?? [];
  const left = before && isSameRole ? toolsOfMember(head, nodeId, before) : may;
  const tools = draft.tools ?? may.filter((tool) => left.includes(tool));
  const model = draft.llm_config ?? before?.llm_config ?? {};
  return (
    <>
      <RolePicker
        label="Role"
        roles={roles}
        value={roleName}
        onChange={(role_name) => {
          const { tools: _tools, ...rest } = draft;
          onChange({ ...rest, role_name });
        }}
      />
      <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
        <ModelChoice
          choice={model}
          hasDefault
          onChange={(part) => onChange({ ...draft, llm_config: { ...model, ...part } })}
        />
      </div>
      <TextArea
        label="Extra instructions"
        hint="Added to the role's prompt"
        rows={3}
        value={draft.backstory ?? before?.backstory ?? ""}
        onValueChange={(backstory) => onChange({ ...draft, backstory })}
      />
      {may.length > 0 ? (
        <CheckboxGroup
          label="Tools"
          hint="The role's tools, or a subset"
          options={may.map((tool) => ({ value: tool, label: tool }))}
          value={tools}
          onValueChange={(next) => onChange({ ...draft, tools: next })}
        />
      ) : null}
    </>
  );
}

/** What a person wrote of a member; absent: as it is. */
interface MemberDraft {
  role_name?: string;
  llm_config?: LlmConfig;
  backstory?: string;
  tools?: string[];
}

/** The edit to send, or a sentence about what is missing. */
function memberEdit(
  before: { agent_id: string; role_name: string } | undefined,
  { role_name, llm_config, backstory, tools }: MemberDraft,
): TeamEdit | string {
  const model = llm_config && withoutEmpty(llm_config);
  const hasModel = model && Object.keys(model).length > 0;
  const settings = defined({ backstory, tools });
  if (!before) {
    if (!role_name) return "Choose a role for the new member.";
    return { kind: "add", role_name, ...defined({ llm_config: hasModel ? model : undefined }), ...settings };
  }
  const patch = {
    ...defined({
      role_name: role_name === before.role_name ? undefined : role_name,
      llm_config: model && (hasModel ? model : null),
    }),
    ...settings,
  };
  if (Object.keys(patch).length === 0) return "Change at least one setting.";
  return { kind: "change", agent_id: before.agent_id, patch };
}

/** Empty fields fall back to the settings. */
const withoutEmpty = (llm: LlmConfig): LlmConfig => {
  const { provider_id, model, ...rest } = llm;
  return { ...rest, ...defined({ provider_id: provider_id || undefined, model: model || undefined }) };
};
