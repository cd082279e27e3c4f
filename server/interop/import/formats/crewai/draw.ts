import { defined } from "@/server/domain/base/defined";
import type { Findings, Raw } from "@/server/domain/base/lenient-reader";
import { Drawing } from "../../drawing";
import type { Choice, Imported } from "../../format";
import { RoleRegistry } from "../../role-registry";
import {
  contextOf,
  crewSettings,
  guardrailsOf,
  humanize,
  type ImportedAgent,
  importAgent,
} from "./crew-config";
import type { CrewModel, TaskModel } from "./model";
import { toTemplate, variablesIn } from "./template";

const SHAPE = "shape";
const UNASSIGNED = "unassigned";
const perTask = (key: string) => `agent:${key}`;
/** With more choices than this, answering one by one is impractical. */
const MOST_ASKED = 30;

/** A crew as a workflow: a chain of steps, or one step in which the crew works. */
export function drawCrew(
  model: CrewModel,
  { findings, answers }: { findings: Findings; answers: ReadonlyMap<string, string> },
): Imported {
  const roleRegistry = new RoleRegistry();
  const agents = new Map([...model.agents].map(([key, agent]) => [key, importAgent(agent, roleRegistry)]));
  const choices = choicesOf(model);
  const choiceOf = (id: string) => {
    const choice = choices.find((one) => one.id === id);
    const answer = answers.get(id);
    return choice?.options.some(({ value }) => value === answer) ? answer : choice?.value;
  };
  for (const choice of choices) choice.value = choiceOf(choice.id) ?? choice.value;
  const assigneeOf = (task: TaskModel): string | null =>
    task.agent ?? assigned(model, task, { all: choiceOf(UNASSIGNED), own: choiceOf(perTask(task.key)) });
  const drawing = new Drawing(model.name, findings);
  const shape = model.process === "hierarchical" ? "crew" : choiceOf(SHAPE);
  if (shape === "crew") drawStep(model, { drawing, agents, assigneeOf, roleRegistry, findings });
  else new Chain(model, { drawing, agents, assigneeOf, roleRegistry, findings }).draw();
  reportIdleAgents(model, assigneeOf);
  for (const [name, text] of model.code) drawing.note(text, name);
  return {
    ...roleRegistry.imported(model.name),
    graph: drawing.finish(),
    choices,
  };
}

interface DrawContext {
  drawing: Drawing;
  agents: ReadonlyMap<string, ImportedAgent>;
  assigneeOf: (task: TaskModel) => string | null;
  roleRegistry: RoleRegistry;
  findings: Findings;
}

/** What the file leaves open: the workflow's structure, and who does the tasks that name no agent. */
function choicesOf({ process, tasks, agents }: CrewModel): Choice[] {
  const choices: Choice[] = [];
  if (process === "sequential" && tasks.length > 0)
    choices.push({
      id: SHAPE,
      question: "How should the crew be imported?",
      options: [
        { value: "chain", label: "As steps, one per task" },
        { value: "crew", label: "As one crew step" },
      ],
      value: tasks.some(({ human_input }) => human_input) ? "crew" : "chain",
    });
  const open = tasks.filter(({ agent }) => agent === null);
  if (open.length === 0 || agents.size === 0) return choices;
  const people = [...agents.values()].map(({ key, role }) => ({
    value: `agent:${key}`,
    label: role.replace(/\s+/g, " ").slice(0, 80),
  }));
  choices.push({
    id: UNASSIGNED,
    question:
      open.length === 1
        ? `The file doesn't assign "${open[0]?.key}" to an agent. Who should do it?`
        : `The file doesn't assign ${open.length === tasks.length ? "any" : open.length} of its ${tasks.length} tasks to an agent. Who should do them?`,
    options: [
      { value: "nobody", label: "No one yet" },
      ...(agents.size > 1 && open.length > 1 ? [{ value: "order", label: "The agents, in order" }] : []),
      ...people.map(({ value, label }) => ({
        value,
        label: open.length > 1 ? `${label}, for all tasks` : label,
      })),
    ],
    value: "nobody",
  });
  if (open.length > 1 && open.length <= MOST_ASKED)
    for (const { key } of open)
      choices.push({
        id: perTask(key),
        question: `Who should do "${key}"?`,
        options: [{ value: "as_above", label: "Same as above" }, ...people],
        value: "as_above",
        isDetail: true,
      });
  return choices;
}

