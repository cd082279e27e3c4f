import type { CrewProcess } from "@/server/domain/crew/crew";
import type { ExecutionPlan } from "@/server/domain/crew/plan";
import type { CrewRun } from "@/server/domain/run";
import {
  type BoxSize,
  memberNamed,
  messageOf,
  PROPOSAL,
  REQUESTER,
  type Size,
  type Spot,
} from "./crew-edges";

/*
 * The layout of a crew, and the size that its node grows to. It depends only on the members and the process, so that no
 * one moves while the crew runs. All measures are canvas pixels.
 */

/** A member's card: avatar and name, two lines for its task, two for its message, and a badge above. */
export const MEMBER: BoxSize = { width: 204, height: 132, badge: 12 };
export const REQUESTER_SIZE: Size = { width: 118, height: 32 };
export const PROPOSAL_SIZE: Size = { width: 236, height: 96 };

/** The size of a participant's card. */
export function sizeOf(id: string): BoxSize {
  if (id === REQUESTER) return REQUESTER_SIZE;
  return id.startsWith(PROPOSAL) ? PROPOSAL_SIZE : MEMBER;
}

/** Between cards side by side, with room for the labels of lines. */
const ASIDE = 126;
/** Between cards one below the other. */
const BELOW = 84;
/** Space around the center of a ring. */
const AROUND_MIDDLE = 96;
/** Around everything. */
const EDGE = 28;
/** Above and below a single row of three. */
const AROUND = 76;
/** More columns would be wider than most screens. */
const MOST_COLUMNS = 4;

interface Shape {
  process: CrewProcess;
  members: readonly string[];
  manager?: string | undefined;
  /** Columns from the left, for crews that work side by side. */
  layers?: Readonly<Record<string, number>>;
  hasRequester?: boolean;
  proposal?: string | undefined;
}

/** The room that a crew takes, and the middle of everyone's card in it. */
export interface CrewLayout {
  size: Size;
  spots: Readonly<Record<string, Spot>>;
}

/** The id that keeps a place free until there is a proposal. */
const FUTURE = "";

/** The layout of a crew in a run, as of all that is known of it. */
export function layoutOf(crew: CrewRun, plan: ExecutionPlan | undefined): CrewLayout {
  const { process, manager, members } = crew;
  const proposal = Object.values(crew.proposals).at(-1)?.id;
  return placeCrew({
    process,
    manager,
    members: members.map(({ agent_id }) => agent_id),
    layers: layersOf(crew, plan),
    // Where the result always goes to the requester, show it from the start.
    hasRequester:
      process === "hierarchical" ||
      process === "custom" ||
      crew.exchanges.some((one) => {
        const { from, to } = messageOf(one);
        return memberNamed(crew, from) === REQUESTER || memberNamed(crew, to) === REQUESTER;
      }),
    proposal: proposal ?? (process === "consensus" ? FUTURE : undefined),
  });
}

/** A manager of more members than this is placed in the center, so that no line has to pass a member. */
const MOST_BELOW = 3;

const IN_RING: ReadonlySet<Shape["process"]> = new Set(["swarm", "consensus", "custom"] as const);

/**
 * A manager is placed above a few members or in the center of many. Members who hand off, vote or follow custom steps are
 * placed in a ring, those who work in parallel in columns, all others in rows.
 */
export function placeCrew(shape: Shape): CrewLayout {
  const { process, manager, members } = shape;
  if (IN_RING.has(process)) return ring(shape);
  const hasManager = manager !== undefined && members.includes(manager);
  const below = hasManager ? members.filter((id) => id !== manager) : members;
  if (hasManager && process === "hierarchical" && below.length > MOST_BELOW)
    return ring({ ...shape, members: below });
  const layers = shape.layers ?? {};
  const isInColumns = process === "parallel" && new Set(below.flatMap((id) => layers[id] ?? [])).size > 1;
  const grid = isInColumns ? columns(below, layers) : rows(below, process === "sequential");
  const isTopTaken = hasManager || shape.hasRequester === true;
  // Lines past members in between run above and below the row.
  if (!isTopTaken) return laidOut(grid, { x: EDGE, y: !isInColumns && below.length === 3 ? AROUND : EDGE });
  return headed(grid, hasManager ? manager : undefined, shape.hasRequester === true);
}

