import { listOf } from "@/server/domain/base/guards";
import { isRaw, type Raw } from "@/server/domain/base/lenient-reader";
import type { Drawing } from "../../drawing";
import { textOf } from "../../values";
import { type Component, numberOf, type Termination, terminationOf } from "./model";
import type { Participant, ParticipantRegistry } from "./participants";

/** A team with those who take part in it. */
interface Team {
  component: Component;
  members: Participant[];
  participants: ParticipantRegistry;
  drawing: Drawing;
}

const MOST_ROUNDS = 10;
/** What people are called whom agents of a swarm hand off to. */
const PERSON = /^(user|human)(_?proxy)?$/i;
const ESCALATE = "escalate_to_human";
const TASK = "task";

/** Draws a team as it works: a round through its members, a graph of them, or a crew. */
export function drawTeam(team: Team): void {
  const { component, drawing, members } = team;
  const termination = terminationOf(component.config.termination_condition, component.report);
  const turns = numberOf(component.config.max_turns);
  const start = drawing.start([
    { key: drawing.keyFor(TASK), title: "Task", description: "What the team should do." },
  ]);
  const [only] = members;
  if (component.kind === "GraphFlow") drawGraph(team, start, termination);
  else if (only && members.length === 1)
    drawing.edge(step(team, only, start), drawing.end([keyOf(team, only)]));
  else if (component.kind === "RoundRobinGroupChat") drawRound(team, start, termination, turns);
  else drawCrew(team, start, termination, turns);
  for (const [name, code] of team.participants.code) drawing.note(code, `Original tool "${name}"`);
}

const keyOf = ({ drawing }: Team, { name }: Participant): string => drawing.keyFor(`said by ${name}`);

/** One member's turn: it is given the task and what the others said last. */
function step(team: Team, member: Participant, from: string | null, more: Raw = {}): string {
  const { drawing, members } = team;
  const id = drawing.add(member.config.agent_id, {
    node_type: "agent_task",
    name: member.name,
    config: { required_role: member.role, task_description_template: `{{${drawing.keyFor(TASK)}}}` },
    optional_input_keys: members.length > 1 ? members.map((one) => keyOf(team, one)) : [],
    output_keys: [keyOf(team, member)],
    ...more,
  });
  if (from !== null) drawing.edge(from, id);
  return id;
}

const quoted = (text: string): string => JSON.stringify(text);

/** Whether one of a team's termination texts was mentioned, as an expression; empty if there are none. */
function mentionCondition(team: Team, termination: Termination): string {
  return termination.mentions
    .flatMap(({ text, by }) =>
      team.members
        .filter(({ name }) => by.length === 0 || by.includes(name))
        .map((member) => `state.${keyOf(team, member)}.contains(${quoted(text)})`),
    )
    .join(" || ");
}

/** Members take turns, round after round, until words or a number of messages end it. */
function drawRound(team: Team, start: string, termination: Termination, turns: number | null): void {
  const { drawing, members, component } = team;
  const { report } = component;
  const round = drawing.keyFor("round");
  // The task is the first message; each turn is one more.
  const spoken = [termination.messages === null ? null : termination.messages - 1, turns].filter(
    (one) => one !== null,
  );
  const rounds =
    spoken.length > 0 ? Math.max(1, Math.ceil(Math.min(...spoken) / members.length)) : MOST_ROUNDS;
  let before = drawing.add("count_rounds", {
    node_type: "transform",
    name: "Next round",
    config: { set: { [round]: `state.${round} + 1` } },
    max_iterations: Math.min(1000, rounds + 1),
  });
  const first = before;
  drawing.edge(start, first);
  for (const member of members) before = step(team, member, before);
  const mention = mentionCondition(team, termination);
  const router = drawing.add("again", {
    node_type: "conditional_router",
    name: "Another round?",
    config: {
      kind: "expression",
      conditions: [
        {
          label: "again",
          when: mention ? `state.${round} < ${rounds} && !(${mention})` : `state.${round} < ${rounds}`,
        },
      ],
      default_label: "done",
    },
  });
  drawing.edge(before, router);
  drawing.edge(router, first, { label: "again" });
  drawing.edge(router, drawing.end(members.map((member) => keyOf(team, member))), {
    label: "done",
    isDefault: true,
  });
  report.keeps("", `The members take turns for at most ${rounds} ${rounds === 1 ? "round" : "rounds"}.`);
  if (mention)
    report.changed(
      "config.termination_condition",
      `The phrases that end the team (${termination.mentions.map(({ text }) => quoted(text)).join(", ")}) are checked at the end of each round, not after each message.`,
    );
  if (spoken.length === 0 && !mention)
    report.changed(
      "config.termination_condition",
      `The file doesn't say when the team ends, so it runs for at most ${MOST_ROUNDS} rounds.`,
    );
}