function assigned(
  { tasks, agents }: CrewModel,
  task: TaskModel,
  { all, own }: { all: string | undefined; own: string | undefined },
): string | null {
  const keys = [...agents.keys()];
  if (own?.startsWith("agent:")) return own.slice("agent:".length);
  if (all?.startsWith("agent:")) return all.slice("agent:".length);
  if (all !== "order") return null;
  const open = tasks.filter(({ agent }) => agent === null);
  // More tasks than agents: the last one does the rest.
  return keys[Math.min(open.indexOf(task), keys.length - 1)] ?? null;
}

/** Says which agents do nothing, where that is certain. */
function reportIdleAgents(
  { tasks, agents, manager }: CrewModel,
  assigneeOf: (task: TaskModel) => string | null,
): void {
  const busy = new Set([manager, ...tasks.map(assigneeOf)]);
  if (busy.has(null) && tasks.some((task) => assigneeOf(task) === null)) return;
  for (const { key, report } of agents.values())
    if (!busy.has(key)) report.info("", `The agent "${key}" has no tasks; its role is imported anyway.`);
}

/** The variables of a crew's texts, and what its file gives for them. */
function inputsOf(model: CrewModel, drawing: Drawing, found: readonly string[]) {
  const names = new Set([...found, ...Object.keys(model.inputs)]);
  return [...names].map((name) => {
    const given = model.inputs[name];
    const isText = given === undefined || given === null || typeof given === "string";
    return {
      key: drawing.keyFor(name, "input"),
      title: humanize(name),
      ...(!isText ? { schema: {} } : isShort(name) ? { schema: { type: "string", maxLength: 120 } } : {}),
      ...(given === undefined || given === null ? {} : { default: given }),
    };
  });
}

/** Whether a name suggests a value that fits on one line. */
const isShort = (name: string) => /(?:^|_)(?:year|month|day|date|time|email|url|name)$/i.test(name);

const textsOf = ({ agents, tasks }: CrewModel): string[] => [
  ...[...agents.values()].flatMap(({ role, goal, backstory }) => [role, goal, backstory]),
  ...tasks.flatMap(({ description, expected_output }) => [description, expected_output]),
];

/** One step in which the crew works. */
function drawStep(
  model: CrewModel,
  { drawing, agents, assigneeOf, roleRegistry, findings }: DrawContext,
): void {
  const inputs = inputsOf(model, drawing, variablesIn(...textsOf(model)));
  const start = drawing.start(inputs);
  const key = drawing.keyFor("crew_result", "output");
  const keyOf = (variable: string) => drawing.keyFor(variable, "input");
  const id = drawing.add(model.name, {
    node_type: "crew_task",
    name: model.name,
    input_keys: inputs.map((input) => input.key),
    output_keys: [key],
    config: crewSettings(model, agents, assigneeOf, (text) => toTemplate(text, keyOf)),
  });
  drawing.edge(start, id);
  drawing.edge(id, drawing.end([key]));
  findings.info(
    "",
    model.process === "hierarchical"
      ? `A manager assigns this crew's work, so it became one step with a crew of ${agents.size}; its ${model.tasks.length} tasks are the crew's goal.`
      : `The crew became one step with a plan of ${model.tasks.length} tasks.`,
  );
  reportCrewChanges(model, assigneeOf, id, { roleRegistry, members: agents });
}

