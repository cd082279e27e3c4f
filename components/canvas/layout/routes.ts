import type { XY } from "./places";

/*
 * Routes edges around cards. An edge is a curve if nothing is in between; else it leaves to the right, follows a gap between
 * the cards, and enters from the left. All measures are canvas pixels.
 */

export interface Box extends XY {
  id: string;
  width: number;
  height: number;
}

/** A line to draw: from the right side of one card to the left side of another. */
export interface Line {
  id: string;
  source: string;
  target: string;
  from: XY;
  to: XY;
}

/** How far a line stays away from cards it has nothing to do with. */
const CLEAR = 8;
/** How far beside a card a line turns. */
const TURN = 20;
/** The space of a run's caption below a card: edges pass under it. */
export const SLIP = 63;
/** A curve whose height is this many times its width looks like a slanted line. */
const STEEP = 10;
/** Lines side by side keep this distance. */
const STEP = 10;
/** With more cards than this, edges aren't kept apart. */
const MANY = 120;
const MOST_GAPS = 48;

/** The edges that need a route around cards, with all points, ends included. */
export function routesOf(lines: readonly Line[], boxes: readonly Box[]): Map<string, XY[]> {
  const field = new Field(boxes);
  const routes = new Map<string, XY[]>();
  const drawn: Drawn[] = [];
  for (const line of lines) {
    if (isForward(line) && !isSteep(line) && !field.isCurveBlocked(line)) continue;
    const route = around(line, field, drawn);
    if (!route) continue;
    routes.set(line.id, route);
    for (const segment of segmentsOf(route)) drawn.push({ ...segment, target: line.target });
  }
  return routes;
}

/** Whether a soft curve leads from left to right; what leads back always goes around. */
export const isForward = ({ from, to }: Pick<Line, "from" | "to">) => to.x > from.x + 24;

/** Whether the curve would be a slanted line between two columns of cards. */
const isSteep = ({ from, to }: Line) => Math.abs(to.y - from.y) > STEEP * (to.x - from.x);

/** A point of the soft curve between two cards. `t`: from 0 to 1. */
export function curvePoint({ from, to }: Pick<Line, "from" | "to">, t: number): XY {
  const reach = (to.x - from.x) / 2;
  const u = 1 - t;
  const mix = (a: number, b: number, c: number, d: number) =>
    u * u * u * a + 3 * u * u * t * b + 3 * u * t * t * c + t * t * t * d;
  return {
    x: mix(from.x, from.x + reach, to.x - reach, to.x),
    y: mix(from.y, from.y, to.y, to.y),
  };
}

interface Segment {
  a: XY;
  b: XY;
}

interface Drawn extends Segment {
  target: string;
}

/** The shortest route of five segments that touches no card and, if possible, no other edge. */
function around(line: Line, field: Field, drawn: readonly Drawn[]): XY[] | null {
  const { from, to } = line;
  const isMany = field.count > MANY;
  const offsets = isMany ? [0] : [0, STEP, 2 * STEP];
  let best: { route: XY[]; cost: number } | null = null;
  for (const gap of field.gaps(from, to))
    for (const aside of isMany ? [0] : [0, STEP, -STEP])
      for (const out of offsets)
        for (const back of offsets) {
          const y = gap + aside;
          const x1 = from.x + TURN + out;
          const x2 = to.x - TURN - back;
          const length =
            x1 - from.x + Math.abs(y - from.y) + Math.abs(x2 - x1) + Math.abs(to.y - y) + to.x - x2;
          if (best && length >= best.cost) continue;
          const route = [from, { x: x1, y: from.y }, { x: x1, y }, { x: x2, y }, { x: x2, y: to.y }, to];
          const segments = segmentsOf(route);
          if (segments.some((segment) => field.isBlocked(segment, line))) continue;
          const cost =
            length +
            (field.isUnderCard(x1, x2, y) ? 60 : 0) +
            (isMany ? 0 : 80 * segments.filter((segment) => coversOther(segment, line.target, drawn)).length);
          if (!best || cost < best.cost) best = { route, cost };
        }
  return best?.route ?? null;
}

