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
/** Fields of the Responses API only, and how services refuse them. */
const ONLY_THERE = [
  { field: SUMMARIES, pattern: /\breasoning\.summary\b|reasoning summar(?:y|ies)/i },
  { field: SEALED_THOUGHTS, pattern: /\binclude\[|encrypted content/i },
];
/** Some models' templates have only two roles. */
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

/** The parts of a request that a refusal may be about. */
export interface Asked {
  /** How a schema was asked for, if that may be changed; null: not at all. */
  rung: ResponseRung | null;
  /** Functions were offered. */
  hasFunctions: boolean;
  /** They may be offered in another way. */
  mayDropFunctions: boolean;
  /** An effort was sent. */
  hasEffort: boolean;
  /** No one chose the protocol. */
  mayChangeApi: boolean;
}

/** A refusal of a request, with its text in one. */
interface Refused {
  error: ServerError;
  refusal: string;
  capability: Capability;
  asked: Asked;
}

const learned = (change: Capability, remember = true): Adaptation => ({ learned: change, remember });
const refuses = ({ refuses: known = [] }: Capability, field: string): boolean => known.includes(field);

/** What a refusal shows of the model: one rule for each part of a request. The first that applies counts. */
const RULES: readonly ((refused: Refused) => Adaptation | false | undefined)[] = [
  // DeepSeek's thinking models need their thoughts back in each of their messages.
  ({ refusal, capability }) =>
    /\breasoning_content\b/.test(refusal) &&
    capability.wants_reasoning !== true &&
    learned({ wants_reasoning: true }),
  ({ refusal, capability }) =>
    /stream_options|include_usage/i.test(refusal) &&
    capability.stream_usage !== false &&
    learned({ stream_usage: false }),
  ({ refusal, capability }) =>
    NO_SYSTEM.test(refusal) && capability.system_role !== false && learned({ system_role: false }),
  ({ refusal, capability }) =>
    NAMES.test(refusal) && !refuses(capability, "name") && learned({ refuses: ["name"] }),
  ({ error, refusal, capability }) => {
    const unknown = ONLY_THERE.find(
      ({ field, pattern }) => (error.param === field || pattern.test(refusal)) && !refuses(capability, field),
    );
    return unknown && learned({ refuses: [unknown.field] });
  },
  // Newer models combine reasoning with tools in the other protocol only, and say so.
  ({ refusal, capability, asked }) =>
    asked.mayChangeApi &&
    capability.api !== "responses" &&
    /\/responses\b|\bresponses api\b/i.test(refusal) &&
    learned({ api: "responses" }),
  // Each of the two alone may be accepted.
  ({ refusal, capability: { effort_with_tools }, asked }) => {
    if (!asked.hasFunctions || !/\breasoning(?:_effort)?\b/i.test(refusal) || !TOOLS.test(refusal))
      return false;
    const mayOmit = asked.hasEffort && effort_with_tools === undefined;
    if (effort_with_tools !== "none") return learned({ effort_with_tools: mayOmit ? "omit" : "none" });
    return asked.mayDropFunctions && learned({ native_tools: false });
  },
  ({ error, refusal, capability }) => {
    const field = FIELDS.find(
      (name) => new RegExp(`(?:^|[^\\w])${name}(?:$|[^\\w])`).test(refusal) && !refuses(capability, name),
    );
    if (field === undefined || FORMAT.test(error.param)) return undefined;
    return learned(withoutField(field, refusal, capability));
  },
  ({ refusal, asked }) =>
    asked.mayDropFunctions &&
    TOOLS.test(refusal) &&
    learned({ native_tools: false }, !THIS_TOOL.test(refusal)),
  ({ error, refusal, asked: { rung } }) => {
    if (rung === null || rung === "prompt" || (!FORMAT.test(refusal) && !isVague(error))) return false;
    const next = ResponseRung.options[ResponseRung.options.indexOf(rung) + 1] ?? "prompt";
    // A schema that the server rejects says nothing about others.
    const isAboutThisSchema = /invalid schema|invalid_json_schema|in context=|schema is (?:too|not)/i.test(
      refusal,
    );
    return learned({ response_format: next }, FORMAT.test(refusal) && !isAboutThisSchema);
  },
];

/** Which part of the request the model doesn't support, by a refusal; null if it is about something else. */
export function adapt(error: ServerError, capability: Capability, asked: Asked): Adaptation | null {
  if (error.status !== 400 && error.status !== 404 && error.status !== 422) return null;
  const refusal = `${error.param} ${error.code} ${error.message}`;
  if (CONTEXT.test(refusal) || isBadGeneration(error)) return null;
  for (const rule of RULES) {
    const adaptation = rule({ error, refusal, capability, asked });
    if (adaptation) return adaptation;
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