/** Says what of its tasks a crew in one step does differently. */
export function reportCrewChanges(
  { tasks, process, agents }: CrewModel,
  assigneeOf: (task: TaskModel) => string | null,
  id: string,
  { roleRegistry, members }: { roleRegistry: RoleRegistry; members: ReadonlyMap<string, ImportedAgent> },
): void {
  const isLed = process === "hierarchical";
  for (const task of tasks) {
    const role = members.get(assigneeOf(task) ?? "")?.role;
    if (role !== undefined) roleRegistry.wants(role, task.tools, "tools", task.report);
    else if (task.tools.length > 0)
      task.report.dropped(
        "tools",
        `It's unclear who does "${task.key}", so its tools (${task.tools.join(", ")}) were left out.`,
        id,
      );
    if (isLed && task.human_input)
      task.report.dropped(
        "human_input",
        "A person was supposed to review the result; crews with a manager don't ask for reviews.",
        id,
      );
    if (isLed && task.guardrails.length > 0)
      task.report.changed(
        "guardrail",
        "Tasks in a crew with a manager can't have guardrails; the manager is told the rule instead.",
        id,
      );
    if (task.schema)
      task.report.dropped(
        "output_pydantic",
        `"${task.key}" had an output schema; in a crew it returns text. Import it as steps to keep the schema.`,
        id,
      );
    if (task.condition !== null)
      task.report.dropped(
        "condition",
        `The task ran only if a condition in code was true (${task.condition}). In a crew, it always runs.`,
        id,
      );
    if (!isLed && assigneeOf(task) === null && agents.size > 0)
      task.report.changed(
        "agent",
        `The file doesn't assign "${task.key}" to an agent; the crew chooses one of its agents.`,
        id,
      );
  }
}

const answering = (key: string, schema: Raw): Raw => ({
  type: "object",
  properties: { [key]: schema },
  required: [key],
});

/** A step for each task, in the order of the file; tasks that need not be waited for stand side by side. */
class Chain {
  private readonly steps = new Map<string, { id: string; key: string; isSure: boolean }>();

  constructor(
    private readonly model: CrewModel,
    private readonly context: DrawContext,
  ) {}

  draw(): void {
    const { model } = this;
    const { drawing } = this.context;
    const inputs = inputsOf(model, drawing, variablesIn(...textsOf(model)));
    /** What the next step follows, with the label of the way there. */
    let front: { from: string; label?: string }[] = [{ from: drawing.start(inputs) }];
    let beside: { from: string; label?: string }[] = [];
    for (const [place, task] of model.tasks.entries()) {
      const incoming = task.isAsync ? front : beside.length > 0 ? beside : front;
      const { entry, exits } = this.step(task, place);
      for (const { from, label } of incoming) drawing.edge(from, entry, { label });
      if (task.isAsync) beside.push(...exits);
      else {
        front = exits;
        beside = [];
      }
    }
    const last = model.tasks.at(-1);
    const result = last && this.steps.get(last.key);
    const end = drawing.end(result && !result.isSure ? [] : result ? [result.key] : []);
    for (const { from, label } of beside.length > 0 ? beside : front) drawing.edge(from, end, { label });
    if (model.planning)
      model.report.dropped(
        "planning",
        "The crew planned before starting its tasks; separate steps don't. Import it as one step to keep planning.",
      );
    if (model.memory)
      model.report.dropped(
        "memory",
        "The crew had memory; separate steps don't. Import it as one step to keep it.",
      );
    if (model.tasks.some(({ isAsync }) => isAsync))
      this.context.findings.info("", "Asynchronous tasks run in parallel.");
  }

