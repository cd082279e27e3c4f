import { type Capability, ResponseRung } from "@/server/domain/model/provider";
import { CONTEXT, isBadGeneration, type ServerError } from "../openai/errors";
import { SEALED_THOUGHTS, SUMMARIES } from "../openai/responses";

/** How to ask again after a refusal. */
export interface Adaptation {
  /** What the refusal taught. */
  learned: Capability;
  /** False: holds for this request only. */
  remember: boolean;
}

const FORMAT =
  /response_format|json_schema|json_object|structured output|guided_json|guided decoding|json mode/i;
const TOOLS = /\b(?:tools?|functions?|function[_ -]?call(?:s|ing)?|tool[_ -](?:choice|calls?|use))\b/i;
/** About one tool or one message: no lesson about others. */
const THIS_TOOL =
  /invalid schema|schema for function|invalid_function_parameters|\brole\b|tool_call_id|must be (?:a response|followed)|thought[_ ]signature/i;
/** What is asked for by the Responses API only, and how services refuse it. */
const ONLY_THERE = [
  { field: SUMMARIES, pattern: /\breasoning\.summary\b|reasoning summar(?:y|ies)/i },
  { field: SEALED_THOUGHTS, pattern: /\binclude\[|encrypted content/i },
];
/** Templates of some models know only two roles. */
const NO_SYSTEM =
  /system (?:role|messages?|prompts?) (?:is |are )?not supported|(?:does not|doesn't) support (?:the )?system|only (?:supports? )?user(?:,| and) assistant|roles must alternate/i;
const NAMES = /\bmessages[.[]\d{1,6}\]?[.\w]{0,80}\.name\b/;
const FIELDS = [
  "parallel_tool_calls",
  "temperature",
  "top_p",
  "seed",
  "stop",
  "reasoning_effort",
  "max_tokens",
  "max_completion_tokens",
];

/** What was asked, as far as a refusal may be about it. */
export interface Asked {
  /** How a shape was asked for, where it is ours to ask otherwise; null: not at all. */
  rung: ResponseRung | null;
  /** Functions were offered. */
  hasFunctions: boolean;
  /** It is ours to offer them otherwise. */
  mayDropFunctions: boolean;
  /** An effort was sent. */
  hasEffort: boolean;
  /** Nobody chose the protocol. */
  mayChangeApi: boolean;
}

/**
 * What a refusal says about the model: which part of the request it does not know. Null where the refusal is about
 * something else.
 */
export function adapt(error: ServerError, capability: Capability, asked: Asked): Adaptation | null {
  const { rung, hasFunctions, mayDropFunctions, hasEffort, mayChangeApi } = asked;
  if (error.status !== 400 && error.status !== 404 && error.status !== 422) return null;
  const refusal = `${error.param} ${error.code} ${error.message}`;
  if (CONTEXT.test(refusal) || isBadGeneration(error)) return null;
  const learned = (change: Capability, remember = true): Adaptation => ({
    learned: change,
    remember,
  });
  // DeepSeek's thinking models want their thoughts back in every message of theirs.
  if (/\breasoning_content\b/.test(refusal) && capability.wants_reasoning !== true)
    return learned({ wants_reasoning: true });
  if (/stream_options|include_usage/i.test(refusal) && capability.stream_usage !== false)
    return learned({ stream_usage: false });
  if (NO_SYSTEM.test(refusal) && capability.system_role !== false) return learned({ system_role: false });
  if (NAMES.test(refusal) && !(capability.refuses ?? []).includes("name"))
    return learned({ refuses: ["name"] });
  const unknownThere = ONLY_THERE.find(
    ({ field, pattern }) =>
      (error.param === field || pattern.test(refusal)) && !(capability.refuses ?? []).includes(field),
  );
  if (unknownThere) return learned({ refuses: [unknownThere.field] });
  // Newer models do their reasoning with tools in the other protocol only, and say where.
  if (mayChangeApi && capability.api !== "responses" && /\/responses\b|\bresponses api\b/i.test(refusal))
    return learned({ api: "responses" });
  // Each of the two alone may be fine.
  if (hasFunctions && /\breasoning(?:_effort)?\b/i.test(refusal) && TOOLS.test(refusal)) {
    const { effort_with_tools } = capability;
    if (effort_with_tools !== "none")
      return learned({ effort_with_tools: hasEffort && effort_with_tools === undefined ? "omit" : "none" });
    if (mayDropFunctions) return learned({ native_tools: false });
  }
  const field = FIELDS.find(
    (name) =>
      new RegExp(`(?:^|[^\\w])${name}(?:$|[^\\w])`).test(refusal) &&
      !(capability.refuses ?? []).includes(name),
  );
  if (field && !FORMAT.test(error.param)) return learned(withoutField(field, refusal, capability));
  if (mayDropFunctions && TOOLS.test(refusal))
    return learned({ native_tools: false }, !THIS_TOOL.test(refusal));
  if (rung !== null && rung !== "prompt" && (FORMAT.test(refusal) || isVague(error))) {
    const next = ResponseRung.options[ResponseRung.options.indexOf(rung) + 1] ?? "prompt";
    // A schema that the server cannot take says nothing about others.
    const isAboutThisSchema = /invalid schema|invalid_json_schema|in context=|schema is (?:too|not)/i.test(
      refusal,
    );
    return learned({ response_format: next }, FORMAT.test(refusal) && !isAboutThisSchema);
  }
  return null;
}

function withoutField(field: string, message: string, capability: Capability): Capability {
  const other =
    field === "max_tokens"
      ? "max_completion_tokens"
      : field === "max_completion_tokens"
        ? "max_tokens"
        : null;
  const isRenamed =
    other !== null &&
    (capability.max_tokens_name === undefined || message.includes(other)) &&
    capability.max_tokens_name !== other;
  if (isRenamed) return { max_tokens_name: other };
  return { refuses: [field] };
}

/** Some servers only say that something is wrong, without saying what. */
function isVague(error: ServerError): boolean {
  return (
    error.status !== 404 &&
    error.param === "" &&
    error.message.trim().length < 40 &&
    !/model|key|token|message/i.test(error.message)
  );
}
