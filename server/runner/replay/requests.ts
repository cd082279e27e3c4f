import { defined } from "@/server/domain/base/defined";
import type { StepRequest } from "@/server/domain/base/durable";
import { recordOf } from "@/server/domain/base/guards";
import { asJson, asStored } from "@/server/domain/base/json";
import type { Json, JsonObject } from "@/server/domain/base/values";
import { isSince } from "@/server/domain/run/edition";
import type { SecretUse } from "@/server/domain/tool/secret";
import type { OnCrash, ToolAnswer, ToolOutput, ToolSpec } from "@/server/domain/tool/tool";
import type { ModelRequest, Models } from "@/server/llm/model";
import wordingOf3 from "./edition-3.json";

/**
 * Tools that concern nothing but the run itself, such as its files: where another run begins as this one went, they are
 * called again, since what they find may be another by then, and what they leave belongs to that run.
 */
export const OF_THE_RUN: ReadonlySet<string> = new Set([
  ...["create_artifact", "file_write", "file_read", "read_artifact"],
  ...["store_memory", "retrieve_memory", "search_memory"],
  ...["calculator", "current_time"],
]);

/** Texts that prompts contain since the fourth edition, with what they were before; the longest first. */
const REWORDED = Object.entries(wordingOf3).sort(([one], [other]) => other.length - one.length);

/**
 * A request as the third edition worded it, so that answers recorded then are found by it. What a person wrote in
 * exactly these words changes with it; old requests contain them nowhere.
 */
function asBefore4(value: Json): Json {
  if (typeof value === "string")
    return REWORDED.reduce((text, [now, before]) => text.replaceAll(now, before), value);
  if (Array.isArray(value)) return value.map(asBefore4);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, asBefore4(one ?? null)]));
}

/**
 * A model call by what the model is asked: without what names the run, the call, or the money that is left. A run of an
 * older edition is sent today's prompts, and its requests are known by those of then.
 */
export function modelRequest(
  request: ModelRequest,
  models: Pick<Models, "describe">,
  run: { edition?: number },
): StepRequest {
  const { llm_config, messages, response, tools, tool_protocol } = request;
  const asked = () => asJson({ llm_config, messages, response, tools, tool_protocol });
  return {
    kind: "model",
    again: "reuse",
    asked: isSince(run, 4) ? asked : () => asBefore4(asStored(asked())),
    fits(value) {
      const now = models.describe(llm_config);
      const from = recordOf(value);
      return !now || (from?.provider_id === now.provider_id && from.model === now.model);
    },
  };
}

const hasSucceeded = (value: Json): boolean => {
  const { status_code } = recordOf(value);
  return typeof status_code !== "number" || status_code < 400;
};

/** A call of a tool by its name, its arguments and what a person answered on the way. `retries`: a recorded failure of a tool that only reads is no
 * answer. */
export function toolRequest(
  call: { tool: string; args: JsonObject; answers: readonly ToolAnswer[]; secrets?: readonly SecretUse[] },
  spec: Pick<ToolSpec, "read_only"> | undefined,
  { onCrash, retries = false }: { onCrash?: OnCrash | null; retries?: boolean } = {},
): StepRequest {
  return {
    kind: "tool",
    again: OF_THE_RUN.has(call.tool) ? "ask" : spec?.read_only ? "reuse" : "agree",
    asked: () => asJson(call),
    ...defined({
      onCrash: onCrash || undefined,
      fits: retries && spec?.read_only ? (value: Json) => hasSucceeded(value) : undefined,
    }),
  };
}

/**
 * The call of a program that continues with the result of a call of its own. It is executed if the program's beginning
 * was, and else has the recorded answer. `reused`: see `Reused` of the beginning.
 */
export const continuedRequest = (
  { kind, asked }: StepRequest,
  { nth, output, reused }: { nth: number; output: ToolOutput; reused?: string },
): StepRequest => ({
  kind,
  again: reused === undefined ? "ask" : "reuse",
  asked: () => asJson({ ...recordOf(asked()), called: { nth, output } }),
});
