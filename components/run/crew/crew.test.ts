import { expect, test } from "vitest";
import { type CrewRun, foldRun, type RunState } from "@/server/domain/run";
import { bow, lineLabel, linesOf, memberNamed, PROPOSAL, REQUESTER, routeLines } from "./crew-edges";
import { type CrewLayout, depthOf, layersOf, MEMBER, placeCrew, sizeOf } from "./crew-layout";
import { byDelegation, type CrewScene, costsBy, lastMessage, memberActivity, taskOf } from "./members";
import { stories } from "./testing/stories";
import { CREW_ACTIVATION, keyOf } from "./testing/story";
import { talking } from "./testing/talking";

function sceneOf(state: RunState): CrewScene {
  const mine = (one: { activation_id: string }) => one.activation_id === CREW_ACTIVATION;
  return {
    crew: state.crews[CREW_ACTIVATION]!,
    agents: Object.values(state.agents).filter(mine),
    tools: Object.values(state.tool_calls).filter(mine),
    calls: Object.values(state.calls).filter(mine),
    asks: Object.values(state.interactions).filter(mine),
    plan: state.plans[CREW_ACTIVATION],
  };
}
const scene = (name: keyof typeof stories) => sceneOf(foldRun(name, stories[name]));
/** The scene just after the last event of a kind that fits. */
const sceneAfter = (
  name: keyof typeof stories,
  fits: (event: (typeof stories)["swarm"][number]) => boolean,
) => {
  const at = stories[name].findLastIndex(fits);
  expect(at).toBeGreaterThan(0);
  return sceneOf(foldRun(name, stories[name].slice(0, at + 1)));
};

/** Everything of a layout that lies outside of it or on something else. */
function misplaced({ size, spots }: CrewLayout): string[] {
  const boxes = Object.entries(spots).map(([id, { x, y }]) => {
    const { width, height } = sizeOf(id);
    return { id, left: x - width / 2, right: x + width / 2, top: y - height / 2, bottom: y + height / 2 };
  });
  return [
    ...boxes.flatMap(({ id, left, right, top, bottom }) =>
      left < 0 || top < 0 || right > size.width || bottom > size.height ? [`${id} outside`] : [],
    ),
    ...boxes.flatMap((a, at) =>
      boxes
        .slice(at + 1)
        .flatMap((b) =>
          a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
            ? [`${a.id} on ${b.id}`]
            : [],
        ),
    ),
  ];
}

const PROCESSES = [
  "sequential",
  "parallel",
  "hierarchical",
  "swarm",
  "consensus",
  "sample",
  "custom",
] as const;

test.each(PROCESSES)("cards of a %s crew of 2 to 9 don't overlap and fit a screen", (process) => {
  for (let count = 2; count <= 9; count++)
    for (const hasRequester of [false, true]) {
      const members = Array.from({ length: count }, (_, at) => `a${at}`);
      const layout = placeCrew({
        process,
        members,
        manager: process === "hierarchical" ? "a0" : undefined,
        proposal: process === "consensus" ? "p1" : undefined,
        layers: Object.fromEntries(members.map((id, at) => [id, at % 3])),
        hasRequester: hasRequester && process !== "consensus",
      });
      expect({ count, misplaced: misplaced(layout) }).toEqual({ count, misplaced: [] });
      expect(Object.keys(layout.spots)).toHaveLength(
        count + (hasRequester || process === "consensus" ? 1 : 0),
      );
      expect(layout.size.width).toBeLessThanOrEqual(1250);
      expect(layout.size.height).toBeLessThanOrEqual(800);
    }
});

test("a manager is centered above all other members", () => {
  const { size, spots } = placeCrew({ process: "hierarchical", manager: "m", members: ["a", "m", "b"] });
  expect(spots.m?.x).toBe(size.width / 2);
  expect(spots.m!.y).toBeLessThan(Math.min(spots.a!.y, spots.b!.y) - MEMBER.height);
});

test("members of a parallel crew are placed in the column of their first task", () => {
  const { crew, plan } = scene("parallel");
  expect(layersOf(crew, plan)).toEqual({ designer: 0, frontend: 1, backend: 1, tester: 2 });
  const { spots } = placeCrew({
    process: "parallel",
    members: crew.members.map(({ agent_id }) => agent_id),
    layers: layersOf(crew, plan),
  });
  expect(spots.frontend?.x).toBe(spots.backend?.x);
  expect(spots.designer!.x).toBeLessThan(spots.frontend!.x);
  expect(spots.frontend!.x).toBeLessThan(spots.tester!.x);
});