/** The manager and the requester above a grid; if only one is there, it is centered. */
function headed(grid: Grid, manager: string | undefined, hasRequester: boolean): CrewLayout {
  const hasManager = manager !== undefined;
  const pill = hasRequester && hasManager ? REQUESTER_SIZE.width + ASIDE : 0;
  const width = Math.max(grid.size.width, MEMBER.width + 2 * pill);
  const head = hasManager ? MEMBER.height : REQUESTER_SIZE.height;
  const center = { x: EDGE + width / 2, y: EDGE + head / 2 };
  const side = { ...center, x: EDGE + REQUESTER_SIZE.width / 2 };
  return {
    size: { width: width + 2 * EDGE, height: grid.size.height + head + BELOW + 2 * EDGE },
    spots: {
      ...moved(grid.spots, EDGE + (width - grid.size.width) / 2, EDGE + head + BELOW),
      ...(hasManager ? { [manager]: center } : {}),
      ...(hasRequester ? { [REQUESTER]: hasManager ? side : center } : {}),
    },
  };
}

type Grid = { size: Size; spots: Record<string, Spot> };

const laidOut = ({ size, spots }: Grid, { x, y }: Spot): CrewLayout => ({
  size: { width: size.width + 2 * x, height: size.height + 2 * y },
  spots: moved(spots, x, y),
});

const moved = (spots: Readonly<Record<string, Spot>>, x: number, y: number): Record<string, Spot> =>
  Object.fromEntries(Object.entries(spots).map(([id, spot]) => [id, { x: spot.x + x, y: spot.y + y }]));

const across = (count: number, size: number, gap: number) => count * size + Math.max(0, count - 1) * gap;

/** Members per row: two rows rather than one that is too wide. */
const perRowOf = (count: number) => (count <= 3 ? count : count === 4 ? 2 : count <= 9 ? 3 : MOST_COLUMNS);

/** Row by row, from left to right or, for a chain, back and forth; a row that is not full is centered. */
function rows(ids: readonly string[], isChain: boolean): Grid {
  const perRow = Math.max(1, perRowOf(ids.length));
  const count = Math.max(1, Math.ceil(ids.length / perRow));
  const width = across(perRow, MEMBER.width, ASIDE);
  const spots: Record<string, Spot> = {};
  for (const [at, id] of ids.entries()) {
    const row = Math.floor(at / perRow);
    const inRow = Math.min(perRow, ids.length - row * perRow);
    const aside = (width - across(inRow, MEMBER.width, ASIDE)) / 2;
    const column = isChain && row % 2 === 1 ? inRow - 1 - (at % perRow) : at % perRow;
    spots[id] = {
      x: aside + MEMBER.width / 2 + column * (MEMBER.width + ASIDE),
      y: MEMBER.height / 2 + row * (MEMBER.height + BELOW),
    };
  }
  return { size: { width, height: across(count, MEMBER.height, BELOW) }, spots };
}

/** One column for each layer, its members below each other. */
function columns(ids: readonly string[], layers: Readonly<Record<string, number>>): Grid {
  const used = [...new Set(ids.flatMap((id) => layers[id] ?? []))].sort((a, b) => a - b);
  const count = Math.min(used.length, MOST_COLUMNS);
  const members: string[][] = Array.from({ length: count }, () => []);
  for (const id of ids) {
    const layer = layers[id];
    if (layer !== undefined) members[Math.min(used.indexOf(layer), MOST_COLUMNS - 1)]?.push(id);
  }
  // Members without a task go where most room is, preferably at the end.
  for (const id of ids)
    if (layers[id] === undefined)
      members.reduceRight((least, column) => (column.length < least.length ? column : least)).push(id);
  const inColumn = (column: number) => members[column] ?? [];
  const gap = BELOW / 2;
  const most = Math.max(...Array.from({ length: count }, (_, column) => inColumn(column).length));
  const height = across(most, MEMBER.height, gap);
  const spots: Record<string, Spot> = {};
  for (let column = 0; column < count; column++) {
    const same = inColumn(column);
    const above = (height - across(same.length, MEMBER.height, gap)) / 2;
    for (const [at, id] of same.entries())
      spots[id] = {
        x: MEMBER.width / 2 + column * (MEMBER.width + ASIDE),
        y: above + MEMBER.height / 2 + at * (MEMBER.height + gap),
      };
  }
  return { size: { width: across(count, MEMBER.width, ASIDE), height }, spots };
}

