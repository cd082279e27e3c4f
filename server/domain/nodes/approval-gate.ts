import type { z } from "zod";
import { defined } from "@/server/domain/base/defined";
import type { Json, JsonObject } from "@/server/domain/base/values";
import { isApproval, isRejection } from "@/server/domain/base/yes-no";
import type { NodeAnswer } from "@/server/domain/tool/person-question";
import { questionFields, termsOf, timeoutDiagnostics } from "./asking/question-terms";
import {
  defineNode,
  type NodeContext,
  type NodeDiagnostic,
  NodeFailure,
  type NodeResult,
  type SchemaParts,
} from "./define";

/** The route taken after a timeout if the approval continues anyway. */
const TIMEOUT = "timeout";

const GateConfig = ({ z, QuestionTerms, Template }: SchemaParts) =>
  z.object({
    title: Template.default(""),
    /** What is to be decided about, as Markdown. */
    body_template: Template.optional(),
    /** The answers, which are the labels of the ways out. */
    options: z.array(z.string().min(1).max(80)).max(12).default(["approved", "rejected"]),
    /** A person may change the text before it goes on. */
    allow_edit: z.boolean().default(false),
    ...QuestionTerms.shape,
  });
type GateConfig = z.output<ReturnType<typeof GateConfig>>;

/** A person decides which way a run takes, and may leave a comment and change a draft. */
export const approvalGate = defineNode({
  type: "approval_gate",
  title: "Approval",
  hint: "Asks a person to choose the next step",
  icon: "user-round-check",
  group: "people",
  routes: true,
  routesKey: "options",
  config: GateConfig,
  fields: [
    { key: "title", label: "Question", as: "template", lines: 1, hint: "What to ask" },
    {
      key: "body_template",
      label: "Details",
      as: "template",
      hint: "Shown with the question, as Markdown",
    },
    { key: "options", label: "Options", as: "ways" },
    {
      key: "allow_edit",
      label: "Allow edits",
      as: "switch",
      hint: "Lets the person edit the first output, or the details if it's empty",
    },
    ...questionFields("label"),
  ],
  summary: ({ options, assigned_to }) =>
    options.length === 0
      ? "No options yet"
      : `${assigned_to ? `Asks ${assigned_to}: ` : "Asks: "}${options.join(" or ")}`,
  exits: ({ options, on_timeout, mode }) => [
    ...[...new Set(options)].map((label) => ({ label })),
    ...(on_timeout === "continue" && mode !== "advisory" && !options.includes(TIMEOUT)
      ? [{ label: TIMEOUT, title: "No answer" }]
      : []),
  ],
  newConfig: () => ({
    title: "Approve this?",
    options: ["approved", "rejected"],
    allow_edit: false,
  }),
  newNode: () => ({ name: "Approval" }),
  validate: (config) => [
    ...optionDiagnostics(config),
    ...timeoutDiagnostics(config, timeoutError(config)),
    ...(config.mode === "advisory" && silentWay(config) === null
      ? [
          diagnostic(
            "E_GATE_WAY_MEANWHILE",
            "This approval doesn't wait. Choose one of the options as the default answer.",
            "default_response",
          ),
        ]
      : []),
  ],
  templates: ({ title, body_template }) => [
    ...(title ? [{ field: "title", template: title }] : []),
    ...(body_template ? [{ field: "body_template", template: body_template }] : []),
  ],
  *run(config, ctx) {
    const asked = questionOf(config, ctx);
    const answer = yield* ctx.askPerson("approval", asked);
    const label = labelFor(answer, config, ctx);
    const draft = typeof answer.value === "string" ? answer.value : (asked.draft ?? null);
    return {
      output: outputs(ctx.node.output_keys, config.allow_edit, {
        decision: label,
        comment: answer.message ?? "",
        draft,
        answered_by: answer.by,
      }),
      labels: [label],
      why: { reason: reasonOf(answer) },
    } satisfies NodeResult;
  },
});

const diagnostic = (code: string, message: string, field: string): NodeDiagnostic => ({
  severity: "error",
  code,
  message,
  field,
});

function optionDiagnostics({ options }: GateConfig): NodeDiagnostic[] {
  if (options.length === 0) return [diagnostic("E_GATE_NO_OPTIONS", "Add at least one option.", "options")];
  const low = options.map((option) => option.toLowerCase());
  const twice = options.find((_option, at) => low.indexOf(low[at] ?? "") !== at);
  return twice === undefined
    ? []
    : [
        diagnostic(
          "E_GATE_OPTION_TWICE",
          `Duplicate option “${twice}”. Give each option a unique name.`,
          "options",
        ),
      ];
}

