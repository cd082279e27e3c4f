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
 * Where everyone of a crew stands, and how much room that takes: the crew's node grows to it. Known from the members and
 * the way in which they work, so that nobody moves while the crew is at work. All measures are pixels of the drawing.
 */

/** A member's card: avatar and name, two lines of its task, two of what it says, and a badge above. */
export const MEMBER: BoxSize = { width: 204, height: 132, badge: 12 };
export const REQUESTER_SIZE: Size = { width: 118, height: 32 };
export const PROPOSAL_SIZE: Size = { width: 236, height: 96 };

/** The size of a participant's card. */
export function sizeOf(id: string): BoxSize {
  if (id === REQUESTER) return REQUESTER_SIZE;
  return id.startsWith(PROPOSAL) ? PROPOSAL_SIZE : MEMBER;
}

/** Between cards side by side, where lines carry their words. */
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

/** What a proposal stands at before there is one: its place is kept free. */
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
    // Where the last word always goes to the requester, it stands there from the beginning.
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

/**
 * A manager is placed above a few members or in the center of many. Members who hand off, vote or follow custom steps are
 * placed in a ring, those who work in parallel in columns, all others in rows.
 */
export function placeCrew(shape: Shape): CrewLayout {
  const { process, manager, members } = shape;
  if (process === "swarm" || process === "consensus" || process === "custom") return ring(shape);
  const hasManager = manager !== undefined && members.includes(manager);
  const below = hasManager ? members.filter((id) => id !== manager) : members;
  if (hasManager && process === "hierarchical" && below.length > MOST_BELOW)
    return ring({ ...shape, members: below });
  const layers = shape.layers ?? {};
  const isInColumns = process === "parallel" && new Set(below.flatMap((id) => layers[id] ?? [])).size > 1;
  const grid = isInColumns ? columns(below, layers) : rows(below, process === "sequential");
  const isTopTaken = hasManager || shape.hasRequester === true;
  // Ways past whoever stands in between lead above and below the row.
  if (!isTopTaken) return laidOut(grid, { x: EDGE, y: !isInColumns && below.length === 3 ? AROUND : EDGE });
  const pill = shape.hasRequester === true && hasManager ? REQUESTER_SIZE.width + ASIDE : 0;
  const width = Math.max(grid.size.width, MEMBER.width + 2 * pill);
  const head = hasManager ? MEMBER.height : REQUESTER_SIZE.height;
  const spots = {
    ...moved(grid.spots, EDGE + (width - grid.size.width) / 2, EDGE + head + BELOW),
    ...(hasManager ? { [manager]: { x: EDGE + width / 2, y: EDGE + head / 2 } } : {}),
    ...(shape.hasRequester
      ? {
          [REQUESTER]: {
            x: hasManager ? EDGE + REQUESTER_SIZE.width / 2 : EDGE + width / 2,
            y: EDGE + head / 2,
          },
        }
      : {}),
  };
  return {
    size: { width: width + 2 * EDGE, height: grid.size.height + head + BELOW + 2 * EDGE },
    spots,
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

/** How many stand side by side: two rows rather than one that is too wide. */
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
  // Who has no task stands where most room is, rather at the end.
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

/** Around a middle that is kept free, clockwise from the top left; two stand side by side. */
function ring({ process, members, manager, proposal, hasRequester }: Shape): CrewLayout {
  const inMiddle =
    process === "hierarchical"
      ? manager
      : proposal !== undefined
        ? PROPOSAL + proposal
        : hasRequester
          ? REQUESTER
          : undefined;
  const core = sizeOf(inMiddle ?? REQUESTER);
  const hasSides = members.length > 6 && process !== "hierarchical";
  const left = hasSides ? members.at(-1) : undefined;
  const others = hasSides ? members.slice(0, -1) : members;
  const onTop = others.slice(0, Math.ceil((others.length - (hasSides ? 1 : 0)) / 2));
  const right = hasSides ? others[onTop.length] : undefined;
  const below = others.slice(onTop.length + (hasSides ? 1 : 0)).toReversed();
  const hasTwo = members.length === 2 && proposal === undefined;
  const perRow = Math.max(onTop.length, hasTwo ? 2 : 1, hasSides ? 3 : 1);
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
  row(hasTwo ? members : onTop, top);
  row(hasTwo ? [] : below, bottom);
  if (right !== undefined) spots[right] = { x: EDGE + width - MEMBER.width / 2, y: middle };
  if (left !== undefined) spots[left] = { x: EDGE + MEMBER.width / 2, y: middle };
  if (inMiddle !== undefined) spots[inMiddle] = { x: EDGE + width / 2, y: middle };
  if (isBeside) spots[REQUESTER] = { x: EDGE + REQUESTER_SIZE.width / 2, y: middle };
  const end = hasTwo || members.length < 2 ? middle + band / 2 : bottom + MEMBER.height / 2;
  return { size: { width: width + 2 * EDGE, height: end + EDGE }, spots };
}

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

/** In which column each member works: that of its first task. Who has none is left out. */
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
