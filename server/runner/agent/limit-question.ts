import type { RaisableLimit } from "@/server/domain/agent/outcome";
import type { Flow } from "@/server/domain/base/durable";
import { isObject } from "@/server/domain/base/guards";
import { limitError, limitValue } from "../interpreter/limits";
import type { Agent } from "./agent";

const RAISE = "raise";
const NEXT_MODEL = "next_model";
const STOP = "stop";

/** What to raise a limit to where a person does not say: twice as much. */
const FACTOR = 2;

/**
 * Waits until a limit no longer stands in the way. Where the run or the node is set to ask, a person decides: raise it,
 * go on with the next model of the agent's own list, or stop here, as without asking. Of several agents that reach the same limit
 * one asks. `next`: the name of the next model, where there is one.
 */
export function* atLimit(
  agent: Agent,
  limit: RaisableLimit,
  key: string,
  next?: string,
): Flow<"again" | "next_model"> {
  const { run } = agent;
  const isAsked = Object.values(run.s.interactions).some(
    ({ status, requested }) =>
      status === "open" && requested.kind === "budget" && requested.args?.limit === limit,
  );
  if (!asksAtLimits(agent) || isAsked) {
    yield* run.hold(limit);
    return "again";
  }
  const now = limitValue(limit, run.s) ?? 0;
  const { answer, option, value, by } = yield* run.ask(`${key}/limit`, {
    about: agent.about,
    kind: "budget",
    title: `${agent.role.name} has reached a limit of the run`,
    why: limitError(limit, run.s).message,
    args: { limit, now },
    options: [
      { label: "Raise the limit", value: RAISE },
      ...(next === undefined ? [] : [{ label: `Go on with ${next}`, value: NEXT_MODEL }]),
      { label: "Stop here", value: STOP },
    ],
    response_schema: {
      type: "object",
      properties: {
        to: {
          type: limit === "max_cost_usd" ? "number" : "integer",
          title: "New limit",
          exclusiveMinimum: now,
          default: now > 0 ? now * FACTOR : 1,
        },
      },
    },
  });
  const to = isObject(value) && typeof value.to === "number" ? value.to : now > 0 ? now * FACTOR : 1;
  if (answer === "chosen" && option === RAISE) {
    run.raiseLimit(limit, to, by);
    return "again";
  }
  if (answer === "chosen" && option === NEXT_MODEL && next !== undefined) {
    run.openLimit();
    return "next_model";
  }
  yield* run.hold(limit);
  return "again";
}

/** Whether a person is asked before a limit stops this agent: as its node says, else as the run does. */
function asksAtLimits({ run }: Agent): boolean {
  if (!run.s.run.people) return false;
  const { on_limit } = run.node.config as { on_limit?: string };
  return (on_limit ?? run.config.on_limit) === "ask";
}