/** Why what follows where nobody answers cannot be done; null where it can. */
function timeoutError(config: GateConfig): string | null {
  const { on_timeout } = config;
  if (on_timeout === "default" && silentWay(config) === null)
    return "Choose one of the options as the default answer.";
  if (on_timeout === "approve" && !config.options.some(isApproval))
    return "No option is named “approved” or “yes”. Use a default answer instead.";
  if (on_timeout === "reject" && !config.options.some(isRejection))
    return "No option is named “rejected” or “no”. Use a default answer, or let the node fail.";
  return null;
}

/** The answer that stands where nobody gives one; null where none is set. */
function silentWay({ default_response, options }: GateConfig): string | null {
  const defaultAnswer = typeof default_response === "string" ? default_response.toLowerCase() : null;
  return options.find((option) => option.toLowerCase() === defaultAnswer) ?? null;
}

function questionOf(config: GateConfig, ctx: NodeContext) {
  const { title, body_template, options, allow_edit } = config;
  const body = body_template ? ctx.render(body_template) : "";
  const draft = allow_edit ? draftOf(ctx, body) : undefined;
  return {
    kind: "approval" as const,
    title: (title ? ctx.render(title) : "") || `Decision needed: ${ctx.node.name || ctx.node.id}`,
    why: "The workflow continues with the option you choose.",
    options: options.map((option) => ({ label: option, value: option })),
    ...defined({ body: body && body !== draft ? body : undefined, draft }),
    ...termsOf(config),
  };
}

/** The text that a person may edit: the value of the node's first output key, else the body of the question. */
function draftOf(ctx: NodeContext, body: string): string {
  const [key] = ctx.node.output_keys;
  const value: Json | undefined = key === undefined ? undefined : (ctx.input[key] ?? ctx.state[key]);
  if (value === undefined || value === null) return body;
  if (typeof value === "string") return value;
  throw new NodeFailure(
    "CONFIG",
    `“${ctx.node.name || ctx.node.id}” lets a person edit “${key}”, which isn't text. Only text can be edited.`,
  );
}

/** The chosen route. Throws NodeFailure if no one decided and there is no route for that. */
function labelFor({ answer, option, message }: NodeAnswer, config: GateConfig, ctx: NodeContext): string {
  if (answer === "chosen" && option !== undefined) return option;
  if (answer === "pending") return silentWay(config) ?? "";
  if (answer === "reject") return refusal(config.options, message, ctx);
  const label = labelAtTimeout(
    config,
    ctx.exits.some(({ label }) => label === TIMEOUT),
  );
  if (label !== undefined) return label;
  throw new NodeFailure(
    "HUMAN_TIMEOUT",
    `“${ctx.node.name || ctx.node.id}” wasn't answered before the deadline, and no option is set for that case.`,
    { user_action: "retry" },
  );
}

function labelAtTimeout(config: GateConfig, hasTimeout: boolean): string | undefined {
  const { options, on_timeout } = config;
  switch (on_timeout ?? (hasTimeout ? "continue" : "reject")) {
    case "continue":
      return TIMEOUT;
    case "approve":
      return options.find(isApproval);
    case "default":
      return silentWay(config) ?? undefined;
    case "reject":
      return options.find(isRejection);
    default:
      return undefined;
  }
}

/** The route of a plain no. Throws NodeFailure if the gate has none. */
function refusal(options: readonly string[], message: string | undefined, ctx: NodeContext): string {
  const no = options.find(isRejection);
  if (no !== undefined) return no;
  const why = message ? `: ${message}` : ".";
  throw new NodeFailure(
    "HUMAN_REJECTED",
    `“${ctx.node.name || ctx.node.id}” was declined, but no option is named “rejected” or “no”${why}`,
    { user_action: "retry" },
  );
}

const reasonOf = ({ answer, by, message }: NodeAnswer): string =>
  answer === "expired"
    ? "No answer before the deadline."
    : answer === "pending"
      ? "Not waiting for an answer."
      : `${by === "user" ? "Someone in the app" : by} decided${message ? `: ${message}` : "."}`;

/** Parts of the answer by name; keys of other names get the draft, the comment and the decision in turn. */
function outputs(keys: readonly string[], isEdited: boolean, parts: JsonObject): JsonObject {
  const order = isEdited ? ["draft", "comment", "decision"] : ["decision", "comment"];
  const free = order.filter((part) => !keys.includes(part));
  const output: JsonObject = {};
  for (const key of keys) {
    const part = Object.hasOwn(parts, key) ? key : free.shift();
    if (part !== undefined) output[key] = parts[part] ?? null;
  }
  return output;
}
