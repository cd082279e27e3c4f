import { type Detector, named, of, placeOf } from "./finding";

/** The share of one member from which the others went short. */
const MOST = 0.6;

/** A budget became short, and one member of several had used most of it. */
export const budgetEaten: Detector = ({ events }) => {
  const short = events.find(({ type }) => type === "budget_warning" || type === "budget_exceeded");
  if (!short) return [];
  const used = new Map<string, number>();
  for (const { seq, agent_id, payload } of of(events, "llm_call_completed"))
    if (seq <= short.seq && agent_id)
      used.set(
        agent_id,
        (used.get(agent_id) ?? 0) + payload.usage.input_tokens + payload.usage.output_tokens,
      );
  const total = [...used.values()].reduce((sum, one) => sum + one, 0);
  const [most] = [...used].sort((a, b) => b[1] - a[1]);
  if (!most || used.size < 2 || total === 0 || most[1] / total < MOST) return [];
  return [
    {
      kind: "budget_eaten",
      ...placeOf(short),
      agent_id: most[0],
      said: `When the budget ran low, ${named(most[0])} had used ${Math.round((most[1] / total) * 100)}% of all tokens, and ${used.size - 1} ${used.size === 2 ? "other used" : "others shared"} the rest.`,
      advice: "Give it fewer turns or a cheaper model, or shorten its prompts.",
    },
  ];
};
