import { present } from "@/server/domain/base/must";
import type { CrewProcess } from "@/server/domain/crew/crew";
import type { ExecutionPlan } from "@/server/domain/crew/plan";
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

interface Shape {
  process: CrewProcess;
  manager?: string | undefined;
  members: readonly string[];
  /** Columns from the left, for crews that work side by side. */
  layers?: Readonly<Record<string, number>>;
  hasRequester?: boolean;
  proposal?: string | undefined;
}

const GAP = 28;

/** How large a member's card is in a drawing of this width. */
export const cardSize = (width: number): Size => ({ width: width < 480 ? 112 : 168, height: 64 });

/**
 * Where everyone stands: a manager above its people, those who hand over, vote or follow a pattern in a ring, those
 * who work side by side in columns, everyone else in a row. Nobody moves while the crew is at work.
 */
export function placeCrew(shape: Shape, area: Size, card: Size): Record<string, Spot> {
  const { process, manager, members } = shape;
  const middle = { x: area.width / 2, y: area.height / 2 };
  const spots: Record<string, Spot> = {};
  const hasManager = manager !== undefined && members.includes(manager);

  if (process === "swarm" || process === "consensus" || process === "custom") {
    const inMiddle = shape.proposal ? proposalSize(card) : shape.hasRequester ? REQUESTER_SIZE : null;
    const isTight = inMiddle !== null && area.width < 2 * (card.width + GAP) + inMiddle.width;
    Object.assign(spots, isTight ? aboveAndBelow(members, area, card, inMiddle) : ring(members, area, card));
    if (shape.proposal) spots[PROPOSAL + shape.proposal] = middle;
    else if (shape.hasRequester) spots[REQUESTER] = middle;
    return spots;
  }

  const below = hasManager ? members.filter((id) => id !== manager) : members;
  const isTopTaken = hasManager || shape.hasRequester === true;
  const top = isTopTaken ? card.height + GAP * 2 : 0;
  const rest = { width: area.width, height: area.height - top };
  Object.assign(
    spots,
    shifted(process === "parallel" ? columns(below, shape.layers ?? {}, rest) : rows(below, rest, card), top),
  );
  const head = card.height / 2 + GAP / 2;
  if (hasManager) spots[manager] = { x: middle.x, y: head };
  if (shape.hasRequester) spots[REQUESTER] = { x: hasManager ? card.width / 2 + 12 : middle.x, y: head };
  return spots;
}

export const REQUESTER_SIZE: Size = { width: 112, height: 30 };
/** How large the card of a proposal is, beside members' cards of that size. */
export const proposalSize = (card: Size): Size => ({ width: Math.min(196, card.width + 44), height: 84 });

/** Around the middle, clockwise from the top; two stand side by side. */
function ring(ids: readonly string[], area: Size, card: Size): Record<string, Spot> {
  const rx = Math.max(0, (area.width - card.width) / 2 - 12);
  const ry = Math.max(0, (area.height - card.height) / 2 - 12);
  const start = ids.length === 2 ? Math.PI : -Math.PI / 2;
  return Object.fromEntries(
    ids.map((id, at) => {
      const angle = start + (2 * Math.PI * at) / ids.length;
      const isAlone = ids.length === 1;
      return [
        id,
        {
          x: area.width / 2 + (isAlone ? 0 : Math.min(rx, ry * 1.9) * Math.cos(angle)),
          y: area.height / 2 + (isAlone ? 0 : ry * Math.sin(angle)),
        },
      ];
    }),
  );
}

/** Half of them above what stands in the middle, half below it, where there is no room beside it. */
function aboveAndBelow(ids: readonly string[], area: Size, card: Size, inMiddle: Size): Record<string, Spot> {
  const half = { width: area.width, height: (area.height - inMiddle.height - GAP * 2) / 2 };
  const upper = ids.slice(0, Math.ceil(ids.length / 2));
  const lower = ids.slice(upper.length);
  return {
    ...rows(upper, half, card),
    ...shifted(rows(lower, half, card), area.height - half.height),
  };
}