/** Whether it would overlap an edge to another card; edges to the same card may share a route. */
function coversOther({ a, b }: Segment, target: string, drawn: readonly Drawn[]): boolean {
  const isFlat = a.y === b.y;
  return drawn.some((other) => {
    if (other.target === target || (other.a.y === other.b.y) !== isFlat) return false;
    const apart = isFlat ? Math.abs(other.a.y - a.y) : Math.abs(other.a.x - a.x);
    if (apart >= STEP - 2) return false;
    const [low, high] = isFlat ? span(a.x, b.x) : span(a.y, b.y);
    const [otherLow, otherHigh] = isFlat ? span(other.a.x, other.b.x) : span(other.a.y, other.b.y);
    return low < otherHigh - 1 && high > otherLow + 1;
  });
}

const span = (a: number, b: number): [number, number] => (a < b ? [a, b] : [b, a]);

function segmentsOf(route: readonly XY[]): Segment[] {
  return route.slice(1).flatMap((b, at) => {
    const a = route[at];
    return a && (a.x !== b.x || a.y !== b.y) ? [{ a, b }] : [];
  });
}

const BUCKET = 512;

/** All cards, found by where they lie. A card that lies in several squares may be met more than once. */
class Field {
  readonly count: number;
  private readonly columns = new Map<number, Box[]>();
  private readonly squares = new Map<string, Box[]>();
  private readonly heights = new Map<string, readonly number[]>();

  constructor(private readonly boxes: readonly Box[]) {
    this.count = boxes.length;
    for (const box of boxes)
      for (let column = bucketOf(box.x - CLEAR); column <= bucketOf(box.x + box.width + CLEAR); column++) {
        put(this.columns, column, box);
        for (let row = bucketOf(box.y - CLEAR); row <= bucketOf(box.y + box.height + CLEAR); row++)
          put(this.squares, `${column} ${row}`, box);
      }
  }

  isCurveBlocked(line: Line): boolean {
    const { from, to } = line;
    const [left, right] = span(from.x, to.x);
    const [top, bottom] = span(from.y, to.y);
    const near: Box[] = [];
    this.some(from, to, (box) => {
      const isNear =
        box.x - CLEAR < right &&
        box.x + box.width + CLEAR > left &&
        box.y - CLEAR < bottom &&
        box.y + box.height + CLEAR > top;
      if (isNear && isOther(box, line)) near.push(box);
      return false;
    });
    if (near.length === 0) return false;
    for (let step = 1; step < 32; step++) {
      const { x, y } = curvePoint(line, step / 32);
      if (near.some((box) => isInside(box, x, y))) return true;
    }
    return false;
  }

  isBlocked({ a, b }: Segment, line: Line): boolean {
    const [left, right] = span(a.x, b.x);
    const [top, bottom] = span(a.y, b.y);
    // It touches its own cards only at its ends.
    const isEnd = a.y === b.y && (a === line.from || b === line.to);
    return this.some(a, b, (box) => {
      const clear = isEnd && !isOther(box, line) ? -1 : CLEAR;
      return (
        left < box.x + box.width + clear &&
        right > box.x - clear &&
        top < box.y + box.height + clear &&
        bottom > box.y - clear
      );
    });
  }

  /** Whether a level line passes where a run writes below a card. */
  isUnderCard(x1: number, x2: number, y: number): boolean {
    const [left, right] = span(x1, x2);
    return this.some(
      { x: left, y: y - SLIP },
      { x: right, y },
      ({ x, y: top, width, height }) =>
        left < x + width && right > x && y > top + height && y < top + height + SLIP,
    );
  }

