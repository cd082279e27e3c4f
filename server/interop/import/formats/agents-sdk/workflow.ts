import { defined } from "@/server/domain/base/defined";
import type { Findings, Raw } from "@/server/domain/base/lenient-reader";
import { asTemplate } from "@/server/domain/text/template/template";
import { type CallSite, type Evaluator, NO_SCOPE } from "../../code/evaluator";
import { calledName, isCallOf, pathOf } from "../../code/literals";
import { type Place, sourceOf } from "../../code/program";
import { propertiesOf } from "../../code/schemas";
import type { Drawing } from "../../drawing";
import type { AgentRegistry, Member } from "./agent-registry";
import type { DeclaredAgent, DeclaredAgents } from "./agents";

const RUNS = new Set(["run", "run_sync", "runSync", "run_streamed", "runStreamed"]);
const MESSAGE = "message";

/** A call that runs an agent. */
interface AgentRun extends CallSite {
  /** Null where the code decides which agent runs. */
  agent: DeclaredAgent | null;
}

/** A function that runs agents, or the statements outside of functions that do. */
interface ProgramPart extends Place {
  /** Null outside of functions. */
  name: string | null;
  runs: AgentRun[];
}

interface Context {
  declared: DeclaredAgents;
  registry: AgentRegistry;
  drawing: Drawing;
  findings: (place: Place) => Findings;
}

/**
 * Draws the agents of a program as steps. What the program does with them is not imported: unless it only runs one agent
 * once, an empty step stands for it.
 *
 * @returns the title that the program gives itself, and whether nothing was drawn.
 */
export function drawWorkflow(context: Context): { title: string | null; isEmpty: boolean } {
  const { declared, registry, drawing, findings } = context;
  const { evaluator } = declared;
  const members = registry.all();
  const parts = partsOf(context);
  const [run, ...moreRuns] = parts.flatMap(({ runs }) => runs);
  if (run?.agent && moreRuns.length === 0 && !run.control.some((one) => one !== "while")) {
    const [part] = parts;
    const member = registry.member(run.agent);
    const call = { expr: run.call, scope: NO_SCOPE };
    const input = evaluator.argument(call, "input") ?? evaluator.positional(call, 1);
    const task = input && evaluator.text(input);
    const isAll = run.control.length === 0 && task !== null && run.call.args.length === 2;
    if (part && (part.name !== null || !isAll))
      findings(part).dropped(
        "",
        `${partName(part)} runs "${member.title}". Only this step was imported; add the rest of the program by hand.`,
      );
    drawOnly(member, task, context);
  } else if (run) drawPlaceholder(parts, context);
  else {
    const only = rootsOf(members, context).find((member) => isCrew(member) || members.length === 1);
    if (only) {
      findings(only.agent.place).info(
        "",
        `Nothing in the code runs an agent; the workflow sends a message to "${only.title}".`,
      );
      drawOnly(only, null, context);
    }
  }
  dropProgramGuardrails(context);
  addCode(registry, drawing);
  return { title: titleOf(evaluator), isEmpty: drawing.ids().length === 0 };
}

/** One step, between start and end. `task`: null for the message that the workflow is given. */
function drawOnly(member: Member, task: string | null, context: Context): void {
  const { drawing } = context;
  const step = drawStep(member, task, context);
  const end = drawing.end(step.outputs);
  const start = drawing.start(task === null ? [{ key: MESSAGE, title: "Message" }] : []);
  drawing.edge(start, step.id);
  drawing.edge(step.id, end);
}