/** From left to right, in as many equal rows as the width asks for; every other row is set off by half a place. */
function rows(ids: readonly string[], area: Size, card: Size): Record<string, Spot> {
  const most = Math.max(1, Math.floor((area.width + GAP) / (card.width + GAP)));
  const count = Math.ceil(ids.length / most);
  const perRow = Math.ceil(ids.length / Math.max(1, count));
  return Object.fromEntries(
    ids.map((id, at) => {
      const row = Math.floor(at / perRow);
      const inRow = Math.min(perRow, ids.length - row * perRow);
      return [
        id,
        {
          x: (area.width * ((at % perRow) + 0.5)) / inRow,
          y: (area.height * (row + 0.5)) / count,
        },
      ];
    }),
  );
}

/** One column for each layer, its members below each other. */
function columns(
  ids: readonly string[],
  layers: Readonly<Record<string, number>>,
  area: Size,
): Record<string, Spot> {
  const used = [...new Set(ids.map((id) => layers[id] ?? 0))].sort((a, b) => a - b);
  return Object.fromEntries(
    ids.map((id) => {
      const layer = layers[id] ?? 0;
      const same = ids.filter((other) => (layers[other] ?? 0) === layer);
      return [
        id,
        {
          x: (area.width * (used.indexOf(layer) + 0.5)) / used.length,
          y: (area.height * (same.indexOf(id) + 0.5)) / same.length,
        },
      ];
    }),
  );
}

const shifted = (spots: Record<string, Spot>, by: number): Record<string, Spot> =>
  Object.fromEntries(Object.entries(spots).map(([id, { x, y }]) => [id, { x, y: y + by }]));

/** How many tasks come before each task, on the longest way there. */
export function depthOf(plan: Pick<ExecutionPlan, "tasks">): Record<string, number> {
  const byId = new Map(plan.tasks.map((task) => [task.task_id, task]));
  const depth: Record<string, number> = {};
  const measure = (id: string, above: ReadonlySet<string>): number => {
    const known = depth[id];
    if (known !== undefined) return known;
    const before = (byId.get(id)?.dependencies ?? []).filter((other) => byId.has(other) && !above.has(other));
    const own = Math.max(-1, ...before.map((other) => measure(other, new Set([...above, id])))) + 1;
    depth[id] = own;
    return own;
  };
  for (const { task_id } of plan.tasks) measure(task_id, new Set());
  return depth;
}

/** In which column each member works: that of its first task. */
export function layersOf(
  crew: Pick<CrewRun, "members">,
  plan: ExecutionPlan | undefined,
): Record<string, number> {
  if (!plan) return {};
  const depth = depthOf(plan);
  const layers: Record<string, number> = {};
  for (const { agent_id, role_name } of crew.members)
    for (const task of plan.tasks) {
      const isTheirs = task.assigned_agent
        ? task.assigned_agent === agent_id
        : task.required_role === role_name;
      if (isTheirs)
        layers[agent_id] = Math.min(layers[agent_id] ?? Number.POSITIVE_INFINITY, depth[task.task_id] ?? 0);
    }
  return layers;
}

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

/** A line with its way through the drawing. */
export type RoutedLine = CrewLine & { label: string; path: string; words: Spot };

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
    const bend = [natural, ...BENDS.filter((more) => more > natural)].find(isFree) ?? natural;
    const label = lineWords(line);
    const size = { width: label.length * 6.2 + 18, height: 22 };
    const at =
      WORDS_AT.find((share) => {
        const words = { ...bow(from, to, bend, share).words, ...size };
        return [...boxes, ...placed].every((box) => !isTouching(words, box));
      }) ?? WORDS_AT[0];
    const way = bow(from, to, bend, at);
    placed.push({ ...way.words, ...size });
    return [{ ...line, label, ...way }];
  });
  return routed.reverse();
}

/** How far lines may bend around what is in their way. */
const BENDS = [90, 130, 180, 240];
const SAMPLES = Array.from({ length: 19 }, (_, at) => (at + 1) / 20);
/** Where words may stand: nearer to where the line comes from, so that those of there and back do not meet. */
const WORDS_AT = [0.4, 0.5, 0.32, 0.6, 0.25, 0.68] as const;

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