  /** Heights at which a line may pass above or below cards, the nearest to both its ends first. */
  gaps(from: XY, to: XY): number[] {
    const [top, bottom] = span(from.y, to.y);
    const known = this.heightsBetween(...span(from.x + TURN, to.x - TURN));
    const firstBelowTop = known.findIndex((y) => y >= top);
    let below = firstBelowTop < 0 ? known.length : firstBelowTop;
    let above = below - 1;
    const between = new Set([from.y, to.y, (from.y + to.y) / 2]);
    for (let y = known[below]; y !== undefined && y <= bottom; y = known[below]) {
      between.add(y);
      below += 1;
    }
    const found = [...between].sort((a, b) => a - b).slice(0, MOST_GAPS);
    while (found.length < MOST_GAPS) {
      const [up, down] = [known[above], known[below]];
      if (up !== undefined && (down === undefined || top - up <= down - bottom)) {
        found.push(up);
        above -= 1;
      } else if (down !== undefined) {
        found.push(down);
        below += 1;
      } else break;
    }
    return found;
  }

  /** All heights just above and below cards there, from top to bottom. Many lines ask for the same. */
  private heightsBetween(left: number, right: number): readonly number[] {
    const [first, last] = [bucketOf(left), bucketOf(right)];
    const key = `${first} ${last}`;
    const known = this.heights.get(key);
    if (known) return known;
    const heights = new Set<number>();
    const isFar = last - first > FEW;
    for (let column = first; column <= (isFar ? first : last); column++)
      for (const { y, height } of isFar ? this.boxes : (this.columns.get(column) ?? [])) {
        heights.add(y - 14);
        heights.add(y + height + 14);
        heights.add(y + height + SLIP + 10);
      }
    const sorted = [...heights].sort((a, b) => a - b);
    this.heights.set(key, sorted);
    return sorted;
  }

  /** Whether the predicate is true for any card in or near the rectangle between two corners. */
  private some(corner: XY, other: XY, holds: (box: Box) => boolean): boolean {
    const [left, right] = span(bucketOf(corner.x), bucketOf(other.x));
    const [top, bottom] = span(bucketOf(corner.y), bucketOf(other.y));
    if ((right - left + 1) * (bottom - top + 1) > FEW) return this.boxes.some(holds);
    for (let column = left; column <= right; column++)
      for (let row = top; row <= bottom; row++)
        for (const box of this.squares.get(`${column} ${row}`) ?? []) if (holds(box)) return true;
    return false;
  }
}

/** Of more squares than these, not each is looked into, but all cards. */
const FEW = 40;

function put<K>(buckets: Map<K, Box[]>, key: K, box: Box) {
  const bucket = buckets.get(key);
  if (bucket) bucket.push(box);
  else buckets.set(key, [box]);
}

const bucketOf = (x: number) => Math.floor(x / BUCKET);

const isOther = ({ id }: Box, { source, target }: Line) => id !== source && id !== target;

const isInside = ({ x: left, y: top, width, height }: Box, x: number, y: number) =>
  x > left - CLEAR && x < left + width + CLEAR && y > top - CLEAR && y < top + height + CLEAR;

/** A route as an SVG path with round corners, and the middle of its longest segment, for the label. */
export function drawRoute(route: readonly XY[], radius = 12) {
  const [first = { x: 0, y: 0 }, ...rest] = route;
  let path = `M ${first.x} ${first.y}`;
  let longest = { length: -1, x: first.x, y: first.y, isSteep: false };
  for (const [at, point] of rest.entries()) {
    const before = route[at] ?? first;
    const after = rest[at + 1];
    const length = Math.hypot(point.x - before.x, point.y - before.y);
    if (length > longest.length)
      longest = {
        length,
        x: (point.x + before.x) / 2,
        y: (point.y + before.y) / 2,
        isSteep: point.x === before.x,
      };
    if (!after) path += ` L ${point.x} ${point.y}`;
    else {
      const round = Math.min(radius, length / 2, Math.hypot(after.x - point.x, after.y - point.y) / 2);
      const near = toward(point, before, round);
      const beyond = toward(point, after, round);
      path += ` L ${near.x} ${near.y} Q ${point.x} ${point.y} ${beyond.x} ${beyond.y}`;
    }
  }
  return { path, ...longest };
}

function toward(from: XY, to: XY, by: number): XY {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  return { x: from.x + ((to.x - from.x) * by) / length, y: from.y + ((to.y - from.y) * by) / length };
}
