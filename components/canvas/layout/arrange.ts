import dagre, { type EdgeLabel, type GraphLabel, type NodeLabel } from "@dagrejs/dagre";
import { CARD_WIDTH, ENTRY_LINE } from "../cards/card-size";
import { COLUMN, ROW, type XY } from "./places";
import { READABLE, SMALLEST_WHOLE } from "./view-fit";

/**
 * Cards and lines to arrange, in the order in which they should lie. Lines back to where a loop begins are left out.
 */
export interface ToArrange {
  cards: readonly { id: string; height: number }[];
  lines: readonly { from: string; to: string }[];
  /** Width of the viewport in its own pixels; at least that of a laptop is used. */
  width?: number;
}

/** The minimum width to arrange for: the result is stored and shared, so it must not depend on a small window. */
const LAPTOP = 1200;
/** Room for edges that lead back, on both sides of the cards. */
const SIDES = 80;

/** Room below a card, for the caption of a run and passing edges. */
const GAP = ROW - 74;
/**
 * An end reached from this many depths is placed to the side: it would pull the columns apart, and routing long lines
 * is slow.
 */
const COMMON = 4;
const LIKED_SHAPE = 1.5;
const FEWEST_COLUMNS = 4;
const MOST_COLUMNS = 8;

/**
 * Upper left corners for cards, from left to right; wraps into rows where a single line continues if it is wider than
 * the window.
 */
export function arrange({ cards, lines, width = 0 }: ToArrange): Record<string, XY> {
  const aside = commonEnds(lines);
  const main = cards.filter(({ id }) => !aside.has(id));
  const places = inColumns(
    main.length > 0 ? main : cards,
    main.length > 0 ? lines.filter(({ to }) => !aside.has(to)) : [],
  );
  const height = new Map(cards.map((card) => [card.id, card.height]));
  mirrorIfUpsideDown(places, lines);
  wrap(places, lines, height, Math.max(width, LAPTOP));
  if (main.length > 0) placeBelow(places, aside, lines, height);
  return Object.fromEntries(places);
}

/** Nodes without successors that are reached from many depths, such as a shared end of all failures. */
function commonEnds(lines: ToArrange["lines"]): Set<string> {
  const targets = new Map<string, string[]>();
  for (const { from, to } of lines) targets.set(from, [...(targets.get(from) ?? []), to]);
  const entered = new Set(lines.map(({ to }) => to));
  const seen = new Set<string>();
  const depths = new Map<string, number>();
  for (let level = [...targets.keys()].filter((id) => !entered.has(id)); level.length > 0; ) {
    const next = new Set(level.flatMap((id) => targets.get(id) ?? []));
    for (const id of next) if (!targets.has(id)) depths.set(id, (depths.get(id) ?? 0) + 1);
    for (const id of level) seen.add(id);
    level = [...next].filter((id) => targets.has(id) && !seen.has(id));
  }
  return new Set([...depths].flatMap(([id, count]) => (count >= COMMON ? [id] : [])));
}

function inColumns(cards: ToArrange["cards"], lines: ToArrange["lines"]): Map<string, XY> {
  const drawing = new dagre.graphlib.Graph<GraphLabel, NodeLabel, EdgeLabel>({ multigraph: true })
    .setGraph({
      rankdir: "LR",
      nodesep: GAP - 6,
      ranksep: COLUMN - CARD_WIDTH,
      edgesep: 16,
      ranker: "network-simplex",
    })
    .setDefaultEdgeLabel(() => ({}));
  // Symmetric about the height of the entries, so that cards of different heights line up.
  for (const { id, height } of cards)
    drawing.setNode(id, { width: CARD_WIDTH, height: 2 * (height - ENTRY_LINE) });
  for (const [at, { from, to }] of lines.entries()) drawing.setEdge(from, to, { weight: 1 }, String(at));
  dagre.layout(drawing);
  return new Map(
    cards.map(({ id }) => {
      const { x = 0, y = 0 } = drawing.node(id);
      return [id, { x: x - CARD_WIDTH / 2, y: y - ENTRY_LINE }];
    }),
  );
}

/** A layout can be mirrored: choose the side on which branches are ordered like their ports. */
function mirrorIfUpsideDown(places: Map<string, XY>, lines: ToArrange["lines"]): void {
  const height = (id: string) => places.get(id)?.y ?? 0;
  const outgoing = new Map<string, string[]>();
  for (const { from, to } of lines) outgoing.set(from, [...(outgoing.get(from) ?? []), to]);
  let turned = 0;
  for (const targets of outgoing.values())
    for (const [at, upper] of targets.entries())
      for (const lower of targets.slice(at + 1)) turned += Math.sign(height(upper) - height(lower));
  if (turned > 0) for (const place of places.values()) place.y = -place.y;
}

