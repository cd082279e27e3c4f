import type { LlmConfig } from "@/server/domain/agent/role";
import type { TeamEdit } from "@/server/domain/run/commands/team-edit";

/** What a person wrote of a member; absent: as it is. */
export interface MemberDraft {
  role_name?: string;
  llm_config?: LlmConfig;
  backstory?: string;
  tools?: string[];
}

/** What is sent for it, or what is still missing, in a sentence. */
export function memberEdit(
  before: { agent_id: string; role_name: string } | undefined,
  { role_name, llm_config, backstory, tools }: MemberDraft,
): TeamEdit | string {
  const model = llm_config && withoutEmpty(llm_config);
  const hasModel = model && Object.keys(model).length > 0;
  const settings = {
    ...(backstory === undefined ? {} : { backstory }),
    ...(tools ? { tools } : {}),
  };
  if (!before) {
    if (!role_name) return "Choose which role joins the crew.";
    return { kind: "add", role_name, ...(hasModel ? { llm_config: model } : {}), ...settings };
  }
  const patch = {
    ...(role_name === undefined || role_name === before.role_name ? {} : { role_name }),
    ...(model ? { llm_config: hasModel ? model : null } : {}),
    ...settings,
  };
  if (Object.keys(patch).length === 0) return "Nothing is changed yet.";
  return { kind: "change", agent_id: before.agent_id, patch };
}

/** What is left empty is left to the settings. */
const withoutEmpty = (llm: LlmConfig): LlmConfig => {
  const { provider_id, model, ...rest } = llm;
  return { ...rest, ...(provider_id ? { provider_id } : {}), ...(model ? { model } : {}) };
};
