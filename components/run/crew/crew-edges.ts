import { must } from "@/server/domain/base/must";
import type { CrewExchange, CrewRun } from "@/server/domain/run";

export interface Size {
  width: number;
  height: number;
}

/** The center of something on the canvas, in pixels. */
export interface Spot {
  x: number;
  y: number;
}

/** The person who started the crew; shown if they sent or got a message. */
export const REQUESTER = "user";
/** The proposal being voted on. */
export const PROPOSAL = "proposal:";

/** Who is meant by a name that an agent used: by id, by role, as the manager, or as the requester. */
export function memberNamed(crew: Pick<CrewRun, "members" | "manager">, name: string): string | null {
  if (crew.members.some(({ agent_id }) => agent_id === name)) return name;
  if (name.toLowerCase() === REQUESTER) return REQUESTER;
  const byRole = crew.members.filter(({ role_name }) => role_name === name);
  if (byRole.length === 1) return must(byRole, 0).agent_id;
  return name === "manager" && crew.manager ? crew.manager : null;
}

/** The sender and receiver on the canvas; null if either isn't there. */
export function endsOf(
  crew: Pick<CrewRun, "members" | "manager">,
  exchange: CrewExchange,
): { from: string; to: string } | null {
  const message = messageOf(exchange);
  const from = memberNamed(crew, message.from);
  const to = exchange.kind === "vote" ? PROPOSAL + exchange.vote.proposal_id : memberNamed(crew, message.to);
  return from && to && from !== to ? { from, to } : null;
}

/** The message of an exchange of any kind. */
export function messageOf(exchange: CrewExchange): { from: string; to: string; text: string } {
  switch (exchange.kind) {
    case "post":
      return { from: exchange.post.from, to: exchange.post.to, text: exchange.post.message };
    case "handoff":
      return { from: exchange.handoff.from, to: exchange.handoff.to, text: exchange.handoff.reason };
    case "delegation":
      return { from: exchange.delegation.from, to: exchange.delegation.to, text: exchange.delegation.task };
    case "vote":
      return { from: exchange.vote.agent_id, to: "", text: exchange.vote.reasoning };
  }
}

/** A word for an exchange, as the label of its line. */
export function wordFor(exchange: CrewExchange): string {
  if (exchange.kind === "post" && exchange.post.outcome !== undefined)
    return plainName(exchange.post.outcome);
  return verbFor(exchange).replace(/ (to|in)$/, "");
}

const plainName = (name: string) => name.replace(/[_-]+/g, " ").trim() || name;

/** What one did towards the other: "Ada hands over to Ben". */
export function verbFor(exchange: CrewExchange): string {
  switch (exchange.kind) {
    case "post":
      if (exchange.post.outcome !== undefined) return `reported “${plainName(exchange.post.outcome)}” to`;
      return {
        post: "wrote to",
        reply: "answered",
        result: "reported to",
        question: "asked",
        answer: "answered",
        feedback: "gave feedback to",
      }[exchange.post.kind];
    case "handoff":
      return "handed off to";
    case "delegation": {
      const isAsk = exchange.delegation.kind === "ask";
      if (exchange.done === "stopped") return isAsk ? "stopped asking" : "stopped waiting for";
      if (exchange.done === "failed") return isAsk ? "got no answer from" : "got no result from";
      if (exchange.done === "completed") return isAsk ? "asked" : "delegated to";
      return isAsk ? "is asking" : "is delegating to";
    }
    case "vote":
      return { approve: "voted for", reject: "voted against", abstain: "abstained in" }[exchange.vote.vote];
  }
}

/** The text of an exchange; an invalid vote has none. */
export function exchangeText(exchange: CrewExchange): string {
  if (exchange.kind === "vote" && exchange.vote.forced) return "No valid vote.";
  const { text } = messageOf(exchange);
  // The outcome of a step already precedes its text.
  const outcome = exchange.kind === "post" ? exchange.post.outcome : undefined;
  const ownText =
    outcome !== undefined && text.startsWith(`${outcome}: `) ? text.slice(outcome.length + 2) : text;
  return ownText || "No message";
}