/** Distributes members clockwise; `hasSides`: one each on the right and the left. */
function sidesOf(members: readonly string[], hasSides: boolean): Sides {
  const [others, side] = hasSides ? [members.slice(0, -1), 1] : [members, 0];
  const count = Math.ceil((others.length - side) / 2);
  return {
    onTop: others.slice(0, count),
    below: others.slice(count + side).toReversed(),
    ...(hasSides ? { right: others[count], left: members.at(-1) } : {}),
  };
}

interface Sides {
  onTop: readonly string[];
  below: readonly string[];
  right?: string | undefined;
  left?: string | undefined;
}

function middleOf({ process, manager, proposal, hasRequester }: Shape): string | undefined {
  if (process === "hierarchical") return manager;
  if (proposal !== undefined) return PROPOSAL + proposal;
  return hasRequester ? REQUESTER : undefined;
}

/** Around a free center, clockwise from the top left; two members side by side. */
function ring(shape: Shape): CrewLayout {
  const { process, members, proposal, hasRequester } = shape;
  const inMiddle = middleOf(shape);
  const core = sizeOf(inMiddle ?? REQUESTER);
  const hasSides = members.length > 6 && process !== "hierarchical";
  const hasTwo = members.length === 2 && proposal === undefined;
  const sides: Sides = hasTwo ? { onTop: members, below: [] } : sidesOf(members, hasSides);
  const { onTop, right, below, left } = sides;
  const perRow = Math.max(onTop.length, hasSides ? 3 : 1);
  const isBeside = process === "hierarchical" && hasRequester === true;
  const width = Math.max(
    across(perRow, MEMBER.width, ASIDE),
    core.width + 2 * (ASIDE + (isBeside ? REQUESTER_SIZE.width : 0)),
  );
  const band = hasSides ? MEMBER.height : core.height;
  const spots: Record<string, Spot> = {};
  const row = (ids: readonly string[], y: number) => {
    const apart = ids.length > 1 ? (width - MEMBER.width) / (ids.length - 1) : 0;
    const first = ids.length > 1 ? MEMBER.width / 2 : width / 2;
    for (const [at, id] of ids.entries()) spots[id] = { x: EDGE + first + at * apart, y };
  };
  const top = EDGE + MEMBER.height / 2;
  const middle = EDGE + MEMBER.height + AROUND_MIDDLE + band / 2;
  const bottom = middle + band / 2 + AROUND_MIDDLE + MEMBER.height / 2;
  row(onTop, top);
  row(below, bottom);
  if (right !== undefined) spots[right] = { x: EDGE + width - MEMBER.width / 2, y: middle };
  if (left !== undefined) spots[left] = { x: EDGE + MEMBER.width / 2, y: middle };
  if (inMiddle !== undefined) spots[inMiddle] = { x: EDGE + width / 2, y: middle };
  if (isBeside) spots[REQUESTER] = { x: EDGE + REQUESTER_SIZE.width / 2, y: middle };
  const end = hasTwo || members.length < 2 ? middle + band / 2 : bottom + MEMBER.height / 2;
  return { size: { width: width + 2 * EDGE, height: end + EDGE }, spots };
}

/** How many tasks come before each task, on the longest path. */
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

/** The column of each member: that of its first task. Members without a task are left out. */
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
