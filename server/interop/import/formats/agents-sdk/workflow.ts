import type { Findings, Raw } from "@/server/domain/base/lenient-reader";
import { asTemplate } from "@/server/domain/text/template";
import { calledName, entryOf, given, isCallOf, pathOf, positional, textOf } from "../../code/literals";
import { type CallExpr, type Expr, type Place, type Statement, sourceOf } from "../../code/program";
import { itemsOf, visitExpressions } from "../../code/walk";
import type { Drawing } from "../../drawing";
import type { Declarations, DeclaredAgent } from "./declarations";
import type { Member, Members } from "./members";
import { propertiesOf } from "./schemas";

const RUNS = new Set(["run", "run_sync", "runSync", "run_streamed", "runStreamed"]);
const MESSAGE = "message";

/** A call that runs an agent. */
interface AgentRun {
  call: CallExpr;
  /** Null where the code decides which agent runs. */
  agent: DeclaredAgent | null;
  /** Whether a condition or a list decides how often it runs. */
  isConditional: boolean;
}

/** A function, method or top-level statement that runs agents. */
interface ProgramPart extends Place {
  name: string | null;
  runs: AgentRun[];
  /** Whether it is nothing but one statement that runs an agent. */
  isBareRun: boolean;
}

interface Context {
  declarations: Declarations;
  members: Members;
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
  const { declarations, members, drawing, findings } = context;
  const parts = partsOf(declarations.program.body, context);
  for (const agent of declarations.agents.values()) members.member(agent);
  // Tools and guardrails may run agents, too; findings about the agents that have them name them already.
  const running = parts
    .map((part) => ({ ...part, runs: part.runs.filter(({ call }) => !members.isOwnCode(call)) }))
    .filter(({ runs }) => runs.length > 0);
  const [run, ...moreRuns] = running.flatMap(({ runs }) => runs);
  if (run?.agent && !run.isConditional && moreRuns.length === 0) {
    const [part] = running;
    const { title } = members.member(run.agent);
    if (part && !part.isBareRun)
      findings(part).dropped(
        "",
        `${partName(part)} runs "${title}". Only this step was imported; draw whatever else the program does by hand.`,
      );
    const input = given(run.call, "input") ?? positional(run.call, 1);
    drawOnly(members.member(run.agent), declarations.textOf(input), context);
  } else if (run) drawPlaceholder(running, context);
  else {
    const [only] = rootsOf(context).filter(
      (agent) => isCrew(members.member(agent)) || declarations.agents.size === 1,
    );
    if (only) {
      const member = members.member(only);
      findings(only.call).info(
        "",
        `Nothing in the code runs an agent; the workflow gives a message to "${member.title}".`,
      );
      drawOnly(member, null, context);
    }
  }
  addCode(members, drawing);
  return { title: titleOf(context), isEmpty: drawing.ids().length === 0 };
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

/** An empty step for the program, and beside it the agents with which somebody can draw what it did. */
function drawPlaceholder(parts: readonly ProgramPart[], context: Context): void {
  const { declarations, members, drawing, findings } = context;
  const [first, ...others] = parts;
  if (!first) return;
  const start = drawing.start([{ key: MESSAGE, title: "Message" }]);
  const placeholder = drawing.placeholder("program", {
    name: "The program",
    original: parts.map((part) => sourceOf(declarations.program, part, 3500)).join("\n\n"),
    why: `${partName(first)} decides which agents run and when. It was not imported; draw it by hand with the steps of its agents, which are not connected yet.`,
    at: "",
    findings: findings(first),
    node: { input_keys: [MESSAGE] },
  });
  for (const part of others)
    findings(part).dropped("", `${partName(part)} runs agents, too. It was not imported; draw it by hand.`);
  drawing.edge(start, placeholder);
  drawing.edge(placeholder, drawing.end());
  const runs = parts.flatMap((part) => part.runs.map(({ agent }) => agent));
  const agents = runs.every((agent) => agent !== null) ? runs : rootsOf(context);
  for (const agent of new Set(agents)) drawStep(members.member(agent), null, context);
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
    ...(member.llm ? { llm_config: member.llm } : {}),
    ...(schema ? { output_schema: schema } : {}),
  };
  return {
    id: drawing.add(id, { ...common, node_type: "agent_task", output_keys: outputs, config }),
    outputs,
  };
}

/** The shape of an answer, with a state key for each of its properties. */
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

const isCrew = ({ hands, delegates }: Member): boolean => hands.length > 0 || delegates.length > 0;