/** A line on the canvas: all exchanges from one to another, oldest first. */
export interface CrewEdge {
  key: string;
  from: string;
  to: string;
  all: readonly CrewExchange[];
  latest: CrewExchange;
  /** 0: of the newest moment, which is lit; older ones fade. */
  age: number;
}

/** One line per pair and direction, oldest first, so that the newest is on top. */
export function linesOf(crew: Pick<CrewRun, "members" | "manager" | "exchanges">): CrewEdge[] {
  const lines = new Map<string, Omit<CrewEdge, "age">>();
  for (const latest of crew.exchanges) {
    const ends = endsOf(crew, latest);
    if (!ends) continue;
    const key = `${ends.from}→${ends.to}`;
    const all = [...(lines.get(key)?.all ?? []), latest];
    lines.delete(key);
    lines.set(key, { key, ...ends, all, latest });
  }
  // What went over in one moment, such as the votes of a round, is of one age.
  const moments = [...new Set([...lines.values()].map(({ latest }) => `${latest.kind} ${latest.at}`))];
  return [...lines.values()].map((line) => ({
    ...line,
    age: moments.length - 1 - moments.indexOf(`${line.latest.kind} ${line.latest.at}`),
  }));
}

/** The label of a line: its newest word with a count; for votes, how they changed. */
export function lineLabel({ all, latest }: Pick<CrewEdge, "all" | "latest">): string {
  const labels = all.map(wordFor);
  const newest = wordFor(latest);
  if (latest.kind === "vote") {
    const turns = labels.filter((word, at) => word !== labels[at - 1]);
    if (turns.length > 1)
      return turns.map((word, at) => (at === 0 ? word : `then ${word.replace("voted ", "")}`)).join(", ");
  }
  const times = labels.filter((word) => word === newest).length;
  return times > 1 ? `${newest} ×${times}` : newest;
}

/** A line with its path on the canvas and the position of its label. */
export type RoutedLine = CrewEdge &
  Bow & {
    label: string;
    labelPosition: Spot;
    /** The size of the label. */
    size: Size;
    /** There is room for a dot only, not for the label. */
    isCrowded: boolean;
  };

/**
 * Routes lines around all cards but those they connect, and places their labels. A label covers no card, badge, arrowhead
 * or other label, and preferably no other line; if there is no room, a dot takes its place.
 */
