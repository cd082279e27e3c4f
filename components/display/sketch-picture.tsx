import clsx from "clsx";
import type { Sketch, SketchedCrew } from "@/server/domain/graph/sketch";

const CARD = { w: 190, h: 84 };
/** The distance of lines from cards, and the radius of their corners. */
const GAP = 28;
const CORNER = 22;

/** A small sketch of a graph that fills its box. Decorative: its name is next to it. */
export function SketchPicture({ sketch, className }: { sketch: Sketch; className?: string }) {
  if (sketch.nodes.length === 0)
    return <div aria-hidden="true" className={clsx("sketch-stage", className)} />;
  const xs = sketch.nodes.map(({ x }) => x);
  const ys = sketch.nodes.map(({ y }) => y);
  const left = Math.min(...xs);
  const top = Math.min(...ys);
  const width = Math.max(...xs) - left + CARD.w;
  const height = Math.max(...ys) - top + CARD.h;
  // Do not enlarge graphs with few nodes.
  const w = Math.max(width, 900);
  const h = Math.max(height, 420);
  const pad = 60 + Math.max(w, h) * 0.02;
  const box = [left - (w - width) / 2 - pad, top - (h - height) / 2 - pad, w + 2 * pad, h + 2 * pad];
  return (
    <svg
      aria-hidden="true"
      viewBox={box.map(Math.round).join(" ")}
      preserveAspectRatio="xMidYMid meet"
      className={clsx("sketch-stage", className)}
    >
      {sketch.edges.map(([from, to], at) => {
        const a = sketch.nodes[from];
        const b = sketch.nodes[to];
        return a && b ? <path key={at} d={lineBetween(a, b)} className="sketch-edge" /> : null;
      })}
      {sketch.nodes.map((node, at) => (
        <Card key={at} {...node} />
      ))}
    </svg>
  );
}

interface Point {
  x: number;
  y: number;
}

/** A path from the right side of a card to the left side of another. */
function lineBetween(a: Point, b: Point): string {
  const [x1, y1, x2, y2] = [a.x + CARD.w, a.y + CARD.h / 2, b.x, b.y + CARD.h / 2];
  if (x2 >= x1) {
    const bend = Math.max(40, (x2 - x1) / 2);
    return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
  }
  // To another row or backward: between the rows, then left of the cards.
  const low = a.y + CARD.h + GAP;
  return rounded([
    { x: x1, y: y1 },
    { x: x1 + GAP, y: y1 },
    { x: x1 + GAP, y: low },
    { x: x2 - GAP, y: low },
    { x: x2 - GAP, y: y2 },
    { x: x2, y: y2 },
  ]);
}

/** A path through the points with rounded corners. */
function rounded(points: readonly Point[]): string {
  return points
    .map((point, at) => {
      const before = points[at - 1];
      const after = points[at + 1];
      if (!before) return `M${point.x} ${point.y}`;
      if (!after) return `L${point.x} ${point.y}`;
      const [from, to] = [towards(point, before), towards(point, after)];
      return `L${from.x} ${from.y}Q${point.x} ${point.y} ${to.x} ${to.y}`;
    })
    .join("");
}

/** A point near a corner on the way to the next, at most halfway. */
function towards(corner: Point, next: Point): Point {
  const way = Math.hypot(next.x - corner.x, next.y - corner.y);
  const part = way === 0 ? 0 : Math.min(CORNER, way / 2) / way;
  return { x: corner.x + (next.x - corner.x) * part, y: corner.y + (next.y - corner.y) * part };
}

