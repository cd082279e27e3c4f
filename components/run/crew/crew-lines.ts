import { present } from "@/server/domain/base/must";
import type { CrewExchange, CrewRun } from "@/server/domain/run";

export interface Size {
  width: number;
  height: number;
}

/** The middle of something in the drawing, in pixels. */
export interface Spot {
  x: number;
  y: number;
}

/** Whoever started the crew; stands in the drawing where it says something. */
export const REQUESTER = "user";
/** What is voted on. */
export const PROPOSAL = "proposal:";

/** Who is meant by a name that an agent used: by id, by role, as the manager, or as the requester. */
export function memberNamed(crew: Pick<CrewRun, "members" | "manager">, name: string): string | null {
  if (crew.members.some(({ agent_id }) => agent_id === name)) return name;
  if (name.toLowerCase() === REQUESTER) return REQUESTER;
  const byRole = crew.members.filter(({ role_name }) => role_name === name);
  if (byRole.length === 1) return present(byRole[0], "byRole[0]").agent_id;
  return name === "manager" && crew.manager ? crew.manager : null;
}

/** From whom to whom something went, as places in the drawing; null where it cannot be drawn. */
export function endsOf(
  crew: Pick<CrewRun, "members" | "manager">,
  exchange: CrewExchange,
): { from: string; to: string } | null {
  const said = saidIn(exchange);
  const from = memberNamed(crew, said.from);
  const to = exchange.kind === "vote" ? PROPOSAL + exchange.vote.proposal_id : memberNamed(crew, said.to);
  return from && to && from !== to ? { from, to } : null;
}

/** What an exchange says, whatever its kind. */
export function saidIn(exchange: CrewExchange): { from: string; to: string; text: string } {
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

/** A word for what went over, to stand on its line. */
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
      if (exchange.post.outcome !== undefined) return `says “${plainName(exchange.post.outcome)}” to`;
      return {
        post: "writes to",
        reply: "answers",
        result: "passes on",
        question: "asks",
        answer: "answers",
        feedback: "gives feedback to",
      }[exchange.post.kind];
    case "handoff":
      return "hands over to";
    case "delegation": {
      const isAsk = exchange.delegation.kind === "ask";
      if (exchange.done === "stopped") return isAsk ? "no longer asks" : "no longer waits for";
      if (exchange.done === "failed") return isAsk ? "asked in vain" : "delegated in vain to";
      if (exchange.done === "completed") return isAsk ? "asked" : "delegated to";
      return isAsk ? "asks" : "delegates to";
    }
    case "vote":
      return { approve: "votes for", reject: "votes against", abstain: "abstains in" }[exchange.vote.vote];
  }
}

/** The words of an exchange; a vote that was not valid has none of its own. */
export function wordsOf(exchange: CrewExchange): string {
  if (exchange.kind === "vote" && exchange.vote.forced) return "It gave no valid vote.";
  const { text } = saidIn(exchange);
  // A step's outcome stands before its words already.
  const outcome = exchange.kind === "post" ? exchange.post.outcome : undefined;
  const said =
    outcome !== undefined && text.startsWith(`${outcome}: `) ? text.slice(outcome.length + 2) : text;
  return said || "Without words";
}

/** A line of the drawing: all that went from one to another, the oldest first; `latest` is what it leads to. */
export interface CrewLine {
  key: string;
  from: string;
  to: string;
  all: readonly CrewExchange[];
  latest: CrewExchange;
  /** 0: of the newest moment, which is lit; older ones fade. */
  age: number;
}