/** Handoffs make a crew whose members hand over; agents as tools make one that is led. */
function crewOf(member: Member, { members, findings }: Context): Raw {
  const here = findings(member.agent.call);
  const handsOver = member.hands.length > 0;
  const reached = members.reach(member.agent, handsOver ? "hands" : "delegates");
  const asked = handsOver ? reached.flatMap((agent) => members.member(agent).delegates) : [];
  const all = [...new Set([...reached, ...asked])].map((agent) => members.member(agent));
  const idOf = (one: Member) => one.config.agent_id;
  here.keeps(
    "",
    handsOver
      ? `${member.title} hands over to others: they became a crew that hands over, with ${all.length} agents.`
      : `${member.title} lets others do parts as its tools: they became a crew that it leads, with ${all.length} agents.`,
  );
  for (const one of all)
    if (one.schema)
      here.changed(
        "",
        `${one.title} answers in words here, as agents of a crew do; the code gives its answer a shape.`,
      );
  return {
    crew_id: idOf(member),
    process: handsOver ? "swarm" : "hierarchical",
    ...(handsOver
      ? { entry_agent: idOf(member), max_handoffs: 12 }
      : { manager: { agent_id: idOf(member) } }),
    agents: all.map((one) => ({
      ...one.config,
      ...(handsOver ? { handoffs: one.hands.map((agent) => idOf(members.member(agent))) } : {}),
    })),
  };
}

/** Agents that no other hands over to or asks; of those in a circle the first. */
function rootsOf({ declarations, members }: Context): DeclaredAgent[] {
  const reached = new Set<DeclaredAgent>();
  const roots: DeclaredAgent[] = [];
  const agents = [...declarations.agents.values()];
  const add = (agent: DeclaredAgent): void => {
    roots.push(agent);
    for (const by of ["hands", "delegates"] as const)
      for (const other of members.reach(agent, by)) reached.add(other);
  };
  const named = new Set(
    agents.flatMap((agent) => [...members.member(agent).hands, ...members.member(agent).delegates]),
  );
  for (const agent of agents) if (!named.has(agent)) add(agent);
  for (const agent of agents) if (!reached.has(agent)) add(agent);
  return roots;
}

/** The parts of a program that run agents, those outside of functions together as one. */
function partsOf(statements: readonly Statement[], { declarations }: Context): ProgramPart[] {
  const parts: ProgramPart[] = [];
  const runsIn = (body: readonly Statement[]): AgentRun[] => {
    const runs: AgentRun[] = [];
    visitExpressions(body, (expr, isConditional) => {
      const run = runOf(expr, declarations);
      if (run) runs.push({ ...run, isConditional });
    });
    return runs;
  };
  const add = (name: string | null, statement: Statement): void => {
    const runs = runsIn([statement]);
    if (runs.length === 0) return;
    const { from, to } = statement;
    const isBareRun = name === null && (statement.is === "do" || statement.is === "assign");
    const outside = name === null ? parts.find((part) => part.name === null) : undefined;
    if (outside) {
      outside.to = to;
      outside.runs.push(...runs);
    } else parts.push({ name, from, to, runs, isBareRun });
  };
  for (const statement of statements)
    if (statement.is === "function") add(statement.name, statement);
    else if (statement.is === "class")
      for (const member of statement.body)
        add(`${statement.name}.${member.is === "function" ? member.name : "body"}`, member);
    else if (statement.is === "assign" && statement.target.is === "name" && statement.value.is === "function")
      add(statement.target.name, statement);
    else add(null, statement);
  return parts;
}

const partName = ({ name }: ProgramPart): string =>
  name === null ? "The code outside of functions" : `The code of "${name}"`;

function runOf(expr: Expr, declarations: Declarations): Pick<AgentRun, "call" | "agent"> | null {
  const called = calledName(expr);
  if (expr.is !== "call" || called === null || !RUNS.has(called)) return null;
  const first = positional(expr, 0) ?? given(expr, "starting_agent", "agent");
  if (!first) return null;
  const agent = declarations.agentOf(first);
  const path = pathOf(expr.callee);
  const isRunner =
    path?.length === 1 ? !declarations.routines.has(called) : /runner/i.test(path?.at(-2) ?? "");
  return agent || isRunner ? { call: expr, agent } : null;
}

/** The title of the first trace; guardrails that the program itself runs are told on the way. */
function titleOf({ declarations, findings }: Context): string | null {
  let title: string | null = null;
  visitExpressions(declarations.program.body, (expr) => {
    if (isCallOf(expr, "trace", "withTrace", "with_trace"))
      title ??= declarations.textOf(positional(expr, 0));
    const list = expr.is === "record" ? entryOf(expr, "guardrails") : null;
    const names = (list?.is === "list" ? itemsOf(list) : []).flatMap(
      (item) => (item.is === "record" && textOf(entryOf(item, "name"))) || [],
    );
    if (names.length > 0)
      findings(expr).dropped(
        "",
        `The program checks texts by guardrails of OpenAI's (${names.join(", ")}), which were left out. Add guardrails to the roles instead.`,
      );
  });
  return title;
}

/** The code of tools and guardrails, as text for people. */
function addCode({ code }: Members, drawing: Drawing): void {
  if (drawing.ids().length === 0) return;
  let note = "";
  for (const [name, text] of code) {
    const piece = `${name}:\n${text}`;
    if (note && note.length + piece.length > 7_000) {
      drawing.note(note, "Code of tools and checks");
      note = "";
    }
    note += `${note ? "\n\n" : ""}${piece}`;
  }
  if (note) drawing.note(note, "Code of tools and checks");
}