function Card({ x, y, silhouette, crew }: Sketch["nodes"][number]) {
  const cy = y + CARD.h / 2;
  if (silhouette === "start") return <circle cx={x + CARD.w - 34} cy={cy} r={34} className="sketch-ink" />;
  if (silhouette === "end")
    return (
      <g>
        <circle cx={x + 34} cy={cy} r={32} className="sketch-card" />
        <circle cx={x + 34} cy={cy} r={13} className="sketch-ink" />
      </g>
    );
  if (silhouette === "router") {
    const cx = x + CARD.w / 2;
    return (
      <g>
        <path d={`M${x} ${cy}H${x + CARD.w}`} className="sketch-edge" />
        <path
          d={`M${cx - 56} ${cy}L${cx} ${cy - 52}L${cx + 56} ${cy}L${cx} ${cy + 52}Z`}
          className="sketch-card"
        />
      </g>
    );
  }
  if (crew) return <Crew x={x + CARD.w / 2} y={cy} {...crew} />;
  return (
    <g>
      {silhouette === "crew" ? (
        <rect x={x + 12} y={y - 12} width={CARD.w} height={CARD.h} rx={20} className="sketch-card" />
      ) : null}
      <rect x={x} y={y} width={CARD.w} height={CARD.h} rx={20} className="sketch-card" />
      <circle cx={x + 34} cy={cy} r={13} className="sketch-ink" />
      <path
        d={`M${x + 64} ${cy - 13}H${x + CARD.w - 40}M${x + 64} ${cy + 15}H${x + CARD.w - 72}`}
        className="sketch-words"
      />
    </g>
  );
}

/** The distance of a crew's members from its center. */
const REACH = 50;

/** A crew, drawn by its process: a ring of voters, a star around a manager, a chain, a fan, or a circle of steps. */
function Crew({ x, y, process, members }: Point & SketchedCrew) {
  const { dots, lines } = patternOf(process, Math.max(2, Math.min(5, members)));
  const path = lines.map(([from, to]) => {
    const [a, b] = [dots[from], dots[to]];
    return a && b ? `M${a.x} ${a.y}L${b.x} ${b.y}` : "";
  });
  const isVote = process === "consensus" || process === "sample";
  return (
    <g transform={`translate(${Math.round(x)} ${Math.round(y)})`}>
      <rect x={-CARD.w / 2} y={-74} width={CARD.w} height={148} rx={26} className="sketch-card" />
      {isVote ? (
        <circle r={REACH} className="sketch-edge" />
      ) : (
        <path d={path.join("")} className="sketch-edge" />
      )}
      {dots.map((dot, at) => (
        <circle
          key={at}
          cx={dot.x}
          cy={dot.y}
          r={process === "hierarchical" && at === 0 ? 19 : 12}
          className="sketch-ink"
        />
      ))}
    </g>
  );
}

function patternOf(
  process: SketchedCrew["process"],
  count: number,
): { dots: Point[]; lines: [number, number][] } {
  const all = Array.from({ length: count }, (_, at) => at);
  const around = (many: number) =>
    Array.from({ length: many }, (_, at) => {
      const angle = (2 * Math.PI * at) / many - Math.PI / 2;
      return { x: Math.round(REACH * Math.cos(angle)), y: Math.round(REACH * Math.sin(angle)) };
    });
  const chain = all.slice(1).map((to): [number, number] => [to - 1, to]);
  const fromFirst = all.slice(1).map((to): [number, number] => [0, to]);
  const spread = (at: number, many: number) => (many < 2 ? 0 : (2 * at) / (many - 1) - 1);
  switch (process) {
    case "sequential":
    case "swarm":
      return {
        dots: all.map((at) => ({ x: 60 * spread(at, count), y: process === "swarm" ? 24 * (-1) ** at : 0 })),
        lines: chain,
      };
    case "parallel":
      return {
        dots: [
          { x: -50, y: 0 },
          ...all.slice(1).map((at) => ({ x: 50, y: REACH * spread(at - 1, count - 1) })),
        ],
        lines: fromFirst,
      };
    case "hierarchical":
      return { dots: [{ x: 0, y: 0 }, ...around(count - 1)], lines: fromFirst };
    default:
      return { dots: around(count), lines: [...chain, [count - 1, 0]] };
  }
}
