import type { Payloads } from "../events";
import { noOf, yesOf } from "./person-answer";

type Requested = Payloads["interaction_requested"];
type Silence = Pick<
  Requested,
  "kind" | "mode" | "on_timeout" | "default_response" | "options" | "escalation"
>;

/** What happens without an answer, as the end of "Unanswered …": "means no". `levels`: the escalation levels so far. */
export function whenSilent(
  { kind, mode, on_timeout, default_response, options = [], escalation = [] }: Silence,
  levels = 0,
): string {
  if (mode === "advisory") return "changes nothing: the run continues meanwhile";
  switch (on_timeout) {
    case "continue":
      return "continues the run without an answer";
    case "fail":
      return "fails this step";
    case "escalate":
      return levels < escalation.length ? "escalates the question" : "fails this step";
    case "default":
      return typeof default_response === "string"
        ? `means “${default_response}”`
        : "continues the run with the default answer";
    case "approve":
      return `means ${quoted(yesOf(options)?.label) ?? "yes"}`;
    default:
      return whenRejected(kind, options);
  }
}

function whenRejected(kind: Silence["kind"], options: NonNullable<Silence["options"]>): string {
  if (kind === "input") return "fails this step";
  if (kind === "budget") return "leaves the run stopped";
  if (kind === "escalation" && options.length > 0) return "stops the run";
  if (options.length === 0) return "counts as rejection";
  const no = quoted(noOf(options)?.label);
  return no === undefined ? "fails this step" : `means ${no}`;
}

const quoted = (label: string | undefined) => (label === undefined ? undefined : `“${label}”`);

const LEVELS: Readonly<Record<NonNullable<Requested["urgency"]>, string>> = {
  low: "Low",
  normal: "",
  high: "High",
  critical: "Critical",
};

/** The urgency, the addressee and the required expertise of a question, a phrase each. */
export function askedOf({
  urgency = "normal",
  assigned_to,
  required_expertise = [],
}: Pick<Requested, "urgency" | "assigned_to" | "required_expertise">): string[] {
  return [
    LEVELS[urgency],
    assigned_to ? `Assigned to ${assigned_to}` : "",
    required_expertise.length > 0 ? `Requires expertise: ${required_expertise.join(", ")}` : "",
  ].filter(Boolean);
}

export function answerLabel(
  { answer, option }: Pick<Payloads["interaction_answered"], "answer" | "option">,
  { options = [] }: Pick<Requested, "options"> = {},
): string {
  if (answer === "chosen") return options.find(({ value }) => value === option)?.label ?? option ?? "";
  return {
    approve: "Approved",
    approve_always: "Approved for the rest of the run",
    reject: "Rejected",
    cancel: "Skipped",
    given: "Filled in",
    expired: "No answer in time",
  }[answer];
}

/** An answer as text for agents. */
export function answerText(
  { by, value, message, ...given }: Omit<Payloads["interaction_answered"], "interaction_id">,
  requested: Pick<Requested, "options">,
): string {
  return [
    `${by} answered: ${answerLabel(given, requested)}.`,
    ...(value === undefined ? [] : [typeof value === "string" ? value : JSON.stringify(value)]),
    ...(message === undefined ? [] : [message]),
  ].join("\n");
}