/** One line for each pair and direction, the oldest first, so that the newest is drawn on top. */
export function linesOf(crew: Pick<CrewRun, "members" | "manager" | "exchanges">): CrewLine[] {
  const lines = new Map<string, Omit<CrewLine, "age">>();
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

/** What stands on a line: its newest word, with how often that was said; of votes, how they changed. */
export function lineWords({ all, latest }: Pick<CrewLine, "all" | "latest">): string {
  const words = all.map(wordFor);
  const newest = wordFor(latest);
  if (latest.kind === "vote") {
    const turns = words.filter((word, at) => word !== words[at - 1]);
    if (turns.length > 1)
      return turns.map((word, at) => (at === 0 ? word : `then ${word.replace("votes ", "")}`)).join(", ");
  }
  const times = words.filter((word) => word === newest).length;
  return times > 1 ? `${newest} ×${times}` : newest;
}

/** A line with its way through the drawing. `isCrowded`: nowhere on it is room for its words. */
export type RoutedLine = CrewLine & { label: string; path: string; words: Spot; isCrowded: boolean };

/**
 * The ways of lines: each goes around the cards that are not its own, and its words stand where no card and no other
 * words are, the newest line's first.
 */
export function routeLines(
  lines: readonly CrewLine[],
  spots: Readonly<Record<string, Spot>>,
  sizeOf: (id: string) => Size,
  area: Size,
): RoutedLine[] {
  const boxes = Object.entries(spots).map(([id, spot]) => ({ id, ...spot, ...sizeOf(id) }));
  const placed: (Spot & Size)[] = [];
  const routed = [...lines].reverse().flatMap((line): RoutedLine[] => {
    const from = boxes.find(({ id }) => id === line.from);
    const to = boxes.find(({ id }) => id === line.to);
    if (!from || !to) return [];
    const others = boxes.filter((box) => box !== from && box !== to);
    const natural = bendOf(from, to);
    const isFree = (bend: number) =>
      SAMPLES.every((at) => {
        const { words: point } = bow(from, to, bend, at);
        const isInside = point.x > 4 && point.x < area.width - 4 && point.y > 4 && point.y < area.height - 4;
        return isInside && others.every((box) => !isTouching({ ...point, width: 12, height: 12 }, box));
      });
    const free = [natural, ...BENDS.filter((more) => more > natural)].filter(isFree);
    const label = lineWords(line);
    const size = { width: label.length * LETTER + 20, height: 26 };
    const hasRoom = ({ x, y }: Spot) =>
      x - size.width / 2 > 2 &&
      x + size.width / 2 < area.width - 2 &&
      [...boxes, ...placed].every((box) => !isTouching({ x, y, ...size }, box));
    const ways = (free.length > 0 ? free : [natural]).flatMap((bend) =>
      WORDS_AT.map((share) => bow(from, to, bend, share)),
    );
    const roomy = ways.find(({ words }) => hasRoom(words));
    const way = roomy ?? bow(from, to, free[0] ?? natural);
    placed.push({ ...way.words, ...(roomy ? size : DOT) });
    return [{ ...line, label, ...way, isCrowded: roomy === undefined }];
  });
  return routed.reverse();
}

/** How wide a letter of a line's words is, about. */
const LETTER = 7.1;
/** What is left of a line's words where there is no room for them. */
const DOT: Size = { width: 14, height: 14 };
/** How far lines may bend around what is in their way. */
const BENDS = [90, 130, 180, 240];
const SAMPLES = Array.from({ length: 19 }, (_, at) => (at + 1) / 20);
/** Where words may stand: nearer to where the line comes from, so that those of there and back do not meet. */
const WORDS_AT = [0.4, 0.5, 0.32, 0.6, 0.25, 0.68, 0.18, 0.78] as const;

const isTouching = (a: Spot & Size, b: Spot & Size) =>
  Math.abs(a.x - b.x) < (a.width + b.width) / 2 && Math.abs(a.y - b.y) < (a.height + b.height) / 2;

const bendOf = (from: Spot, to: Spot) => Math.min(44, Math.hypot(to.x - from.x, to.y - from.y) * 0.17);

/**
 * A bowed line from the edge of one box to the edge of another: its path, and the place for its words at that share
 * of the way. A negative bend bows to the other side.
 */
export function bow(
  from: Spot & Size,
  to: Spot & Size,
  bend: number = bendOf(from, to),
  share: number = WORDS_AT[0],
): { path: string; words: Spot } {
  const dx = to.x - from.x;
  const dy = to.y - from.y;
  const length = Math.hypot(dx, dy) || 1;
  // Always to the same side of the way, so that there and back lie apart.
  const control = {
    x: (from.x + to.x) / 2 + (-dy / length) * bend,
    y: (from.y + to.y) / 2 + (dx / length) * bend,
  };
  const start = borderTowards(from, control, 4);
  const end = borderTowards(to, control, 9);
  const onCurve = (axis: "x" | "y") =>
    round((1 - share) ** 2 * start[axis] + 2 * share * (1 - share) * control[axis] + share ** 2 * end[axis]);
  return {
    path: `M ${round(start.x)} ${round(start.y)} Q ${round(control.x)} ${round(control.y)} ${round(end.x)} ${round(end.y)}`,
    words: { x: onCurve("x"), y: onCurve("y") },
  };
}

/** Where the way from a box's middle to a point leaves the box, a little outside of it. */
function borderTowards(box: Spot & Size, point: Spot, distance: number): Spot {
  const dx = point.x - box.x;
  const dy = point.y - box.y;
  const share = Math.min(
    dx === 0 ? Number.POSITIVE_INFINITY : (box.width / 2 + distance) / Math.abs(dx),
    dy === 0 ? Number.POSITIVE_INFINITY : (box.height / 2 + distance) / Math.abs(dy),
    1,
  );
  return { x: box.x + dx * share, y: box.y + dy * share };
}

const round = (value: number) => Math.round(value * 10) / 10;