test("a cycle among tasks doesn't hang the layout", () => {
  const task = (task_id: string, dependencies: string[]) => ({ task_id, dependencies }) as never;
  expect(Object.keys(depthOf({ tasks: [task("a", ["b"]), task("b", ["a"])] })).sort()).toEqual(["a", "b"]);
});

test("each pair and direction has one edge, with the newest highlighted and last", () => {
  const lines = linesOf(scene("hierarchical").crew);
  expect(lines.map(({ key, age }) => [key, age])).toEqual([
    ["lead→researcher", 5],
    ["researcher→lead", 4],
    ["lead→analyst", 3],
    ["lead→writer", 2],
    ["writer→analyst", 1],
    ["analyst→writer", 0],
  ]);
});

test("repeated handoffs in one direction share an edge with a count", () => {
  const { crew } = scene("swarm");
  const twice = { ...crew, exchanges: [...crew.exchanges, crew.exchanges.at(-1)!] };
  const line = linesOf(twice).at(-1)!;
  expect(line).toMatchObject({ key: "technician→billing", age: 0 });
  expect(lineLabel(line)).toBe("handed off ×2");
});

test("votes lead to the proposal, and messages to unknown members have no edge", () => {
  const { crew } = scene("consensus");
  expect(linesOf(crew).every(({ to }) => to === `${PROPOSAL}p1`)).toBe(true);
  const post = {
    kind: "post",
    seq: 1,
    at: 0,
    round: 0,
    post: { from: "chair", to: "nobody", message: "", kind: "post" },
  } as const;
  expect(linesOf({ ...crew, exchanges: [post] })).toEqual([]);
});

test("a vote edge lists the votes of each round", () => {
  const { crew } = scene("consensus");
  const [vote] = crew.exchanges.filter(({ kind }) => kind === "vote");
  if (vote?.kind !== "vote") throw new Error("There is no vote.");
  const labelFor = (...votes: ("approve" | "reject" | "abstain")[]) => {
    const all = votes.map((one) => ({ ...vote, vote: { ...vote.vote, vote: one } }));
    return lineLabel({ all, latest: all.at(-1)! });
  };
  expect(labelFor("approve")).toBe("voted for");
  expect(labelFor("approve", "approve")).toBe("voted for ×2");
  expect(labelFor("reject", "approve")).toBe("voted against, then for");
  expect(labelFor("abstain", "reject", "reject")).toBe("abstained, then against");
  expect(labelFor("reject", "approve", "reject")).toBe("voted against, then for, then against");
});

test("messages of different kinds between the same members are counted separately", () => {
  const { crew } = scene("hierarchical");
  const post = (kind: "post" | "answer", seq: number) =>
    ({
      kind: "post",
      seq,
      at: seq,
      round: 1,
      post: { from: "lead", to: "writer", message: "", kind },
    }) as const;
  const [line] = linesOf({ ...crew, exchanges: [post("answer", 1), post("post", 2), post("post", 3)] });
  expect(lineLabel(line!)).toBe("wrote ×2");
});

test("the outcome of a step labels the edge to its recipient", () => {
  const { crew } = scene("hierarchical");
  const exchange = {
    kind: "post",
    seq: 1,
    at: 1,
    round: 1,
    post: { from: "writer", to: "User", message: "no", kind: "reply", outcome: "not_possible" },
  } as const;
  const [line] = linesOf({ ...crew, exchanges: [exchange] });
  expect([line!.to, lineLabel(line!)]).toEqual([REQUESTER, "not possible"]);
});

test("simultaneous votes are highlighted together", () => {
  const { crew } = scene("consensus");
  const at = Math.max(...crew.exchanges.map((one) => one.at));
  const together = { ...crew, exchanges: crew.exchanges.map((one) => ({ ...one, at })) };
  expect(linesOf(together).every(({ age }) => age === 0)).toBe(true);
});

test("an edge avoids cards between its ends, and labels overlap neither cards nor each other", () => {
  const ids = ["a", "b", "c"];
  const members = ids.map((agent_id) => ({ agent_id, role_name: agent_id }));
  const { size: area, spots } = placeCrew({ process: "sequential", members: ids });
  const pairs = ids.flatMap((from) => ids.filter((to) => to !== from).map((to) => [from, to] as const));
  const exchanges = pairs.map(([from, to], seq) => ({
    kind: "post" as const,
    seq,
    at: seq,
    round: 0,
    post: { from, to, message: "", kind: "result" as const },
  }));
  const routed = routeLines(linesOf({ members, exchanges }), spots, () => MEMBER, area);
  expect(routed).toHaveLength(6);
  const middles = routed.map(({ from, to, labelPosition, path }) => {
    const [, , startY = 0, , controlY = 0] = /M (\S+) (\S+) Q (\S+) (\S+)/.exec(path) ?? [];
    return { from, to, labelPosition, height: Math.abs(Number(controlY) - Number(startY)) };
  });
  const long = middles.filter(({ from, to }) => from + to === "ac" || from + to === "ca");
  // The way past b has to leave room for its card.
  for (const { height } of long) expect(height).toBeGreaterThan(MEMBER.height / 2);
  for (const { labelPosition } of middles)
    for (const spot of Object.values(spots))
      expect(
        Math.abs(labelPosition.x - spot.x) < MEMBER.width / 2 &&
          Math.abs(labelPosition.y - spot.y) < MEMBER.height / 2,
      ).toBe(false);
  for (const [at, one] of middles.entries())
    for (const other of middles.slice(at + 1))
      expect(
        Math.abs(one.labelPosition.x - other.labelPosition.x) < 60 &&
          Math.abs(one.labelPosition.y - other.labelPosition.y) < 20,
      ).toBe(false);
});

