import type { Guardrail, LlmConfig } from "@/server/domain/agent/role";

/** What the checks need of a crew in the settings of any kind of node. */
export interface CrewLike {
  agents?: readonly { agent_id: string; role_name: string; llm_config?: LlmConfig | undefined }[];
}

/** A plan, likewise. */
export interface PlanLike {
  tasks?: readonly {
    task_id: string;
    required_role?: string | undefined;
    assigned_agent?: string | null | undefined;
    condition?: string | undefined;
    guardrails?: readonly Guardrail[] | undefined;
  }[];
}
