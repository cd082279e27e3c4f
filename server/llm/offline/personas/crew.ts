import { defined } from "@/server/domain/base/defined";
import { textsOf } from "@/server/domain/base/guards";
import { propertiesOf } from "@/server/domain/base/json-schema";
import { lastOf, must, present } from "@/server/domain/base/must";
import type { Json, JsonObject, JsonSchema } from "@/server/domain/base/values";
import type { Message, Prompt, Tool } from "../prompt";
import { decideApproval, decideReview, wordFor } from "./decide";
import { WORK } from "./plan";
import { personaByName, personaOf, proseOf, quote } from "./prose";

/**
 * A rule by which a role uses a tool of its crew without a directive, from its prompt, the conversation (results have
 * the role "tool") and the tools on offer; null where it does not apply.
 */
export type CrewRule = (
  prompt: Prompt,
  messages: readonly Message[],
  tools: readonly Tool[],
) => { name: string; args: JsonObject } | null;

/**
 * Hands over, once, to the coworker whose description shares most words with the request, leaving out those that the
 * agent's own description has: they are its own business. Who was handed the work keeps it.
 */
const handOver: CrewRule = (prompt, messages, tools) => {
  const tool = tools.find(({ name }) => name === "handoff");
  if (!tool || messages.some(({ content }) => /\bYou take over from /.test(content))) return null;
  const [, named = ""] = /\bAgents: ([^\n]{0,4000})\.$/.exec(tool.description) ?? [];
  const team = teamIn(prompt.system);
  const request = stems(`${prompt.task}\n${prompt.data}`);
  const own = stems(prompt.system.split("\n")[0] ?? "");
  const choices = named.split(", ").map((agent) => {
    const about = stems(`${agent} ${team.get(agent) ?? ""}`);
    return { agent, shared: [...about].filter((word) => request.has(word) && !own.has(word)) };
  });
  const best = choices.reduce<(typeof choices)[number] | undefined>(
    (a, b) => (b.shared.length > (a?.shared.length ?? 0) ? b : a),
    undefined,
  );
  if (!best) return null;
  const written = `${prompt.task}\n${prompt.data}`.toLowerCase().match(/\p{L}{4,}/gu) ?? [];
  const terms = best.shared
    .slice(0, 3)
    .map((stem) => written.find((word) => word.startsWith(stem)) ?? stem)
    .join(", ");
  return {
    name: tool.name,
    args: {
      destination_agent: best.agent,
      reason: `The request speaks of ${terms}, which is what ${best.agent} is for.`,
      context: { topic: prompt.topic },
    },
  };
};