type Box = { what: string; x: number; y: number; width: number; height: number };

/** Everything that a crew shows on the canvas, except its lines. */
function drawnBoxes(
  crew: Pick<CrewRun, "members" | "manager" | "exchanges">,
  { spots, size }: CrewLayout,
): Box[] {
  const cards = Object.entries(spots).flatMap(([id, { x, y }]): Box[] => {
    const { width, height, badge = 0 } = sizeOf(id);
    const top = y - height / 2;
    return [
      { what: id, x, y, width, height },
      ...(badge > 0
        ? [{ what: `badge of ${id}`, x, y: top - badge / 2, width: width - 20, height: badge }]
        : []),
    ];
  });
  const lines = routeLines(linesOf(crew), spots, sizeOf, size).flatMap(
    ({ key, labelPosition, size: own, head }): Box[] => [
      { what: `label of ${key}`, ...labelPosition, ...own },
      { what: `arrowhead of ${key}`, ...head },
    ],
  );
  return [...cards, ...lines];
}

/** All overlaps: labels on anything, arrowheads on cards and badges. */
const covered = (boxes: readonly Box[]) =>
  boxes.flatMap((a, at) =>
    boxes.slice(at + 1).flatMap((b) => {
      const isLabel = a.what.startsWith("label") || b.what.startsWith("label");
      const isHead = a.what.startsWith("arrowhead") !== b.what.startsWith("arrowhead");
      const isTouching =
        Math.abs(a.x - b.x) < (a.width + b.width) / 2 && Math.abs(a.y - b.y) < (a.height + b.height) / 2;
      return (isLabel || isHead) && isTouching ? [`${a.what} on ${b.what}`] : [];
    }),
  );

const SIZES = [2, 3, 4, 5, 6, 7, 8, 9];

test.each(PROCESSES)("labels in a %s crew overlap no card, badge, arrowhead or other label", (process) => {
  for (const count of SIZES)
    for (const busy of [false, true]) {
      const { crew, layout } = talking(process, count, busy);
      expect({ count, busy, covered: covered(drawnBoxes(crew, layout)) }).toEqual({
        count,
        busy,
        covered: [],
      });
    }
});

test.each(PROCESSES)("each edge of a %s crew has a label and its own route around the cards", (process) => {
  for (const count of SIZES) {
    const { crew, layout } = talking(process, count);
    const lines = routeLines(linesOf(crew), layout.spots, sizeOf, layout.size);
    expect({ count, dots: lines.filter(({ isCrowded }) => isCrowded).map(({ key }) => key) }).toEqual({
      count,
      dots: [],
    });
    const passed = lines.flatMap(({ key, from, to, at }) =>
      Object.entries(layout.spots).flatMap(([id, spot]) =>
        id !== from &&
        id !== to &&
        Array.from({ length: 39 }, (_, share) => at((share + 1) / 40)).some(
          ({ x, y }) =>
            Math.abs(x - spot.x) < sizeOf(id).width / 2 && Math.abs(y - spot.y) < sizeOf(id).height / 2,
        )
          ? [`${key} behind ${id}`]
          : [],
      ),
    );
    expect({ count, passed }).toEqual({ count, passed: [] });
    const middles = lines.map(({ at }) => at(0.5));
    const same = middles.filter((one, at) =>
      middles.some((other, place) => place > at && Math.hypot(one.x - other.x, one.y - other.y) < 6),
    );
    expect({ count, same }).toEqual({ count, same: [] });
  }
});

test("members are identified by id, by role or as the manager", () => {
  const { crew } = scene("hierarchical");
  expect(
    ["writer", "Data analyst", "manager", "user", "nobody"].map((name) => memberNamed(crew, name)),
  ).toEqual(["writer", "analyst", "lead", REQUESTER, null]);
});