/** A placeholder for the program, plus the agents with which a person can rebuild it. */
function drawPlaceholder(parts: readonly ProgramPart[], context: Context): void {
  const { declared, registry, drawing, findings } = context;
  const [first, ...others] = parts;
  if (!first) return;
  const start = drawing.start([{ key: MESSAGE, title: "Message" }]);
  const placeholder = drawing.placeholder("program", {
    name: "The program",
    original: parts.map((part) => sourceOf(declared.evaluator.program, part, 3500)).join("\n\n"),
    why: `${partName(first)} decides which agents run and when. It was not imported: connect the agents' steps by hand.`,
    at: "",
    findings: findings(first),
    node: { input_keys: [MESSAGE] },
  });
  for (const part of others)
    findings(part).dropped("", `${partName(part)} also runs agents. It was not imported; add it by hand.`);
  drawing.edge(start, placeholder);
  drawing.edge(placeholder, drawing.end());
  const runs = parts.flatMap((part) => part.runs.map(({ agent }) => agent));
  const members = runs.every((agent) => agent !== null)
    ? runs.map((agent) => registry.member(agent))
    : rootsOf(registry.all(), context);
  for (const member of new Set(members)) drawStep(member, null, context);
}

/** The step of an agent: a crew where it hands over to others or asks them. */
function drawStep(member: Member, task: string | null, context: Context): { id: string; outputs: string[] } {
  const { drawing } = context;
  const template = task === null ? `{{${MESSAGE}}}` : asTemplate(task);
  const common = { name: member.title, input_keys: task === null ? [MESSAGE] : [] };
  const id = member.config.agent_id;
  if (isCrew(member)) {
    const outputs = [drawing.keyFor("answer", id)];
    const config = { plan_description_template: template, crew: crewOf(member, context) };
    return {
      id: drawing.add(id, { ...common, node_type: "crew_task", output_keys: outputs, config }),
      outputs,
    };
  }
  const schema = outputSchema(member, (name) => drawing.keyFor(name, id));
  const outputs = schema ? Object.keys(schema.properties) : [drawing.keyFor("answer", id)];
  const config = {
    required_role: member.config.role_name,
    task_description_template: template,
    ...defined({ llm_config: member.llm, output_schema: schema }),
  };
  return {
    id: drawing.add(id, { ...common, node_type: "agent_task", output_keys: outputs, config }),
    outputs,
  };
}

/** The schema of an answer, with a state key for each of its properties. */
function outputSchema({ schema }: Member, keyFor: (name: string) => string) {
  if (!schema) return null;
  const properties = propertiesOf(schema);
  if (!properties) {
    const key = keyFor("answer");
    return { type: "object", properties: { [key]: schema }, required: [key] };
  }
  const required = Array.isArray(schema.required) ? new Set<unknown>(schema.required) : null;
  return {
    type: "object",
    properties: Object.fromEntries(properties.map(([name, part]) => [keyFor(name), part])),
    required: properties.flatMap(([name]) => (!required || required.has(name) ? [keyFor(name)] : [])),
  };
}

const isCrew = ({ handoffs, delegates }: Member): boolean => handoffs.length > 0 || delegates.length > 0;

/** Handoffs make a crew whose members hand over; agents as tools make one that is led. */
function crewOf(member: Member, { registry, findings }: Context): Raw {
  const report = findings(member.agent.place);
  const handsOver = member.handoffs.length > 0;
  const reached = registry.reach(member.agent, handsOver ? "handoffs" : "delegates");
  const asked = handsOver ? reached.flatMap((agent) => registry.member(agent).delegates) : [];
  const all = [...new Set([...reached, ...asked])].map((agent) => registry.member(agent));
  const idOf = (one: Member) => one.config.agent_id;
  report.keeps(
    "",
    handsOver
      ? `${member.title} hands off to others: imported as a swarm of ${all.length} agents.`
      : `${member.title} uses others as tools: imported as a crew of ${all.length} agents that it leads.`,
  );
  for (const one of all)
    if (one.schema)
      report.changed(
        "",
        `${one.title} has an output schema in the code; crew members return text, so it was left out.`,
      );
  return {
    crew_id: idOf(member),
    process: handsOver ? "swarm" : "hierarchical",
    ...(handsOver
      ? { entry_agent: idOf(member), max_handoffs: 12 }
      : { manager: { agent_id: idOf(member) } }),
    agents: all.map((one) => ({
      ...one.config,
      ...defined({
        handoffs: handsOver ? one.handoffs.map((agent) => idOf(registry.member(agent))) : undefined,
      }),
    })),
  };
}