export function routeLines(
  lines: readonly CrewEdge[],
  spots: Readonly<Record<string, Spot>>,
  sizeOf: (id: string) => BoxSize,
  area: Size,
): RoutedLine[] {
  const boxes = Object.entries(spots).map(([id, spot]) => ({ id, ...spot, ...sizeOf(id) }));
  const cards = boxes.map(withBadge);
  const taken: Record<string, Bow> = {};
  const isInside = ({ x, y, width, height }: Spot & Size) =>
    Math.min(x, area.width - x) - width / 2 > 2 && Math.min(y, area.height - y) - height / 2 > 2;
  const routed = lines.flatMap((line) => {
    const from = boxes.find(({ id }) => id === line.from);
    const to = boxes.find(({ id }) => id === line.to);
    if (!from || !to) return [];
    const others = boxes.filter((box) => box !== from && box !== to).map(withBadge);
    const blocked = ({ points }: Bow) =>
      points.filter((at) => {
        const point = { ...at, width: 12, height: 12 };
        return !isInside(point) || others.some((box) => isTouching(point, box));
      }).length;
    const bows = bowsBetween(from, to);
    // Keep the two directions apart.
    const back = taken[`${line.to}→${line.from}`]?.at(0.5);
    const cost = new Map(
      bows.map((way) => {
        const { x, y } = way.at(0.5);
        const isSame = back !== undefined && Math.hypot(x - back.x, y - back.y) < HEAD.width;
        return [way, blocked(way) + (isSame ? 0.5 : 0)];
      }),
    );
    bows.sort((one, other) => must(cost, one) - must(cost, other));
    const free = bows.filter((way) => must(cost, way) < 1);
    taken[line.key] = must(bows, 0);
    const span = Math.hypot(to.x - from.x, to.y - from.y);
    return [{ line, bows, free: free.length > 0 ? free : bows.slice(0, 1), span }];
  });
  // If room is scarce, the newest line gets it, then the shortest.
  routed.sort(
    (one, other) => Number(other.line.age === 0) - Number(one.line.age === 0) || one.span - other.span,
  );
  const drawn = routed.map(({ bows }) => must(bows, 0));
  const placed: (Spot & Size)[] = [];
  const placedLines = routed.map(({ line, bows, free }, own): RoutedLine => {
    const others = drawn.filter((_, at) => at !== own);
    const label = lineLabel(line);
    const place = (size: Size, candidates: readonly Bow[]) => {
      let best: { way: Bow; labelPosition: Spot; cost: number } | undefined;
      for (const [at, way] of candidates.entries()) {
        if (best && best.cost <= at) break;
        if (placed.some((box) => isTouching(way.head, box))) continue;
        const obstacles = [...cards, ...placed, way.head, ...others.map(({ head }) => head)];
        for (const labelPosition of placesAlong(way, size)) {
          const box = { ...labelPosition, ...size };
          if (!isInside(box) || obstacles.some((one) => isTouching(box, one))) continue;
          // Prefer a label on another line to a long detour.
          const cost =
            at + others.filter(({ points }) => points.some((point) => isTouching(point, box))).length;
          if (!best || cost < best.cost) best = { way, labelPosition, cost };
          if (cost === at) break;
        }
      }
      return best;
    };
    const full = { width: label.length * LETTER + 20, height: 26 };
    const roomy = place(full, free);
    const found = roomy ?? place(DOT, bows);
    const way = found?.way ?? must(bows, 0);
    const labelPosition = found?.labelPosition ?? way.at(LABEL_POSITIONS[0]);
    const size = roomy ? full : DOT;
    drawn[own] = way;
    placed.push({ ...labelPosition, ...size });
    return { ...line, ...way, label, labelPosition, size, isCrowded: roomy === undefined };
  });
  return placedLines.sort((one, other) => other.age - one.age);
}

/** Candidate paths between two cards, the least bent first. */
function bowsBetween(from: Spot & BoxSize, to: Spot & BoxSize): Bow[] {
  const natural = bendOf(from, to);
  const bends = [natural, ...BENDS.filter((more) => more > natural)];
  return [...bends.flatMap((bend) => [bow(from, to, bend), bow(from, to, -bend)]), ...sideBySide(from, to)];
}

/** Lines from side to side, if the cards don't overlap horizontally: the shortest between columns. */
function sideBySide(from: Spot & BoxSize, to: Spot & BoxSize): Bow[] {
  const side = Math.sign(to.x - from.x);
  const edge = { width: 0, height: Number.POSITIVE_INFINITY };
  const out = { ...edge, x: from.x + (side * from.width) / 2, y: from.y };
  const into = { ...edge, x: to.x - (side * to.width) / 2, y: to.y };
  return (into.x - out.x) * side > 2 * HEAD.width ? [0, 24, -24].map((bend) => bow(out, into, bend)) : [];
}

/** Candidate positions for a label: on its line, then next to it. */
function* placesAlong({ at }: Bow, { width, height }: Size): Generator<Spot> {
  for (const share of LABEL_POSITIONS) yield at(share);
  for (const share of LABEL_POSITIONS) {
    const [before, { x, y }, after] = [at(share - 0.05), at(share), at(share + 0.05)];
    const along = Math.atan2(after.y - before.y, after.x - before.x);
    const [dx, dy] = [-Math.sin(along), Math.cos(along)];
    const apart = (Math.abs(dx) * width + Math.abs(dy) * height) / 2 + 4;
    yield { x: x + dx * apart, y: y + dy * apart };
    yield { x: x - dx * apart, y: y - dy * apart };
  }
}