test("edges in opposite directions are distinct and end at card borders", () => {
  const a = { x: 100, y: 100, ...MEMBER };
  const b = { x: 500, y: 100, ...MEMBER };
  const there = bow(a, b);
  const back = bow(b, a);
  expect(there.at(0.5).y).toBeGreaterThan(100);
  expect(back.at(0.5).y).toBeLessThan(100);
  expect(there.path).not.toBe(back.path);
  const [startX = 0] = there.path.slice(2).split(" ").map(Number);
  expect(startX).toBeGreaterThan(a.x + MEMBER.width / 2);
});

test("a member's state shows its current activity", () => {
  expect(memberActivity(scene("swarm"), "sales").state).toBe("idle");
  expect(memberActivity(scene("swarm"), "billing").state).toBe("thinking");
  expect(memberActivity(scene("swarm"), "technician").state).toBe("passed");
  expect(memberActivity(scene("parallel"), "frontend")).toMatchObject({
    state: "tool",
    text: "Using file_write",
  });
  expect(memberActivity(scene("asking"), "researcher")).toMatchObject({ state: "waiting", tainted: true });
  expect(memberActivity(scene("consensus"), "security").state).toBe("failed");
  expect(memberActivity(scene("hierarchical"), "writer").state).toBe("done");
});

test("each member shows its task and last message as of the selected moment", () => {
  const lines = (one: CrewScene) =>
    one.crew.members.map(({ agent_id }) => [agent_id, taskOf(one, agent_id), lastMessage(one, agent_id)]);
  const early = sceneAfter(
    "hierarchical",
    ({ type, task_id }) => type === "agent_started" && task_id === "research",
  );
  expect(lines(early)).toEqual([
    [
      "lead",
      "Write a short report on heat pumps in old houses.",
      "Please find three studies with measured values, not vendor brochures.",
    ],
    ["researcher", "Find three studies on heat pumps in old houses", ""],
    ["analyst", "", ""],
    ["writer", "", ""],
  ]);
});

test("a member's message takes precedence over the values it was sent with", () => {
  const { crew, calls } = scene("consensus");
  const voter = crew.exchanges.findLast(({ kind }) => kind === "vote");
  if (voter?.kind !== "vote") throw new Error("There is no vote.");
  expect(lastMessage({ crew, calls }, voter.vote.agent_id)).toBe("No valid vote.");
});

test("no member works or waits after the run is cancelled", () => {
  const log = stories.asking;
  const { seq, ts } = log.at(-1)!;
  const cancelled = foldRun("asking", [
    ...log,
    {
      type: "node_cancelled",
      node_id: CREW_ACTIVATION.split("#")[0]!,
      activation_id: CREW_ACTIVATION,
      payload: { reason: "" },
      seq: seq + 1,
      ts,
    },
  ]);
  const over = sceneOf(cancelled);
  expect(over.asks.map(({ status }) => status)).toEqual(["withdrawn"]);
  expect(memberActivity(over, "researcher")).toMatchObject({ state: "stopped", text: "Stopped" });
  expect(memberActivity(over, "writer").state).toBe("done");
});

test("crew state in the past reflects the selected moment", () => {
  const early = sceneAfter(
    "hierarchical",
    ({ type, task_id }) => type === "agent_started" && task_id === "research",
  );
  expect(memberActivity(early, "researcher").state).toBe("working");
  expect(memberActivity(early, "writer").state).toBe("idle");
  expect(linesOf(early.crew).map(({ key }) => key)).toEqual(["lead→researcher"]);
});

test("tokens and costs are totaled by agent, role and model, and an unknown price is not zero", () => {
  const { calls } = scene("hierarchical");
  const by = (what: "agent" | "role" | "model") => costsBy(calls, what);
  expect(by("agent").map(({ name }) => name)).toContain("researcher");
  for (const what of ["agent", "role", "model"] as const) {
    const rows = by(what);
    expect(rows.reduce((sum, row) => sum + row.calls, 0)).toBe(calls.length);
    expect(rows.reduce((sum, row) => sum + row.unknown_cost_calls, 0)).toBe(1);
  }
  expect(by("model").find(({ name }) => name === "scripted-free")).toMatchObject({
    cost_usd: 0,
    unknown_cost_calls: 1,
  });
});

test("agents are listed below the agent that delegated to them", () => {
  expect(byDelegation(scene("delegation").agents).map(({ key }) => key)).toEqual([
    keyOf("lead"),
    keyOf("developer"),
    keyOf("tester"),
  ]);
  // Whose parent is not there stands at the top.
  expect(byDelegation(scene("delegation").agents.slice(1)).map(({ key }) => key)).toEqual([
    keyOf("developer"),
    keyOf("tester"),
  ]);
});
