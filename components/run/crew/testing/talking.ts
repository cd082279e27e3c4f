import type { CrewProcess } from "@/server/domain/crew/crew";
import type { CrewRun } from "@/server/domain/run";
import { placeCrew } from "../crew-layout";

/**
 * A crew and its layout, after all members have sent the messages of their process. `isBusy`: every member has written to
 * every other.
 */
export function talking(process: CrewProcess, count: number, isBusy = false) {
  const ids = Array.from({ length: count }, (_, at) => `a${at}`);
  const layers = Object.fromEntries(ids.map((id, at) => [id, at % 3]));
  const manager = process === "hierarchical" || process === "consensus" ? "a0" : undefined;
  const hasRequester = process === "hierarchical" || process === "custom";
  const last = `a${count - 1}`;
  const all = ids.flatMap((from) => ids.filter((to) => to !== from).map((to) => [from, to] as const));
  const chain = all.filter(([from, to]) => ids.indexOf(to) === ids.indexOf(from) + 1);
  const pairs = {
    sequential: chain,
    sample: [],
    consensus: [],
    // To the nearby members of the next column.
    parallel: all.filter(
      ([from, to]) =>
        layers[to] === (layers[from] ?? 0) + 1 && Math.abs(ids.indexOf(to) - ids.indexOf(from) - 1) <= 3,
    ),
    hierarchical: [...all.filter(([from, to]) => from === "a0" || to === "a0"), ["a0", "user"] as const],
    swarm: [...chain, [last, "a0"] as const],
    custom: [...chain, ["a1", "a0"] as const, [last, "user"] as const],
  }[process];
  const posts = (isBusy ? all : pairs).map(([from, to], seq) => ({
    kind: "post",
    seq,
    at: seq,
    round: 1,
    post: { from, to, message: "", kind: "result" },
  }));
  const votes = ids.flatMap((agent_id) =>
    (["reject", "approve"] as const).map((vote, round) => ({
      kind: "vote",
      seq: round,
      at: round,
      round,
      vote: { proposal_id: "p1", agent_id, vote, round, reasoning: "", confidence: null },
    })),
  );
  const members = ids.map((agent_id) => ({ agent_id, role_name: agent_id }));
  const exchanges = process === "consensus" ? votes : [...posts, ...posts];
  return {
    crew: { members, manager, exchanges } as unknown as CrewRun,
    layout: placeCrew({
      process,
      members: ids,
      manager,
      layers,
      hasRequester,
      proposal: process === "consensus" ? "p1" : undefined,
    }),
  };
}