/** Teams with a selector or with handoffs: one step with a crew. */
function drawCrew(
  { component, drawing, members, participants }: Team,
  start: string,
  termination: Termination,
  turns: number | null,
): void {
  const { kind, config, report, label } = component;
  const isSwarm = kind === "Swarm";
  const most = termination.messages ?? turns;
  const known = new Map(members.map((member) => [member.name, member]));
  const agents = members.map(({ config: agent, handoffs, name }) => ({
    ...agent,
    ...(isSwarm
      ? {
          handoffs: handoffs.flatMap((target) => {
            const to = known.get(target);
            if (!to && PERSON.test(target)) {
              report.changed(
                "config.participants",
                `"${name}" hands off to "${target}"; here it asks a person with escalate_to_human and continues with the answer.`,
              );
              participants.roleRegistry.wants(agent.role_name, [ESCALATE], "config.participants", report);
            } else if (!to)
              report.dropped(
                "config.participants",
                `"${name}" hands off to "${target}", which is not an agent of this team.`,
              );
            return to ? [to.config.agent_id] : [];
          }),
        }
      : {}),
  }));
  const manager = isSwarm ? null : managerOf(component, participants);
  const [first] = agents;
  const id = drawing.add(label || "team", {
    node_type: "crew_task",
    name: label || kind,
    input_keys: [drawing.keyFor(TASK)],
    output_keys: [drawing.keyFor("result")],
    config: {
      plan_description_template: `{{${drawing.keyFor(TASK)}}}`,
      crew: {
        crew_id: "team",
        process: isSwarm ? "swarm" : "hierarchical",
        agents: [...(manager ? [manager] : []), ...agents],
        ...(isSwarm ? { entry_agent: first?.agent_id, ...(most ? { max_handoffs: most } : {}) } : {}),
        ...(manager
          ? { manager: { agent_id: manager.agent_id }, ...(most ? { max_rounds: most } : {}) }
          : {}),
        ...(numberOf(config.max_stalls) && kind === "MagenticOneGroupChat"
          ? { max_stalls: numberOf(config.max_stalls) }
          : {}),
      },
    },
  });
  drawing.edge(start, id);
  drawing.edge(id, drawing.end([drawing.keyFor("result")]));
  if (!isSwarm && kind !== "SelectorGroupChat" && kind !== "MagenticOneGroupChat")
    report.changed("", `Unknown team type ${kind}; imported as a crew led by a manager.`);
  if (termination.mentions.length > 0)
    report.changed(
      "config.termination_condition",
      `The team ended when a message contained ${termination.mentions.map(({ text }) => quoted(text)).join(", ")}; here ${isSwarm ? "the agent that answers without a handoff" : "its manager"} ends it.`,
    );
  if (most)
    report.keeps("config.termination_condition", `At most ${most} ${isSwarm ? "handoffs" : "rounds"}.`);
}

/** The agent that chooses the next speaker: in AutoGen a prompt, here a separate agent. */
function managerOf({ kind, config, report, label }: Component, participants: ParticipantRegistry) {
  const isSelector = kind === "SelectorGroupChat";
  const [manager] = participants.add(
    {
      provider: "autogen_agentchat.agents.AssistantAgent",
      config: {
        name: isSelector ? "Selector" : "Orchestrator",
        description: `Leads ${label ? `"${label}"` : "the team"}: chooses who does the next step, checks what came of it, and answers when the task is done.`,
      },
    },
    report,
  );
  if (isSelector && textOf(config.selector_prompt))
    report.changed(
      "config.selector_prompt",
      `A prompt selected the next speaker; here the agent "${manager?.role ?? "Selector"}" leads the team, and the prompt is kept in a note.`,
    );
  if (textOf(config.selector_func) || isRaw(config.selector_func))
    report.dropped(
      "config.selector_func",
      "A function selected the next speaker; it is code and was left out.",
    );
  return manager?.config ?? null;
}