/** Agents that no other hands over to or asks; of those in a circle the first. */
function rootsOf(members: readonly Member[], { registry }: Context): Member[] {
  const next = ({ handoffs, delegates }: Member) => [...handoffs, ...delegates];
  const named = new Set(members.flatMap(next));
  const roots = members.filter(({ agent }) => !named.has(agent));
  const reached = new Set(roots.map(({ agent }) => agent));
  const follow = (): void => {
    for (const agent of reached) for (const one of next(registry.member(agent))) reached.add(one);
  };
  follow();
  for (const member of members)
    if (!reached.has(member.agent)) {
      roots.push(member);
      reached.add(member.agent);
      follow();
    }
  return roots;
}

/**
 * The parts of a program that run agents, those outside of functions together as one. Tools and guardrails may run agents,
 * too; findings about the agents that have them name them already.
 */
function partsOf({ declared, registry }: Context): ProgramPart[] {
  const parts = new Map<CallSite["within"], ProgramPart>();
  for (const site of declared.evaluator.calls) {
    const { call, within } = site;
    const agent = runsAgent(site, declared);
    if (agent === undefined || registry.isOwnCode(call)) continue;
    const { from, to } = within ?? call;
    const part = parts.get(within) ?? { name: within?.name ?? null, from, to, runs: [] };
    part.to = Math.max(part.to, to);
    part.runs.push({ ...site, agent });
    parts.set(within, part);
  }
  return [...parts.values()];
}

const partName = ({ name }: ProgramPart): string =>
  name === null ? "The code outside functions" : `The code of "${name}"`;

/** The agent that a call runs; null where code decides which one; undefined for any other call. */
function runsAgent({ call }: CallSite, declared: DeclaredAgents): DeclaredAgent | null | undefined {
  const { evaluator } = declared;
  const called = calledName(call);
  if (called === null || !RUNS.has(called)) return undefined;
  const bound = { expr: call, scope: NO_SCOPE };
  const first = evaluator.positional(bound) ?? evaluator.argument(bound, "starting_agent", "agent");
  const agent = declared.agentOf(first);
  const path = pathOf(call.callee);
  const isRunner = path?.length === 1 ? !evaluator.functions.has(called) : /runner/i.test(path?.at(-2) ?? "");
  return agent ?? (first && isRunner ? null : undefined);
}

function titleOf(evaluator: Evaluator): string | null {
  for (const { call } of evaluator.calls) {
    const first = evaluator.positional({ expr: call, scope: NO_SCOPE });
    if (first && isCallOf(call, "trace", "withTrace", "with_trace")) return evaluator.text(first);
  }
  return null;
}

/** Names the guardrails that the program itself runs, as code of Agent Builder does. */
function dropProgramGuardrails({ declared: { evaluator }, findings }: Context): void {
  for (const expr of new Set(evaluator.values.values())) {
    const list = evaluator.entry({ expr, scope: NO_SCOPE }, "guardrails");
    const names = ((list && evaluator.items(list)) ?? []).flatMap((item) => {
      const name = evaluator.entry(item, "name");
      return (name && evaluator.text(name)) ?? [];
    });
    if (names.length > 0)
      findings(expr).dropped(
        "",
        `The program uses OpenAI guardrails (${names.join(", ")}), which were left out. Add guardrails to the roles instead.`,
      );
  }
}

/** The code of tools and guardrails, as text for people. */
function addCode({ code }: AgentRegistry, drawing: Drawing): void {
  if (drawing.ids().length === 0) return;
  let note = "";
  for (const [name, text] of code) {
    const piece = `${name}:\n${text}`;
    if (note && note.length + piece.length > 7_000) {
      drawing.note(note, "Tool and guardrail code");
      note = "";
    }
    note += `${note ? "\n\n" : ""}${piece}`;
  }
  if (note) drawing.note(note, "Tool and guardrail code");
}
