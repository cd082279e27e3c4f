import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { depths, fallbackPlaces, type XY } from "./layout/places";

export type Direction = "left" | "right" | "up" | "down";

/** The reading order of the nodes: along the flow, then from top to bottom. */
export function readingOrder(graph: WorkflowGraph): string[] {
  const depth = depths(graph);
  const place = placesOf(graph);
  return Object.keys(graph.nodes).sort(
    (a, b) =>
      (depth.get(a) ?? 0) - (depth.get(b) ?? 0) ||
      (place.get(a)?.y ?? 0) - (place.get(b)?.y ?? 0) ||
      (place.get(a)?.x ?? 0) - (place.get(b)?.x ?? 0) ||
      (a < b ? -1 : 1),
  );
}

/** Where an arrow key leads: right and left along the edges, up and down among what lies beside; else by eye. */
export function neighbour(graph: WorkflowGraph, from: string, direction: Direction): string | null {
  const place = placesOf(graph);
  const here = place.get(from);
  if (!here) return null;
  if (direction === "right" || direction === "left") {
    const linked = graph.edges.flatMap(({ source_node_id, target_node_id }) => {
      if (direction === "right") return source_node_id === from ? [target_node_id] : [];
      return target_node_id === from ? [source_node_id] : [];
    });
    const side = linked.filter((id) => {
      const there = place.get(id);
      return there && id !== from && (direction === "right" ? there.x > here.x : there.x < here.x);
    });
    const next =
      closest(side, place, here) ??
      closest(
        linked.filter((id) => id !== from),
        place,
        here,
      );
    if (next) return next;
  }
  return byEye(place, from, here, direction);
}

function byEye(place: ReadonlyMap<string, XY>, from: string, here: XY, direction: Direction): string | null {
  const isAcross = direction === "left" || direction === "right";
  const sign = direction === "right" || direction === "down" ? 1 : -1;
  let best: string | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const [id, there] of place) {
    const along = sign * (isAcross ? there.x - here.x : there.y - here.y);
    const aside = Math.abs(isAcross ? there.y - here.y : there.x - here.x);
    // What lies more to the side than ahead is not "in that direction".
    if (id === from || along <= 0 || aside > along * 2.5) continue;
    const distance = along + 2 * aside;
    if (distance < least) {
      least = distance;
      best = id;
    }
  }
  return best;
}

function closest(ids: readonly string[], place: ReadonlyMap<string, XY>, here: XY): string | null {
  const distance = (id: string) => {
    const there = place.get(id) ?? here;
    return Math.hypot(there.x - here.x, there.y - here.y);
  };
  return ids.reduce<string | null>(
    (best, id) => (best === null || distance(id) < distance(best) ? id : best),
    null,
  );
}

function placesOf(graph: WorkflowGraph): Map<string, XY> {
  const nodes = Object.values(graph.nodes);
  const fallback = nodes.some(({ ui }) => !ui) ? fallbackPlaces(graph) : null;
  return new Map(nodes.map(({ id, ui }) => [id, ui ?? fallback?.get(id) ?? { x: 0, y: 0 }]));
}
