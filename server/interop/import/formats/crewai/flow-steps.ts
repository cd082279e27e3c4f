import { defined } from "@/server/domain/base/defined";
import { type Findings, isRaw, type Raw } from "@/server/domain/base/lenient-reader";
import { asTemplate } from "@/server/domain/text/template/template";
import { writeText } from "../../../text-files";
import type { Drawing } from "../../drawing";
import type { RoleRegistry } from "../../role-registry";
import type { Source } from "../../source";
import { type FlowNames, toExpression, toFlowTemplate, toValue } from "./cel";
import { crewSettings, humanize, importAgent } from "./crew-config";
import { reportCrewChanges } from "./draw";
import type { Method } from "./flow-method";
import { missing, readCrew } from "./json";
import { isInRepository, readAgent, type TaskModel, textOf } from "./model";
import { toTemplate, variablesIn } from "./template";

export interface FlowContext {
  name: string;
  report: Findings;
  findings: Findings;
  /** A crew in another file of the import. */
  load: (path: string) => Source | undefined;
}

/** Draws what each method of a flow does. */
export class FlowSteps {
  /** Fields of the state that steps write. */
  readonly written = new Set<string>();

  constructor(
    private readonly drawing: Drawing,
    private readonly roleRegistry: RoleRegistry,
    private readonly names: FlowNames,
    private readonly context: FlowContext,
  ) {}

  /** What a method does, as a step; answers its id. */
  draw(method: Method, key: string): string {
    const { action, name, report } = method;
    switch (action.call) {
      case "agent":
        if (isRaw(action.with) && !isInRepository(action.with)) return this.agent(method, action.with, key);
        break;
      case "crew": {
        const step = this.crew(method, key);
        if (step !== null) return step;
        break;
      }
      case "expression": {
        const written = [...(method.writes ?? [])].map(
          ([field, expr]) => [this.fieldKey(field), expr] as const,
        );
        const own = action.expr === null ? [] : [[key, textOf(action.expr)] as const];
        const set = [...written, ...own].map(([to, expr]) => [to, toExpression(expr, this.names)] as const);
        if (set.length > 0 && set.every(([, expression]) => expression !== null))
          return this.drawing.add(name, {
            node_type: "transform",
            name: humanize(name),
            config: { set: Object.fromEntries(set) },
          });
        break;
      }
    }
    return this.unknown(method, key, report);
  }

  private fieldKey(field: string): string {
    this.written.add(field);
    return this.drawing.keyFor(field, "state");
  }

  private unknown({ action, name, writes, code }: Method, key: string, report: Findings): string {
    const what =
      action.call === undefined || action.call === null
        ? 'Its "do" has no "call", so what it does is unknown.'
        : (WHAT[textOf(action.call)] ?? `Unknown action ${JSON.stringify(action.call)}.`);
    if (action.call === "tool")
      this.roleRegistry.wants(humanize(name), [textOf(action.ref)].filter(Boolean), "do.ref", report);
    return this.drawing.placeholder(name, {
      name: humanize(name),
      original: code ?? writeText(action, "yaml"),
      at: "do",
      findings: report,
      why: what,
      node: { output_keys: [key, ...[...(writes?.keys() ?? [])].map((field) => this.fieldKey(field))] },
    });
  }

  private agent({ name, report, isRouter, emit }: Method, raw: Raw, key: string): string {
    const place = report.under("do.with");
    const { role, tools, agent } = importAgent(readAgent(name, raw, place), this.roleRegistry);
    const input = textOf(raw.input);
    const { template, mapping, unread } = toFlowTemplate(input || agent.goal, this.names);
    for (const source of unread)
      place.changed(
        "input",
        `The expression ${JSON.stringify(source.slice(0, 200))} can't be read and is kept as text in the task.`,
      );
    const { schema } = isRaw(raw.response_format) ? raw.response_format : {};
    const answer =
      isRouter && emit.length > 0 ? { type: "string", enum: emit } : isRaw(schema) ? schema : null;
    if (raw.response_format && !isRaw(schema))
      place.dropped(
        "response_format",
        "The output schema is code and was left out. Describe it in the step.",
      );
    return this.drawing.add(name, {
      node_type: "agent_task",
      name: humanize(name),
      ...defined({ input_mapping: Object.keys(mapping).length > 0 ? mapping : undefined }),
      output_keys: [key],
      config: {
        required_role: role,
        task_description_template: input ? template : asTemplate(agent.goal),
        ...defined({
          tools: tools.length > 0 ? tools : undefined,
          max_iterations: agent.max_iter ? Math.min(agent.max_iter, 200) : undefined,
        }),
        // A router's answer must be one of its labels.
        ...defined({
          output_schema: answer
            ? { type: "object", properties: { [key]: answer }, required: [key] }
            : undefined,
        }),
      },
    });
  }

  /** Null where the crew cannot be found. */
  private crew({ name, action, report, crew }: Method, key: string): string | null {
    const path = textOf(action.from_declaration);
    const file = path ? this.context.load(path) : undefined;
    const raw = file ? file.value : action.with;
    const place = file ? file.on(this.context.findings) : report.under("do.with");
    if (path && !file)
      report.changed(
        "do.from_declaration",
        `The crew ${path} isn't in the imported files. Import the whole folder, or a zip of it.`,
      );
    if (!crew && !isRaw(raw)) return null;
    const model = crew ?? readCrew({ name: humanize(name), ...(isRaw(raw) ? raw : {}) }, place, missing);
    if (model.agents.size === 0) return null;
    const agents = new Map(
      [...model.agents].map(([id, agent]) => [id, importAgent(agent, this.roleRegistry)]),
    );
    const local = (variable: string) => variable.replace(/\W/g, "_");
    const texts = [
      ...[...model.agents.values()].flatMap(({ role, goal, backstory }) => [role, goal, backstory]),
      ...model.tasks.flatMap(({ description, expected_output }) => [description, expected_output]),
    ];
    const given: Raw = { ...model.inputs, ...(isRaw(action.inputs) ? action.inputs : {}) };
    const mapping = Object.fromEntries(
      [...new Set([...variablesIn(...texts), ...Object.keys(given)])].map((variable) => {
        const value = variable in given ? toValue(given[variable], this.names) : null;
        if (variable in given && value === null)
          report.changed(
            `do.inputs.${variable}`,
            `This value can't be read, so the start node asks for "${variable}".`,
          );
        return [local(variable), value ?? `state.${this.names.state(variable)}`];
      }),
    );
    const who = ({ agent }: TaskModel) => agent;
    const id = this.drawing.add(name, {
      node_type: "crew_task",
      name: humanize(name),
      ...defined({ input_mapping: Object.keys(mapping).length > 0 ? mapping : undefined }),
      output_keys: [key],
      config: crewSettings(model, agents, who, (text) => toTemplate(text, local)),
    });
    reportCrewChanges(model, who, id, { roleRegistry: this.roleRegistry, members: agents });
    return id;
  }
}

/** Why a step of this kind cannot be taken over. */
const WHAT: Readonly<Record<string, string>> = {
  code: "This calls code.",
  script: "This is code.",
  tool: "This calls a CrewAI tool.",
  each: "This loops over a list.",
  expression: "This computes something that can't be read.",
  crew: "The crew used here can't be read.",
  agent: "The agent used here can't be read.",
};