/** Approximate width of a character in a label. */
const LETTER = 7.1;
/** The size of the dot that replaces a label if there is no room for it. */
const DOT: Size = { width: 14, height: 14 };
/** The size of an arrowhead. */
const HEAD: Size = { width: 14, height: 14 };
/** How far lines may bend around obstacles. */
const BENDS = [90, 130, 180, 240];
const SAMPLES = Array.from({ length: 19 }, (_, at) => (at + 1) / 20);
/** Label positions along a line: closer to its source first, so that the labels of both directions don't collide. */
const LABEL_POSITIONS = [0.4, 0.5, 0.32, 0.6, 0.25, 0.68, 0.18, 0.78] as const;

const isTouching = (a: Spot & Partial<Size>, b: Spot & Size) =>
  Math.abs(a.x - b.x) < ((a.width ?? 0) + b.width) / 2 &&
  Math.abs(a.y - b.y) < ((a.height ?? 0) + b.height) / 2;

/** A card's size. `badge`: how far the badge extends above its upper edge. */
export type BoxSize = Size & { badge?: number };

const withBadge = ({ x, y, width, height, badge = 0 }: Spot & BoxSize): Spot & Size => ({
  x,
  y: y - badge / 2,
  width,
  height: height + badge,
});

const bendOf = (from: Spot, to: Spot) => Math.min(44, Math.hypot(to.x - from.x, to.y - from.y) * 0.17);

/** A curved line: its path, the box of its arrowhead, and the point at a fraction of its length. */
interface Bow {
  path: string;
  head: Spot & Size;
  at: (share: number) => Spot;
  /** Sample points, to find collisions. */
  points: readonly Spot[];
}

/** A curved line from the edge of one box to the edge of another. A negative bend curves to the other side. */
export function bow(from: Spot & BoxSize, to: Spot & BoxSize, bend: number = bendOf(from, to)): Bow {
  const dx = to.x - from.x;
  const dy = to.y - from.y;
  const length = Math.hypot(dx, dy) || 1;
  // Always to the same side, so that the two directions are apart.
  const control = {
    x: (from.x + to.x) / 2 + (-dy / length) * bend,
    y: (from.y + to.y) / 2 + (dx / length) * bend,
  };
  const start = borderTowards(from, control, 4);
  const tip = borderTowards(to, control, 9);
  const onCurve = (axis: "x" | "y", share: number) =>
    round((1 - share) ** 2 * start[axis] + 2 * share * (1 - share) * control[axis] + share ** 2 * tip[axis]);
  const at = (share: number) => ({ x: onCurve("x", share), y: onCurve("y", share) });
  const back = Math.hypot(control.x - tip.x, control.y - tip.y) || 1;
  return {
    path: `M ${round(start.x)} ${round(start.y)} Q ${round(control.x)} ${round(control.y)} ${round(tip.x)} ${round(tip.y)}`,
    head: {
      x: tip.x + ((control.x - tip.x) / back) * 4,
      y: tip.y + ((control.y - tip.y) / back) * 4,
      ...HEAD,
    },
    at,
    points: SAMPLES.map(at),
  };
}

/** Where the line from a box's center to a point leaves the box, plus a small gap. */
function borderTowards(box: Spot & BoxSize, point: Spot, distance: number): Spot {
  const dx = point.x - box.x;
  const dy = point.y - box.y;
  const above = dy < 0 ? (box.badge ?? 0) : 0;
  const share = Math.min(
    dx === 0 ? Number.POSITIVE_INFINITY : (box.width / 2 + distance) / Math.abs(dx),
    dy === 0 ? Number.POSITIVE_INFINITY : (box.height / 2 + distance + above) / Math.abs(dy),
    1,
  );
  return { x: box.x + dx * share, y: box.y + dy * share };
}

const round = (value: number) => Math.round(value * 10) / 10;
