import { textsOf } from "@/server/domain/base/guards";
import { isRaw, type Raw } from "@/server/domain/base/lenient-reader";
import { type Bound, NO_SCOPE, type Routine } from "../../code/evaluator";
import { readFiles } from "../../code/files";
import { calledName, isCallOf, jsonOf, pathOf } from "../../code/literals";
import type { CallExpr, ClassStatement, Expr, Place } from "../../code/program";
import { readPython } from "../../code/python";
import { propertiesOf, schemaOf } from "../../code/schemas";
import { type Claim, nothingImported, type ReadableFormat, type Reading } from "../../format";
import type { Source } from "../../source";
import { CrewReader, readCrewCode } from "./code";
import { type CrewProgram, crewPrograms, isPython, programOf } from "./code-files";
import { FlowDrawing } from "./flow-drawing";
import type { Condition, Method } from "./flow-method";
import type { CrewModel } from "./model";
import { crewOfCode } from "./python";
import type { FlowExpressions } from "./python-expression";
import { type Ask, labelsIn, MethodBody } from "./python-method";
import { configsOf, describedIn } from "./yaml";

const FLOW_CLASS = /^class[ \t]+(\w+)[ \t]*\([^()\n]*\bFlow\b[^()\n]*\)/gm;
const HAS_START = /^[ \t]*@(?:\w+\.)?start\b/m;
const KICKOFF = ["kickoff", "kickoff_async", "akickoff"];

/** The crews of other files that a flow's code uses. */
const crewsBeside = (flow: Source, sources: readonly Source[]): CrewProgram[] => {
  const program = programOf(flow, sources);
  return crewPrograms(sources).filter(({ main }) => main !== flow && program.files.includes(main));
};

/** A CrewAI flow as a class: each method is read as a method of a declarative flow. */
export const crewaiPythonFlow: ReadableFormat = {
  id: "crewai-flow-code",
  label: "a CrewAI Python flow",
  recognise: (sources) =>
    sources.flatMap((source): Claim[] => {
      if (!isPython(source) || !HAS_START.test(source.text)) return [];
      const flows = [...source.text.matchAll(FLOW_CLASS)];
      const crews = flows.length === 0 ? [] : crewsBeside(source, sources);
      const configs = crews.flatMap((crew) => configsOf(crew, sources));
      const files = [...new Set([source, ...programOf(source, sources).files, ...configs])];
      return flows.map(([, title = ""]) => ({ sure: 3, files, title, part: title }));
    }),
  read(reading) {
    const [source] = reading.claim.files;
    const name = reading.claim.part ?? "";
    if (!source) return nothingImported();
    const crews = crewsBeside(source, reading.claim.files);
    const mains = crews.map(({ main }) => main);
    const { files } = programOf(
      source,
      reading.claim.files.filter((file) => !mains.includes(file)),
    );
    const joined = readFiles(files, readPython, reading, "error");
    const reader = joined && new CrewReader(source, joined, reading);
    const flow = reader?.evaluator.class(name);
    if (!reader || !flow) return nothingImported(name);
    return new FlowReader(flow, reader, crews, reading).read();
  },
};

class FlowReader {
  private readonly types: Raw;
  private readonly routines: Routine[];

  constructor(
    private readonly flow: ClassStatement,
    private readonly reader: CrewReader,
    private readonly crews: readonly CrewProgram[],
    private readonly reading: Reading,
  ) {
    this.routines = flow.body.filter((one) => one.is === "function");
    this.types = Object.fromEntries(propertiesOf(this.stateSchema()) ?? []);
  }

  read() {
    const { flow, reader, reading } = this;
    const methods = this.routines.flatMap((routine) => this.method(routine) ?? []);
    const report = reader.report(flow);
    const name = flow.name.replace(/([a-z0-9])([A-Z])/g, "$1 $2");
    const [first] = flow.body;
    const description = first?.is === "do" ? this.text(first.value) : null;
    const raw = { description, state: { json_schema: this.stateSchema() ?? {}, default: this.defaults() } };
    const { findings } = reading;
    const context = { name, report, findings, load: () => undefined };
    return new FlowDrawing(raw, methods, context).draw();
  }

  private text(expr: Expr): string | null {
    return this.reader.evaluator.text({ expr, scope: NO_SCOPE });
  }

  /** Of `Flow[State]`. */
  private stateSchema(): Raw | null {
    for (const base of this.flow.bases)
      if (base.is === "index") return schemaOf(base.index, this.reader.evaluator);
    return null;
  }