  /** The step of a task, with the question before it where it is not always done. */
  private step(task: TaskModel, place: number): { entry: string; exits: { from: string; label?: string }[] } {
    const { drawing, agents, assigneeOf } = this.context;
    const owner = assigneeOf(task);
    const doer = owner === null ? undefined : agents.get(owner);
    const id = drawing.add(task.key, {
      node_type: "agent_task",
      name: humanize(task.key),
      ...this.keysOf(task, place, doer),
      config: this.configOf(task, doer),
    });
    this.steps.set(task.key, {
      id,
      key: drawing.keyFor(task.key, "output"),
      isSure: task.condition === null,
    });
    if (!doer) this.reportUnassigned(task, owner, id);
    if (doer?.agent.allow_delegation)
      task.report.info(
        "agent",
        `"${doer.role}" could ask the other members of its crew; as a separate step it works alone. Import the crew as one step to keep that.`,
      );
    let exit = id;
    if (task.human_input) {
      exit = drawing.placeholder(`${task.key}_check`, {
        name: `Look at ${humanize(task.key).toLowerCase()}`,
        original: "",
        at: "human_input",
        findings: task.report,
        why: "A person was supposed to review this task's result.",
      });
      drawing.edge(id, exit);
    }
    if (task.condition === null) return { entry: id, exits: [{ from: exit }] };
    return this.question(task, id, exit);
  }

  private question(task: TaskModel, id: string, exit: string) {
    const { drawing } = this.context;
    const router = drawing.add(`${task.key}_if`, {
      node_type: "conditional_router",
      name: `Is ${humanize(task.key).toLowerCase()} needed?`,
      config: { kind: "expression", conditions: [], default_label: "skip" },
    });
    drawing.edge(router, id, { label: "run" });
    drawing.note(
      `Ran only if this condition in code was true: ${task.condition}`,
      `Condition for ${task.key}`,
    );
    task.report.placeholder(
      "condition",
      `Code decided whether this task runs (${task.condition}). Write this condition in the router for the route "run"; the workflow can't run until then.`,
      router,
    );
    return { entry: router, exits: [{ from: exit }, { from: router, label: "skip" }] };
  }

  private keysOf(task: TaskModel, place: number, doer: ImportedAgent | undefined) {
    const { drawing } = this.context;
    const before = contextOf(this.model.tasks, place).flatMap((key) => this.steps.get(key) ?? []);
    const own = variablesIn(task.description);
    return {
      input_keys: [
        ...before.flatMap(({ key, isSure }) => (isSure ? [key] : [])),
        // What the task's own text does not say anyway.
        ...(doer?.variables ?? [])
          .filter((name) => !own.includes(name))
          .map((name) => drawing.keyFor(name, "input")),
      ],
      optional_input_keys: before.flatMap(({ key, isSure }) => (isSure ? [] : [key])),
      output_keys: [drawing.keyFor(task.key, "output")],
    };
  }

  private configOf(task: TaskModel, doer: ImportedAgent | undefined) {
    const { drawing, roleRegistry } = this.context;
    const keyOf = (variable: string) => drawing.keyFor(variable, "input");
    const expected = task.expected_output;
    // An expected result is no template.
    const isFixed = variablesIn(expected).length === 0;
    const text = isFixed ? task.description : `${task.description}\n\nExpected output: ${expected}`;
    const tools = doer ? roleRegistry.wants(doer.role, task.tools, "tools", task.report) : [];
    return {
      required_role: doer?.role ?? "",
      task_description_template: toTemplate(text, keyOf),
      ...defined({
        expected_output: isFixed && expected ? expected.slice(0, 8000) : undefined,
        tools: tools.length > 0 ? tools : undefined,
        max_iterations: doer?.agent.max_iter ? Math.min(doer.agent.max_iter, 200) : undefined,
        output_schema: task.schema ? answering(drawing.keyFor(task.key, "output"), task.schema) : undefined,
      }),
      guardrails: guardrailsOf(task),
    };
  }

  private reportUnassigned(task: TaskModel, owner: string | null, id: string): void {
    const assigneeOf = task.agent ?? owner;
    task.report.placeholder(
      "agent",
      assigneeOf === null
        ? `The file doesn't assign "${task.key}" to an agent. Choose its role; the workflow can't run until then.`
        : `"${assigneeOf}", who does "${task.key}", is not in the files. Add the agents file, or choose a role; the workflow can't run until then.`,
      id,
    );
  }
}
