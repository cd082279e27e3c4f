import { defined } from "@/server/domain/base/defined";
import type { Durable, Flow, StepRequest, StepWork } from "@/server/domain/base/durable";
import type { Json, JsonObject } from "@/server/domain/base/values";
import type { RunState } from "@/server/domain/run";
import type { Payloads } from "@/server/domain/run/events";
import type { RiskLevel } from "@/server/domain/tool/tool";
import { StepFailed } from "../node/flow";
import type { About, PersonQuestion } from "../node/ports";
import { AGREED, type Obstacle, obstacleOf } from "./recorded-answers";

/** As which tool a person is asked about a call of a model. */
export const MODEL_CALL = "model call";

/** What a call needs of the attempt that makes it. */
export interface Caller {
  /** A step of the attempt that asks a model or a tool. */
  request(key: string, request: StepRequest, work: StepWork, isRepeatable?: boolean): Durable;
  ask(key: string, question: PersonQuestion): Flow<Payloads["interaction_answered"]>;
  isApproved(tool: string): boolean;
  readonly s: RunState;
}

interface Call {
  key: string;
  request: StepRequest;
  work: StepWork;
  /** It changes nothing, anywhere: it may be given up, and made again. */
  isRepeatable?: boolean;
  /** It may have been in flight when a process ended, and is made again. */
  onRepeated?(): void;
  /** As what a person would be asked about it. */
  question: {
    about: About | Record<string, never>;
    tool_name: string;
    args: JsonObject;
    risk?: RiskLevel | undefined;
  };
}

/**
 * Makes a call, or uses its recorded answer. If a person must approve first, asks and waits: a call with possible
 * effects is never repeated silently, and a replay that may not ask anyone doesn't. Throws StepFailed.
 */
export function* makeCall(run: Caller, call: Call): Flow<{ value: Json; reused?: string }> {
  let { result } = yield [run.request(call.key, call.request, call.work, call.isRepeatable)];
  for (let k = 1; ; k++) {
    if (result.repeated) call.onRepeated?.();
    if (result.ok) return { value: result.value, ...defined({ reused: result.reused || undefined }) };
    const obstacle = obstacleOf(result.error);
    if (!obstacle) throw new StepFailed(result.error);
    const nth = k === 1 ? "" : String(k);
    const isInFlight = obstacle.why === "in_flight" && obstacle.run === run.s.run.id;
    const agreed =
      isInFlight && call.request.onCrash === "fail"
        ? "no"
        : yield* agreement(run, call, obstacle, `${call.key}/before${nth}`);
    if (agreed !== "yes") return notMade(agreed, obstacle);
    if (isInFlight) call.onRepeated?.();
    // An agreement that a fork has from its original is used up where the original made the call: the fork asks again.
    const key = `${call.key}${AGREED}${nth}`;
    ({ result } = yield [run.request(key, { ...call.request, isAgreed: true }, call.work)]);
  }
}

/** The result of a call that no person agreed to: what it gave before. Throws StepFailed where it was never made. */
function notMade(agreed: keyof typeof NOT_MADE, obstacle: Obstacle): { value: Json; reused?: string } {
  if (obstacle.why === "in_flight") return { value: obstacle.value };
  if (obstacle.why === "done_before") return { value: obstacle.value, reused: obstacle.run };
  const message = `${NOT_MADE[agreed]} ${obstacle.difference}`;
  const code = agreed === "no" ? "HUMAN_REJECTED" : "HUMAN_TIMEOUT";
  throw new StepFailed({
    name: "Declined",
    message,
    detail: { error: { code, message, retryable: false, user_action: "none" } },
  });
}

const NOT_MADE = {
  no: "A person rejected a call that was not recorded.",
  nobody: "No one answered in time whether to make a call that was not recorded, so it was not made.",
};

function* agreement(
  run: Caller,
  { question }: Call,
  obstacle: Obstacle,
  key: string,
): Flow<"yes" | keyof typeof NOT_MADE> {
  const { about, tool_name, args, risk } = question;
  if (obstacle.why === "not_recorded" && run.isApproved(tool_name)) return "yes";
  const { title, why } = QUESTION_TEXTS[obstacle.why](tool_name, obstacle);
  const { answer } = yield* run.ask(key, {
    about,
    kind: "tool_confirmation",
    title,
    why,
    tool_name,
    args,
    ...defined({ risk }),
  });
  if (answer === "expired") return "nobody";
  return answer === "approve" || answer === "approve_always" ? "yes" : "no";
}

const QUESTION_TEXTS: Readonly<
  Record<Obstacle["why"], (tool: string, obstacle: Obstacle) => { title: string; why: string }>
> = {
  done_before: (tool) => ({
    title: `Call ${tool} again?`,
    why: "The original run already made this call, and it may have had side effects. Approve to make it again; reject to continue with its recorded answer.",
  }),
  in_flight: (tool) => ({
    title: `Call ${tool} again?`,
    why: "This call was started before and its result is unknown: it may have been executed and had side effects. Approve to make it again; reject to continue without its result.",
  }),
  not_recorded: (tool, obstacle) => ({
    title: tool === MODEL_CALL ? "Call a model?" : `Call ${tool}?`,
    why: `This replay has no recorded answer. ${obstacle.why === "not_recorded" ? obstacle.difference : ""} Approve to make the call.`,
  }),
};
