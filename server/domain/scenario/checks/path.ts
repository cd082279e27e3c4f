import { defined } from "@/server/domain/base/defined";
import type { RunEventOf } from "@/server/domain/run/events";
import type { ExpectationOf } from "../expectation";
import { type Finding, found, lastOf, placeOf, type Seen, times } from "./finding";

/** Starts of nodes in order, without retries. */
export const visitsOf = ({ events }: Pick<Seen, "events">): RunEventOf<"node_started">[] =>
  events.filter(
    (event): event is RunEventOf<"node_started"> =>
      event.type === "node_started" && event.payload.attempt === 1,
  );

/** Node ids in the order of their starts. */
export const pathOf = (seen: Pick<Seen, "events">): string[] =>
  visitsOf(seen).map(({ node_id }) => node_id ?? "");

export function checkPath(seen: Seen, { nodes, mode }: ExpectationOf<"path">): Finding {
  const visits = visitsOf(seen);
  const path = visits.map(({ node_id }) => node_id ?? "");
  const about = { expected: nodes, seen: path };
  const nameOf = (id: string) => seen.state.graph.nodes[id]?.name || id;
  if (mode === "never") {
    const wrong = visits.find(({ node_id }) => nodes.includes(node_id ?? ""));
    return wrong
      ? found(false, `${nameOf(wrong.node_id ?? "")} ran, but should not have.`, {
          ...about,
          ...placeOf(wrong),
        })
      : found(true, `${listed(nodes.map(nameOf))} never ran.`, about);
  }
  if (mode === "visited") {
    const missing = nodes.filter((id) => !path.includes(id));
    return missing.length > 0
      ? found(false, `${listed(missing.map(nameOf))} should have run, but didn't.`, {
          ...about,
          ...atNode(seen, missing[0]),
        })
      : found(true, `${listed(nodes.map(nameOf))} ran.`, about);
  }
  return mode === "exactly" ? exactly(seen, nodes, visits, nameOf) : inOrder(seen, nodes, path, nameOf);
}

function exactly(
  seen: Seen,
  nodes: readonly string[],
  visits: readonly RunEventOf<"node_started">[],
  nameOf: (id: string) => string,
): Finding {
  const path = visits.map(({ node_id }) => node_id ?? "");
  const about = { expected: [...nodes], seen: path };
  const at = nodes.findIndex((id, k) => path[k] !== id);
  if (at === -1 && path.length === nodes.length)
    return found(
      true,
      `The path matched exactly, with ${nodes.length} ${nodes.length === 1 ? "step" : "steps"}.`,
      about,
    );
  const place = at === -1 ? nodes.length : at;
  const [wanted, got] = [nodes[place], path[place]];
  const was = wanted === undefined ? "no more steps" : nameOf(wanted);
  const is = got === undefined ? "nothing more ran" : `${nameOf(got)} ran`;
  return found(false, `Step ${place + 1}: expected ${was}, but ${is}.`, {
    ...about,
    ...(got === undefined ? atNode(seen, wanted) : placeOf(visits[place])),
  });
}

function inOrder(
  seen: Seen,
  nodes: readonly string[],
  path: readonly string[],
  nameOf: (id: string) => string,
): Finding {
  const about = { expected: [...nodes], seen: [...path] };
  let from = 0;
  for (const [k, id] of nodes.entries()) {
    const next = path.indexOf(id, from);
    if (next === -1) {
      const before = nodes[k - 1];
      const after = before === undefined ? "" : ` after ${nameOf(before)}`;
      const is = path.includes(id) ? "it ran only earlier" : "it never ran";
      return found(false, `Expected ${nameOf(id)} to run${after}, but ${is}.`, {
        ...about,
        ...atNode(seen, id),
      });
    }
    from = next + 1;
  }
  return found(true, `${listed(nodes.map(nameOf))} ran in this order.`, about);
}

export function checkVisits(seen: Seen, { kind: _, node, ...wanted }: ExpectationOf<"visits">): Finding {
  const visits = visitsOf(seen).filter(({ node_id }) => node_id === node);
  const count = visits.length;
  const { at_least = wanted.times ?? 0, at_most = wanted.times ?? Number.POSITIVE_INFINITY } = wanted;
  const name = seen.state.graph.nodes[node]?.name || node;
  const holds = count >= at_least && count <= at_most;
  const limits =
    wanted.times === undefined
      ? [
          wanted.at_least === undefined ? [] : [`at least ${times(wanted.at_least)}`],
          wanted.at_most === undefined ? [] : [`at most ${times(wanted.at_most)}`],
        ]
          .flat()
          .join(" and ")
      : times(wanted.times);
  return found(
    holds,
    holds ? `${name} ran ${times(count)}.` : `Expected ${name} to run ${limits}, but it ran ${times(count)}.`,
    {
      expected: { ...wanted },
      seen: count,
      ...(count > 0 ? placeOf(visits.at(-1)) : atNode(seen, node)),
    },
  );
}

/** At the end of the run, about that node. */
const atNode = (seen: Seen, node_id: string | undefined) => defined({ node_id, seq: lastOf(seen)?.seq });

const listed = (names: readonly string[]): string =>
  names.length <= 1 ? (names[0] ?? "") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