/** What a system message says of each member of a team: its role and what that is for. */
const teamIn = (system: string): Map<string, string> =>
  new Map(
    [...system.matchAll(/^- ([\w-]+) \((.*)$/gm)].map(([, id, about]) => [
      present(id, "id"),
      present(about, "about"),
    ]),
  );

/** The rules that hold, the first that applies wins. Beside them, only directives use the tools of a crew. */
export const CREW_RULES: readonly CrewRule[] = [handOver];

const stems = (text: string): Set<string> =>
  new Set(
    (text.toLowerCase().match(/[\p{L}]{4,}/gu) ?? [])
      .map((word) => word.replace(/(?:ing|ed|es|s|e)$/, ""))
      .filter((word) => !/^(?:with|what|that|this|from|their|them|they|agent|have|your|task)$/.test(word)),
  );

/** The answer where a crew asks for a shape that only crews use; null for every other shape. */
export function crewAnswer(prompt: Prompt, schema: JsonSchema, vary: (n: number) => number): Json | null {
  const properties = propertiesOf(schema);
  const has = (...keys: string[]) => keys.every((key) => key in properties);
  if (has("send_to", "ledger", "stop")) return manage(prompt, properties);
  if (has("vote", "reasoning", "confidence")) return ballot(prompt);
  if (has("decision", "rationale")) return proposal(prompt);
  if (has("verdicts")) return judge(prompt);
  if (has("score", "reason") && RUBRIC.test(prompt.task)) return score(prompt);
  if (has("summary") && /^This is the step "/m.test(prompt.task)) return step(prompt, properties, vary);
  return null;
}

const ORDER = ["researcher", "interpreter", "analyst", "developer", "tester", "writer", "editor", "reviewer"];

/** Sends to each worker once, those who gather before those who conclude, and then answers with what came back. */
function manage(prompt: Prompt, properties: Record<string, JsonSchema>): JsonObject {
  const goal = prompt.inputs.goal ?? prompt.topic;
  const team = teamIn(prompt.system);
  const names = textsOf(properties.send_to?.enum).filter((name) => name !== "User");
  const kindOf = (name: string) => {
    return personaByName(team.get(name)?.split(")")[0] ?? name) ?? "worker";
  };
  const rank = (name: string) => (ORDER.indexOf(kindOf(name)) + ORDER.length) % ORDER.length;
  const workers = [...names].sort((a, b) => rank(a) - rank(b));
  const replies = repliesIn(prompt.messages);
  const open = workers.filter((name) => !replies.has(name));
  const failed = [...replies].filter(([, reply]) => reply.startsWith("I could not do it"));
  const [, last] = [...replies].at(-1) ?? [];
  const verdict = (answer: boolean, reason: string) => ({ answer, reason });
  const next = open[0];
  const ledger = {
    is_request_satisfied: verdict(
      next === undefined && failed.length < workers.length,
      next === undefined ? "Everybody has replied." : `Still to reply: ${open.join(", ")}.`,
    ),
    is_in_loop: verdict(false, "Everybody is asked once."),
    is_progress_being_made: verdict(
      !last?.startsWith("I could not do it"),
      last === undefined ? "The work begins." : `Replies so far: ${replies.size} of ${workers.length}.`,
    ),
  };
  const plan = workers.map(
    (name) => `${name}: ${WORK[kindOf(name)] ?? "Work out a part of"} “${shorter(goal)}”`,
  );
  if (next !== undefined) {
    const known = [...replies].map(([name, reply]) => `- ${name} said: ${quote(reply, 200)}`);
    return {
      plan,
      current_plan_step: must(plan, workers.indexOf(next)),
      send_to: next,
      message: [
        `${WORK[kindOf(next)] ?? "Work out your part of"}: ${goal}`,
        ...(known.length > 0 ? ["What is known so far:", ...known] : []),
      ].join("\n"),
      ledger,
      stop: null,
    };
  }
  const isLost = failed.length === workers.length;
  const message = isLost
    ? `Nobody could do it. ${failed.map(([name, reply]) => `${name}: ${reply}`).join(" ")}`
    : [
        `Answer: ${shorter(goal)}`,
        ...[...replies].map(([name, reply]) => `- From ${name}: ${quote(reply, 240)}`),
      ].join("\n");
  const keys = Object.keys(properties.outputs?.properties ?? {});
  return {
    plan,
    current_plan_step: "Answer the person",
    send_to: "User",
    message,
    ledger,
    stop: isLost ? "TaskFailure" : "Completed",
    ...defined({
      outputs: keys.length > 0 ? Object.fromEntries(keys.map((key) => [key, message])) : undefined,
    }),
  };
}

/** What each worker replied last, in the order of the replies. */
function repliesIn(messages: readonly Message[]): Map<string, string> {
  const replies = new Map<string, string>();
  for (const { role, content } of messages) {
    const [, name, rest = ""] =
      (role === "user" && /<reply from="([\w-]{1,64})">([\s\S]*)/.exec(content)) || [];
    const end = rest.indexOf("</reply>");
    if (name !== undefined && end >= 0) replies.set(name, rest.slice(0, end).trim());
  }
  return replies;
}

const shorter = (text: string) => {
  const line = must(text.trim().split("\n"), 0).replace(/(?<![\s.!?:;,])[\s.!?:;,]+$/, "");
  return line.length <= 90 ? line : `${line.slice(0, 88).replace(/(?<!\s)\s+\S*$/, "")}…`;
};

const CAREFUL = /analy|risk|secur|review|quality|audit|financ|legal|control|approv|test/i;

/**
 * Votes by stated rules: what is dangerous or too dear is rejected by whoever is careful by its role, in every round.
 * Beside that, the careful want to hear the others' reasons first, and agree in the next round.
 */
function ballot(prompt: Prompt): JsonObject {
  const ballotOf = (vote: string, reasoning: string, confidence: number) => ({
    vote,
    reasoning,
    confidence,
  });
  const seen = /The round before, with everybody's reasons:/.test(prompt.task);
  const decision = decideApproval({ ...prompt, data: prompt.task });
  if (!CAREFUL.test(prompt.role))
    return ballotOf("approve", "Nothing that my role cares for speaks against it.", 0.8);
  if (!decision.yes) return ballotOf("reject", decision.rule, 0.9);
  if (!seen && !/votes are equal/i.test(prompt.task))
    return ballotOf("reject", "I want to hear what the others say before I agree.", 0.6);
  return ballotOf("approve", "The others gave their reasons, and none is a danger.", 0.7);
}

function proposal(prompt: Prompt): JsonObject {
  return {
    decision: prompt.inputs.goal ?? prompt.topic,
    rationale: "It was asked for as it stands; the votes show what speaks for and against it.",
  };
}

/** Looks at nothing but whether there is a result, and says so. */
function judge(prompt: Prompt): JsonObject {
  const criteria = prompt.task.split("\n").flatMap((line) => /^- (.+)$/.exec(line)?.slice(1) ?? []);
  const { length } = (prompt.inputs.result ?? "").trim();
  return {
    verdicts: criteria.map((criterion) => ({
      criterion,
      met: length > 0,
      evidence:
        length > 0
          ? `There is a result of ${length} characters; nothing else was checked.`
          : "There is no result.",
    })),
  };
}

const RUBRIC = /^Say how far this rubric is met by the value:\n([\s\S]*)$/;

/** Scores by one stated rule: the share of the rubric's words that the value mentions. */
function score(prompt: Prompt): JsonObject {
  const [, rubric = ""] = RUBRIC.exec(prompt.task) ?? [];
  const wanted = [...stems(rubric)];
  const mentioned = stems(prompt.inputs.value ?? "");
  const found = wanted.filter((word) => mentioned.has(word));
  return {
    reason: `It mentions ${found.length} of the ${wanted.length} words of the rubric; nothing else was checked.`,
    score: wanted.length === 0 ? 0 : Math.round((found.length / wanted.length) * 100) / 100,
  };
}

/** A step of a pattern: reviewers ask for changes at first and agree at the second time, others succeed. */
function step(
  prompt: Prompt,
  properties: Record<string, JsonSchema>,
  vary: (n: number) => number,
): JsonObject {
  const outcomes = textsOf(properties.outcome?.enum);
  const persona = personaOf(prompt);
  const review = persona === "reviewer" ? decideReview(prompt) : null;
  const summary = review ? review.rule : proseOf(prompt, persona, vary);
  if (outcomes.length === 0) return { summary };
  const yes = review?.yes ?? true;
  return {
    outcome: wordFor(yes, outcomes) ?? (yes ? must(outcomes, 0) : lastOf(outcomes)),
    summary,
  };
}