/** Wraps columns into rows, as text wraps, but only where a single line continues, so that no fork is split. */
function wrap(
  places: Map<string, XY>,
  lines: ToArrange["lines"],
  heights: ReadonlyMap<string, number>,
  window: number,
): void {
  const columns = [...new Set([...places.values()].map(({ x }) => Math.round(x)))].sort((a, b) => a - b);
  const columnOf = (id: string) => columns.indexOf(Math.round(places.get(id)?.x ?? 0));
  const spans = lines.map(({ from, to }): [number, number] => [columnOf(from), columnOf(to)]);
  const crossing = columns.map((_, at) => spans.filter(([from, to]) => from < at && to >= at).length);
  const isChain = columns.length === places.size && crossing.every((count) => count <= 1);
  const most = Math.floor(
    (window / (isChain ? READABLE : SMALLEST_WHOLE) - SIDES + COLUMN - CARD_WIDTH) / COLUMN,
  );
  if (columns.length <= most) return;
  const { top, bottom } = extent(places, heights);
  const rows = Math.max(
    2,
    Math.round(Math.sqrt((columns.length * COLUMN) / (LIKED_SHAPE * (bottom - top + GAP)))),
  );
  const each = Math.min(MOST_COLUMNS, Math.max(FEWEST_COLUMNS, Math.ceil(columns.length / rows)));
  const cuts = cutsOf(columns.length, each, (at) => (crossing[at] ?? 0) <= 1);
  const rowOf = (id: string) => cuts.filter((cut) => columnOf(id) >= cut).length;
  const members = new Map<number, string[]>();
  for (const id of places.keys()) members.set(rowOf(id), [...(members.get(rowOf(id)) ?? []), id]);
  let y = 0;
  const before = new Map(
    [...places].map(([id, place]) => [id, { place, column: columnOf(id), row: rowOf(id) }]),
  );
  for (const [row, ids] of [...members].sort(([a], [b]) => a - b)) {
    const own = extent(new Map(ids.map((id) => [id, before.get(id)?.place ?? { x: 0, y: 0 }])), heights);
    for (const id of ids) {
      const known = before.get(id);
      if (known)
        places.set(id, {
          x: (known.column - (row === 0 ? 0 : (cuts[row - 1] ?? 0))) * COLUMN,
          y: known.place.y - own.top + y,
        });
    }
    y += own.bottom - own.top + GAP;
  }
}

/** The columns at which rows begin: as evenly spaced as the allowed columns permit. */
function cutsOf(count: number, most: number, mayCut: (column: number) => boolean): number[] {
  const each = Math.ceil(count / Math.ceil(count / most));
  const cuts: number[] = [];
  for (let begin = 0; count - begin > most; ) {
    const even = begin + each;
    // Prefer a shorter row to a longer one, but never a row of one column.
    const found = [...Array(each - 1).keys(), ...Array(count - even).keys()]
      .map((step, at) => (at < each - 1 ? even - step : even + 1 + step))
      .find((column) => column > begin && column < count && mayCut(column));
    if (found === undefined) break;
    cuts.push(found);
    begin = found;
  }
  return cuts;
}

/** Below all others, near the middle of what leads there. */
function placeBelow(
  places: Map<string, XY>,
  aside: ReadonlySet<string>,
  lines: ToArrange["lines"],
  heights: ReadonlyMap<string, number>,
): void {
  const { bottom } = extent(places, heights);
  const taken = new Set<number>();
  for (const id of aside) {
    const columns = lines
      .flatMap(({ from, to }) => (to === id ? [Math.round((places.get(from)?.x ?? 0) / COLUMN)] : []))
      .sort((a, b) => a - b);
    let column = columns[Math.floor(columns.length / 2)] ?? 0;
    while (taken.has(column)) column++;
    taken.add(column);
    places.set(id, { x: column * COLUMN, y: bottom + GAP });
  }
}

function extent(places: ReadonlyMap<string, XY>, heights: ReadonlyMap<string, number>) {
  let [top, bottom] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const [id, { y }] of places) {
    top = Math.min(top, y);
    bottom = Math.max(bottom, y + (heights.get(id) ?? 0));
  }
  return { top, bottom };
}
