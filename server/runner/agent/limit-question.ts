import type { RaisableLimit } from "@/server/domain/agent/outcome";
import type { LlmConfig } from "@/server/domain/agent/role";
import type { Flow } from "@/server/domain/base/durable";
import { isCrewNode, settingsOf } from "@/server/domain/nodes";
import {
  limitQuestion,
  limitsAskEverywhere,
  limitValue,
  openLimitQuestion,
  raisedTo,
} from "../interpreter/limits";
import type { CheaperModel } from "../node/ports";
import type { Agent } from "./agent";

const NEXT_MODEL = "next_model";
const CHEAPER_MODEL = "cheaper_model";

/** How an agent continues after a limit: as before, with the next of its own models, or with a cheaper one. */
export type GoesOn = "again" | "next_model" | CheaperModel;

/** The model call that a limit blocks. */
interface Stopped {
  llm_config: LlmConfig;
  /** The name of the agent's next own model, if there is one. */
  next: string | undefined;
}

/**
 * Waits until a limit no longer blocks. If the node, the crew, the role or the run is set to ask, a person decides:
 * raise it, continue with a cheaper model if the budget is short, or stop here, as without asking. If several agents
 * reach the same limit, one asks. `call`: the rejected call, if it was one.
 */
export function* atLimit(agent: Agent, limit: RaisableLimit, key: string, call?: Stopped): Flow<GoesOn> {
  const { run } = agent;
  if (!asksAtLimits(agent) || openLimitQuestion(run.s, limit)) {
    yield* run.hold(limit);
    return "again";
  }
  const isByPrice = limitsAskEverywhere(run.s);
  const next = isByPrice ? undefined : call?.next;
  const cheaper =
    isByPrice && call && limit === "max_cost_usd"
      ? yield* run.cheaperModel(`${key}/cheaper`, call.llm_config)
      : null;
  const options: { label: string; value: string }[] = [];
  if (next !== undefined) options.push({ label: `Continue with ${next}`, value: NEXT_MODEL });
  if (cheaper) options.push({ label: `Continue with ${cheaper.name} (cheaper)`, value: CHEAPER_MODEL });
  const title = `${agent.role.name} reached a run limit`;
  const answer = yield* run.ask(`${key}/limit`, {
    about: agent.about,
    ...limitQuestion(limit, run.s, title, options),
  });
  const to = raisedTo(answer, limit, run.s);
  if (to !== null) {
    if (to > (limitValue(limit, run.s) ?? 0)) run.raiseLimit(limit, to, answer.by);
    else run.openLimit();
    return "again";
  }
  if (answer.option === NEXT_MODEL && next !== undefined) {
    run.openLimit();
    return "next_model";
  }
  if (answer.option === CHEAPER_MODEL && cheaper) {
    run.openLimit();
    return cheaper;
  }
  yield* run.hold(limit);
  return "again";
}

/** Whether a person is asked before a limit stops this agent: as its node says, else its crew, its role, the run. */
function asksAtLimits({ run, role }: Agent): boolean {
  if (!run.s.run.people) return false;
  const { node } = run;
  const own = settingsOf(node).on_limit;
  const shared = limitsAskEverywhere(run.s)
    ? ((isCrewNode(node) ? node.config.crew?.on_limit : undefined) ?? role.on_limit)
    : undefined;
  return (own ?? shared ?? run.config.on_limit) === "ask";
}
