import { defined } from "@/server/domain/base/defined";
import type { StepRequest } from "@/server/domain/base/durable";
import { recordOf } from "@/server/domain/base/guards";
import { asJson } from "@/server/domain/base/json";
import type { JsonObject } from "@/server/domain/base/values";
import type { OnCrash, ToolAnswer, ToolSpec } from "@/server/domain/tool/tool";
import type { ModelRequest, Models } from "@/server/llm/model";

/**
 * Tools that concern nothing but the run itself, such as its files: where another run begins as this one went, they are
 * called again, since what they find may be another by then, and what they leave belongs to that run.
 */
export const OF_THE_RUN: ReadonlySet<string> = new Set([
  ...["create_artifact", "file_write", "file_read", "read_artifact"],
  ...["store_memory", "retrieve_memory", "search_memory"],
  ...["calculator", "current_time"],
]);

/** A model call by what the model is asked: without what names the run, the call, or the money that is left. */
export function modelRequest(request: ModelRequest, models: Pick<Models, "describe">): StepRequest {
  const { llm_config, messages, response, tools, tool_protocol } = request;
  return {
    kind: "model",
    again: "reuse",
    asked: () => asJson({ llm_config, messages, response, tools, tool_protocol }),
    fits(value) {
      const now = models.describe(llm_config);
      const from = recordOf(value);
      return !now || (from?.provider_id === now.provider_id && from.model === now.model);
    },
  };
}

/** A call of a tool by its name, its arguments and what a person answered on the way. `onCrash`: see there. */
export function toolRequest(
  call: { tool: string; args: JsonObject; answers: readonly ToolAnswer[] },
  spec: Pick<ToolSpec, "read_only"> | undefined,
  onCrash?: OnCrash | null,
): StepRequest {
  return {
    kind: "tool",
    again: OF_THE_RUN.has(call.tool) ? "ask" : spec?.read_only ? "reuse" : "agree",
    asked: () => asJson(call),
    ...defined({ onCrash: onCrash || undefined }),
  };
}
