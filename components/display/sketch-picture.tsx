import clsx from "clsx";
import type { Sketch } from "@/server/domain/graph/sketch";

const CARD = { w: 190, h: 84 };

/** A small drawing of a graph, as wide and high as its box allows. Decoration: its words stand beside it. */
export function SketchPicture({ sketch, className }: { sketch: Sketch; className?: string }) {
  if (sketch.nodes.length === 0)
    return <div aria-hidden="true" className={clsx("sketch-stage", className)} />;
  const xs = sketch.nodes.map(({ x }) => x);
  const ys = sketch.nodes.map(({ y }) => y);
  const left = Math.min(...xs);
  const top = Math.min(...ys);
  const width = Math.max(...xs) - left + CARD.w;
  const height = Math.max(...ys) - top + CARD.h;
  // A drawing of two cards must not become a close-up of them.
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
        return a && b ? <path key={at} d={curve(a, b)} className="sketch-edge" /> : null;
      })}
      {sketch.nodes.map(({ x, y, type }, at) => (
        <Card key={at} x={x} y={y} type={type} />
      ))}
    </svg>
  );
}

function curve(a: { x: number; y: number }, b: { x: number; y: number }): string {
  const [x1, y1, x2, y2] = [a.x + CARD.w, a.y + CARD.h / 2, b.x, b.y + CARD.h / 2];
  if (x2 < x1) {
    // A way back: below both cards.
    const low = Math.max(y1, y2) + CARD.h * 1.1;
    return `M${x1} ${y1}C${x1 + 110} ${y1} ${x1 + 90} ${low} ${(x1 + x2) / 2} ${low}S${x2 - 110} ${y2} ${x2} ${y2}`;
  }
  const bend = Math.max(40, (x2 - x1) / 2);
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
}

function Card({ x, y, type }: { x: number; y: number; type: string }) {
  const cy = y + CARD.h / 2;
  if (type === "start") return <circle cx={x + CARD.w - 34} cy={cy} r={34} className="sketch-ink" />;
  if (type === "end")
    return (
      <g>
        <circle cx={x + 34} cy={cy} r={32} className="sketch-card" />
        <circle cx={x + 34} cy={cy} r={13} className="sketch-ink" />
      </g>
    );
  if (type === "conditional_router") {
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
  return (
    <g>
      {type === "crew_task" ? (
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