  /** What the state begins with: its class's defaults, and what the code passes to the flow. */
  private defaults(): Raw {
    const { evaluator } = this.reader;
    const base = this.flow.bases.find((one) => one.is === "index");
    const state =
      base?.is === "index" && base.index.is === "name" ? evaluator.class(base.index.name) : undefined;
    const values: Raw = {};
    for (const { name, value } of state?.fields ?? []) {
      const inner = isCallOf(value, "Field")
        ? (value.args.find((one) => one.name === "default")?.value ?? null)
        : value;
      const given = inner ? jsonOf(inner) : undefined;
      if (given !== undefined) values[name] = given;
    }
    for (const { call } of evaluator.calls) {
      const made = isCallOf(call, ...KICKOFF) && call.callee.is === "member" ? call.callee.of : null;
      if (
        !made ||
        !evaluator.made({ expr: made, scope: NO_SCOPE }, ({ expr }) => isCallOf(expr, this.flow.name))
      )
        continue;
      const inputs = evaluator.argument({ expr: call, scope: NO_SCOPE }, "inputs");
      const given = inputs && evaluator.json(inputs);
      if (isRaw(given)) Object.assign(values, given);
    }
    return values;
  }

  /** Null where nothing of CrewAI calls it. */
  private method(routine: Routine): Method | null {
    const { reader } = this;
    const report = reader.report(routine);
    const decorator = (name: string): Expr | undefined =>
      routine.decorators.find((one) => (calledName(one) ?? pathOf(one)?.at(-1)) === name);
    const when = (name: string): Condition | null => {
      const found = decorator(name);
      const [first] = found?.is === "call" ? found.args : [];
      if (!first || first.name !== null) return null;
      const condition = this.condition(first.value);
      if (!condition) report.dropped("", `What triggers "${routine.name}" is decided in code. Connect it.`);
      return condition;
    };
    const [start, listen, router] = ["start", "listen", "router"].map(decorator);
    if (!start && !listen && !router) {
      report.dropped("", `"${routine.name}" is code that no step of the flow is made of; it was left out.`);
      return null;
    }
    const asked = decorator("human_feedback");
    const feedback = asked?.is === "call" ? this.arguments(asked) : null;
    const outcomes = textsOf(feedback?.emit);
    const trigger = when("listen") ?? when("router");
    const before = new MethodBody(
      routine,
      this,
      typeof trigger === "string" && this.isMethod(trigger) ? `outputs.${trigger}` : null,
    ).read();
    const last = before.pop();
    if (!last) return null;
    return {
      ...last,
      before,
      start: start ? (when("start") ?? true) : null,
      listen: trigger,
      isRouter: router !== undefined && outcomes.length === 0,
      emit: [...new Set(labelsIn(routine.body))],
      feedback,
      outcomes,
    };
  }

  private isMethod(name: string): boolean {
    return this.routines.some((one) => one.name === name);
  }

  private arguments(call: CallExpr): Raw {
    const given: Raw = {};
    for (const { name, value } of call.args)
      given[name ?? "message"] = this.evaluator.json({ expr: value, scope: NO_SCOPE }) ?? "code";
    return given;
  }

  /** A method, a label, or_(...) and and_(...). */
  private condition(expr: Expr): Condition | null {
    const method = pathOf(expr)?.at(-1);
    if (method !== undefined && this.isMethod(method)) return method;
    const text = this.text(expr);
    if (text) return text;
    const how = isCallOf(expr, "and_") ? "and" : "or";
    const parts =
      expr.is === "call"
        ? isCallOf(expr, "and_", "or_") && expr.args.map(({ value }) => value)
        : expr.is === "list" && expr.items.map((item) => ("spread" in item ? item.spread : item));
    const of = (parts || []).map((part) => this.condition(part));
    return of.length > 0 && of.every((one) => one !== null) ? { how, of } : null;
  }

  get evaluator() {
    return this.reader.evaluator;
  }

  readonly report = (place: Place) => this.reader.report(place);

  readonly typeOf = (field: string): unknown => {
    const schema = this.types[field];
    return isRaw(schema) ? schema.type : undefined;
  };

  /** The value of a name of the module, or of an attribute of the class. */
  readonly constant = (expr: Expr): Expr | null => {
    const path = pathOf(expr);
    const [name, key, ...more] = path ?? [];
    if (name === "self" && more.length === 0)
      return (
        this.flow.fields.find((field) => field.name === key)?.value ??
        this.evaluator.value(`${this.flow.name}.${key}`) ??
        null
      );
    const declared = this.evaluator.program.body.find(
      (one) => one.is === "assign" && one.target.is === "name" && one.target.name === name,
    );
    return key === undefined && declared?.is === "assign" ? declared.value : null;
  };

  readonly asks = (call: Bound<CallExpr>): boolean => {
    const { callee } = call.expr;
    if (isCallOf(call.expr, ...KICKOFF)) return callee.is === "member";
    return this.isModelCall(call);
  };

