import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { CardSize } from "../cards/card-size";
import { linesOf, toBox, toFlowNodes } from "../flow-mapping";
import { routesOf, SLIP } from "./routes";
import { areaWith, type View } from "./view-fit";

/** Kept free around the cards. */
const MARGIN = 24;

/**
 * The size of a whole graph with its captions and connections, at its own size or scaled down to `most`, and the view that
 * shows it in exactly that size. `grown`: cards that show what is inside them.
 */
export function stillView(
  graph: WorkflowGraph,
  grown: ReadonlyMap<string, CardSize>,
  most: CardSize,
): { size: CardSize; view: View } {
  const nodes = toFlowNodes(graph, new Set(), [], { grown });
  const boxes = nodes.map(toBox);
  const corners = boxes.flatMap(({ x, y, width, height }) => [
    { x, y },
    { x: x + width, y: y + height + SLIP },
  ]);
  const [first = { x: 0, y: 0 }] = corners;
  const points = [...corners, ...[...routesOf(linesOf(graph, nodes), boxes).values()].flat()];
  const area = areaWith({ ...first, width: 0, height: 0 }, points);
  const [width, height] = [area.width + 2 * MARGIN, area.height + 2 * MARGIN];
  const zoom = Math.min(1, most.width / width, most.height / height);
  return {
    size: { width: Math.ceil(width * zoom), height: Math.ceil(height * zoom) },
    view: { x: (MARGIN - area.x) * zoom, y: (MARGIN - area.y) * zoom, zoom },
  };
}