/** A directed graph of members: conditions are words that the last message holds. */
function drawGraph(team: Team, start: string, termination: Termination): void {
  const { drawing, members, component } = team;
  const { config, report } = component;
  const graph = isRaw(config.graph) ? config.graph : {};
  const nodes: Raw = isRaw(graph.nodes) ? graph.nodes : {};
  const ids = new Map(
    members.map((member) => {
      const node = nodes[member.name];
      const isAny = isRaw(node) && node.activation === "any";
      return [member.name, step(team, member, null, isAny ? { join: "any" } : {})];
    }),
  );
  const byName = new Map(members.map((member) => [member.name, member]));
  const end = drawing.end(members.map((member) => keyOf(team, member)));
  drawing.change(end, { input_keys: [], optional_input_keys: members.map((member) => keyOf(team, member)) });
  const targetOf = (edge: Raw) => ids.get(textOf(edge.target)) ?? end;
  const entered = new Set<string>();
  for (const [name, node] of Object.entries(nodes)) {
    const id = ids.get(name);
    const member = byName.get(name);
    if (id === undefined || !member) {
      report.dropped(
        `config.graph.nodes.${name}`,
        `"${name}" is not an agent of this team; it was left out with its edges.`,
      );
      continue;
    }
    const edges = listOf(isRaw(node) ? node.edges : undefined)
      .filter(isRaw)
      .filter(({ target }) => ids.has(textOf(target)));
    for (const edge of edges) entered.add(textOf(edge.target));
    if (edges.some((edge) => edge.condition_function))
      report.dropped(
        `config.graph.nodes.${name}`,
        `A function decides where to continue after "${name}"; it is code and was left out.`,
      );
    const conditional = edges.filter(
      ({ condition }) => condition !== undefined && condition !== null && condition !== "",
    );
    const plain = edges.filter((edge) => !conditional.includes(edge)).map(targetOf);
    if (conditional.length > 0) {
      const conditions = conditional.map((edge) => conditionOf(edge, keyOf(team, member), targetOf(edge)));
      drawRouter(team, { name, id }, conditions, plain.length > 0 ? plain : [end]);
    } else for (const target of plain.length > 0 ? plain : [end]) drawing.edge(id, target);
  }
  const first = textOf(graph.default_start_node);
  const begins = ids.has(first) ? [first] : [...ids.keys()].filter((name) => !entered.has(name));
  for (const name of begins.length > 0 ? begins : [...ids.keys()].slice(0, 1))
    drawing.edge(start, ids.get(name) ?? end);
  if (termination.messages !== null || termination.mentions.length > 0)
    report.dropped(
      "config.termination_condition",
      "Termination conditions outside the graph were left out; here, the graph ends the team.",
    );
}

interface Condition {
  label: string;
  /** Empty if it is code. */
  when: string;
  target: string;
}

const conditionOf = ({ condition, target: name }: Raw, key: string, target: string): Condition => ({
  label: (typeof condition === "string" ? condition : textOf(name)).slice(0, 200),
  when: typeof condition === "string" ? `state.${key}.contains(${quoted(condition)})` : "",
  target,
});

/** A router after a member. The first of the `plain` targets is its default; the others follow in any case. */
function drawRouter(
  { drawing, component: { report } }: Team,
  { name, id }: { name: string; id: string },
  conditions: readonly Condition[],
  [otherwise = "", ...more]: readonly string[],
): void {
  const router = drawing.add(`after_${name}`, {
    node_type: "conditional_router",
    name: `After ${name}`,
    max_iterations: MOST_ROUNDS,
    config: {
      kind: "expression",
      mode: "all",
      conditions: conditions.map(({ label, when }) => ({ label, when })),
      default_label: "otherwise",
    },
  });
  drawing.edge(id, router);
  for (const { label, target } of conditions) drawing.edge(router, target, { label });
  drawing.edge(router, otherwise, { label: "otherwise", isDefault: true });
  for (const target of more) drawing.edge(id, target);
  const place = `config.graph.nodes.${name}`;
  if (conditions.some(({ when }) => when === ""))
    report.placeholder(
      place,
      `A condition after "${name}" is code. Write it in the router; the workflow can't run until then.`,
      router,
    );
  else report.keeps(place, `The message from "${name}" determines the next step.`, router);
}