  private isModelCall({ expr, scope }: Bound<CallExpr>): boolean {
    const path = pathOf(expr.callee) ?? [];
    const [last, of] = [path.at(-1), path.at(-2)];
    if (/^a?completion$/.test(last ?? "")) return of === undefined || of === "litellm";
    if (last === "create") return path.slice(-3, -1).join(".") === "chat.completions";
    if (!isCallOf(expr, "call", "acall") || expr.callee.is !== "member") return false;
    const made = this.evaluator.resolve({ expr: expr.callee.of, scope }).expr;
    return isCallOf(made, "LLM") || /llm/i.test(of ?? "");
  }

  readonly ask = (call: Bound<CallExpr>, write: FlowExpressions): Ask | null => {
    const { expr } = call;
    if (this.isModelCall(call)) return this.model(call, write);
    if (expr.callee.is !== "member") return null;
    const of = { expr: expr.callee.of, scope: call.scope };
    const agent = this.reader.agentOf(of);
    if (agent) {
      const input = this.evaluator.argument(call, "messages") ?? this.evaluator.positional(call);
      return this.agent({ ...agent.raw, ...this.format(call) }, input, write);
    }
    const crew = this.crew(of);
    if (!crew) return null;
    const inputs = this.evaluator.argument(call, "inputs") ?? this.evaluator.positional(call);
    const given = inputs && this.evaluator.resolve(inputs).expr;
    const entries = given?.is === "record" ? given.entries : [];
    if (inputs && (given?.is !== "record" || entries.some((entry) => "spread" in entry)))
      this.report(inputs.expr).changed(
        "",
        "The crew's inputs are built in code; what isn't written here comes from the state, by name.",
      );
    const values = entries.flatMap((entry) =>
      // What can't be written is no expression: the flow asks for it.
      "spread" in entry ? [] : [[entry.key, write.text(entry.value) ?? "${?}"] as const],
    );
    return { action: { call: "crew", inputs: Object.fromEntries(values) }, crew };
  };

  private format(call: Bound<CallExpr>): Raw {
    const format = this.evaluator.argument(call, "response_format");
    const schema = format && schemaOf(format.expr, this.evaluator);
    return format ? { response_format: { schema } } : {};
  }

  private agent(raw: Raw, input: Bound | null, write: FlowExpressions): Ask | null {
    const list = input && this.evaluator.items(input);
    const texts = list
      ? list.map((item) => this.message(item, write))
      : [{ isSystem: false, text: input && write.text(input.expr) }];
    if (texts.some(({ text }) => text === null)) return null;
    const contentOf = (isSystem: boolean) =>
      texts.flatMap((one) => (one.isSystem === isSystem ? [one.text] : [])).join("\n\n");
    return {
      action: {
        call: "agent",
        with: { ...raw, backstory: raw.backstory ?? contentOf(true), input: contentOf(false) },
      },
    };
  }

  private message(item: Bound, write: FlowExpressions): { isSystem: boolean; text: string | null } {
    const [role, content] = ["role", "content"].map((key) => this.evaluator.entry(item, key));
    return {
      isSystem: role ? this.evaluator.text(role) === "system" : false,
      text: write.text(content ? content.expr : item.expr),
    };
  }

  /** A model that code calls without an agent. */
  private model(call: Bound<CallExpr>, write: FlowExpressions): Ask | null {
    const input =
      this.evaluator.argument(call, "messages", "prompt", "input") ?? this.evaluator.positional(call);
    const model = this.evaluator.argument(call, "model");
    const llm = model && this.evaluator.text(model);
    return this.agent({ role: "Assistant", ...(llm ? { llm } : {}), ...this.format(call) }, input, write);
  }

  /** The crew of an expression: of its class in another file, or of this code. */
  private crew(of: Bound): CrewModel | null {
    const { findings } = this.reading;
    let root = this.evaluator.resolve(of).expr;
    while (root.is === "call" || root.is === "member") {
      const inner: Expr = root.is === "call" ? root.callee : root.of;
      root = this.evaluator.resolve({ expr: inner, scope: of.scope }).expr;
    }
    const name = root.is === "name" ? root.name : "";
    const isDeclared = (text: string) =>
      [...text.matchAll(/^class[ \t]+(\w+)/gm)].some(([, one]) => one === name);
    const program = name === "" ? undefined : this.crews.find(({ main }) => isDeclared(main.text));
    const code = program ? readCrewCode(program, { ...this.reading, findings }) : this.reader.crewOf(of);
    if (!code) return null;
    const described = describedIn(program ? configsOf(program, this.reading.all) : [], findings);
    return crewOfCode(code, described, { name: name || "Crew", findings });
  }
}
