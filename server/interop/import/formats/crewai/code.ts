import { freshId, toId } from "@/server/domain/base/ids";
import type { Findings, PlaceOf, Raw } from "@/server/domain/base/lenient-reader";
import { type Bound, Evaluator, type Made, NO_SCOPE, type Routine } from "../../code/evaluator";
import { type JoinedProgram, readFiles } from "../../code/files";
import { calledName, isCallOf, pathOf } from "../../code/literals";
import { type CallExpr, type Expr, type Place, type Program, sourceOf } from "../../code/program";
import { readPython } from "../../code/python";
import { schemaOf } from "../../code/schemas";
import type { Reading } from "../../format";
import type { Source } from "../../source";
import type { CrewProgram } from "./code-files";
import { decorated, inputsOf, MOST_CODE, reportSurroundingCode, titleOf } from "./surrounding-code";

/** An agent or a task as constructed in code: its arguments, and the place of each. */
export interface CodePart {
  /** Its name in the code. */
  name: string;
  /** The part of the YAML file that describes it. */
  config: string | null;
  raw: Raw;
  place: PlaceOf;
}
/** A crew as code makes it, or a task that works alone. `agents`, `tasks`: their names, in their order. */
export interface CodeCrew {
  raw: Raw | null;
  agents: string[];
  tasks: string[];
  place: PlaceOf;
}
/** What the code of a crew says; it was read and not run. */
export interface CrewCode {
  source: Source;
  title: string | null;
  agents: Map<string, CodePart>;
  tasks: Map<string, CodePart>;
  crews: CodeCrew[];
  /** The crew's initial inputs, as far as the code spells them out. */
  inputs: Raw;
  /** Functions and classes that CrewAI would run, as text. */
  programs: Map<string, string>;
}

type Kind = "agent" | "task";
/** Fields that list agents or tasks. */
const LISTS: ReadonlyMap<string, Kind> = new Map([
  ["agents", "agent"],
  ["context", "task"],
  ["tasks", "task"],
]);
const MAKES: Readonly<Record<Kind, readonly string[]>> = {
  agent: ["Agent"],
  task: ["Task", "ConditionalTask"],
};
const MODELS = new Set(["llm", "function_calling_llm", "manager_llm", "planning_llm", "chat_llm"]);
const TYPED = new Set(["output_pydantic", "output_json", "response_model"]);

/** Reads the code of a crew with the files that it imports and those that use it; null where it cannot be read. */
export function readCrewCode(
  { main, files, users }: CrewProgram,
  reading: Pick<Reading, "findings" | "work">,
): CrewCode | null {
  const code = readProgram(main, files, reading);
  if (!code) return null;
  for (const user of users) {
    const used = readProgram(user, [user], reading);
    if (Object.keys(code.inputs).length === 0 && used) code.inputs = used.inputs;
    for (const [name, text] of used?.programs ?? []) code.programs.set(name, text);
  }
  return code;
}

function readProgram(
  source: Source,
  files: readonly Source[],
  reading: Pick<Reading, "findings" | "work">,
): CrewCode | null {
  const joined = readFiles(files, readPython, reading, "dropped");
  return joined && new CrewReader(source, joined, reading).read();
}

/** Reads what code says of agents, tasks and crews, all of it or one by one. */
export class CrewReader {
  private readonly findings: Findings;
  private readonly program: Program;
  readonly placeOf: (place: Place) => PlaceOf;
  /** Where the file begins that makes the crew. */
  private readonly begin: number;
  readonly evaluator: Evaluator;
  private readonly agents = new Map<string, CodePart>();
  private readonly tasks = new Map<string, CodePart>();
  private readonly known = new Map<string, string>();
  /** The calls behind what is known. */
  private readonly met = new Set<string>();
  private readonly programs = new Map<string, string>();

  constructor(
    private readonly source: Source,
    { program, placeOf }: JoinedProgram,
    { findings, work }: Pick<Reading, "findings" | "work">,
  ) {
    this.findings = findings;
    this.program = program;
    this.placeOf = placeOf;
    this.begin = program.text.length - source.text.length;
    this.evaluator = new Evaluator(program, work);
  }

  report(place: Place): Findings {
    return this.findings.of(this.placeOf(place));
  }

  read(): CrewCode {
    const { evaluator } = this;
    for (const kind of ["agent", "task"] as const)
      for (const routine of decorated(evaluator, kind)) this.decorated(kind, routine);
    const crews: CodeCrew[] = [];
    const seen = new Set<string>();
    for (const { call } of evaluator.calls) {
      // `Crew(...).kickoff()` and `Crew(...)` begin at the same place.
      const id = `${call.from}-${call.to}`;
      if (seen.has(id)) continue;
      seen.add(id);
      if (isCallOf(call, "Crew")) crews.push(this.crew({ expr: call, scope: NO_SCOPE }));
      else crews.push(...this.alone(call));
    }
    // Agents and tasks that no crew names: what is made of them is decided by who reads this.
    for (const { call, within } of evaluator.calls)
      for (const kind of ["agent", "task"] as const)
        if (isCallOf(call, ...MAKES[kind]))
          if (!this.met.has(`${kind} ${call.from}`))
            this.part(kind, { expr: call, scope: NO_SCOPE, name: within?.name ?? null, id: `${call.from}` });
    reportSurroundingCode(evaluator, (place) => this.report(place), this.programs);
    return {
      source: this.source,
      title: titleOf(evaluator),
      agents: this.agents,
      tasks: this.tasks,
      crews,
      inputs: inputsOf(evaluator),
      programs: this.programs,
    };
  }

  /** The agent that an expression makes, if it makes one. */
  agentOf(bound: Bound): CodePart | null {
    const made = this.made("agent", bound);
    return made && (this.agents.get(this.part("agent", made)) ?? null);
  }

  /** The crew that an expression makes, with no more than what it uses. */
  crewOf(bound: Bound): CrewCode | null {
    const made = this.evaluator.made(bound, ({ expr }) => isCallOf(expr, "Crew"));
    if (!made) return null;
    const crew = this.crew(made);
    const tasks = new Map(crew.tasks.flatMap((name) => entryOf(this.tasks, name)));
    const doers = [...tasks.values()].flatMap(({ raw }) => [raw.agent]);
    const names = [...crew.agents, crew.raw?.manager_agent, ...doers].filter(
      (name) => typeof name === "string",
    );
    const agents = new Map(names.flatMap((name) => entryOf(this.agents, name)));
    return {
      source: this.source,
      title: null,
      agents,
      tasks,
      crews: [crew],
      inputs: {},
      programs: this.programs,
    };
  }

  private decorated(kind: Kind, routine: Routine): void {
    const expr = { is: "name" as const, name: routine.name, from: routine.from, to: routine.to };
    const made = this.made(kind, { expr, scope: NO_SCOPE });
    if (made) this.part(kind, { ...made, name: routine.name });
    else
      this.report(routine).dropped("", `"${routine.name}" is built dynamically in code, so it was left out.`);
  }

  private made(kind: Kind, bound: Bound): Made | null {
    return this.evaluator.made(bound, ({ expr }) => isCallOf(expr, ...MAKES[kind]));
  }

  /** The name of an agent or task, which is read where it is first met. */
  private part(kind: Kind, made: Made): string {
    const known = this.known.get(`${kind} ${made.id}`);
    if (known !== undefined) return known;
    const parts = kind === "agent" ? this.agents : this.tasks;
    const title = this.evaluator.argument(made, kind === "agent" ? "role" : "name");
    const called = title && this.template(title);
    const wanted = (kind === "task" ? (called ?? made.name) : (made.name ?? called)) ?? "";
    const name = freshId(toId(wanted) || `${kind}_${parts.size + 1}`, parts);
    this.known.set(`${kind} ${made.id}`, name);
    this.met.add(`${kind} ${made.expr.from}`);
    const places = new Map<string, Place>();
    const part: CodePart = {
      name,
      config: null,
      raw: {},
      place: (at) => this.placeOf(places.get(at.split(".")[0] ?? "") ?? made.expr)(at),
    };
    parts.set(name, part);
    this.fill(part, made, places);
    if (calledName(made.expr) === "ConditionalTask") part.raw.type = "ConditionalTask";
    return name;
  }

  /** Reads what a call is given, by name. */
  private fill(
    part: Pick<CodePart, "raw"> & { config?: string | null },
    made: Bound<CallExpr>,
    places: Map<string, Place>,
  ) {
    for (const { name, value, isSpread } of made.expr.args) {
      const bound = { expr: value, scope: made.scope };
      const { expr, scope } = this.evaluator.resolve(bound);
      const isOpen = name === null && (isSpread || expr.is === "record");
      if (name === "config") this.configure(part, bound, places);
      else if (name !== null && name !== "__proto__") {
        const described = configIn(value);
        places.set(name, value);
        const read = described === null ? this.setting(name, bound) : undefined;
        if (described !== null) part.config ??= described;
        if (read !== undefined) part.raw[name] = read;
      } else if (isOpen && expr.is === "record") this.open(part, { expr, scope }, places);
      else
        this.report(value).dropped(
          "",
          `The value passed here (${this.text(value)}) is built in code, so it was left out.`,
        );
    }
  }

  private open(part: Pick<CodePart, "raw">, { expr, scope }: Bound, places: Map<string, Place>): void {
    if (expr.is !== "record") return;
    for (const entry of expr.entries)
      if (!("spread" in entry) && entry.key !== "__proto__") {
        places.set(entry.key, entry.value);
        const read = this.setting(entry.key, { expr: entry.value, scope });
        if (read !== undefined) part.raw[entry.key] = read;
      }
  }

  /** `config=self.tasks_config["research"]`: the part of the YAML file; also written in place. */
  private configure(
    part: Pick<CodePart, "raw"> & { config?: string | null },
    bound: Bound,
    places: Map<string, Place>,
  ) {
    const { expr, scope } = this.evaluator.resolve(bound);
    const direct = bound.expr;
    const of = direct.is === "member" ? pathOf(direct.of)?.at(-1) : undefined;
    const key = isCallOf(direct, "get")
      ? this.evaluator.positional({ expr: direct, scope: bound.scope })
      : null;
    const named = key && this.evaluator.text(key);
    if (direct.is === "member" && of && /config/i.test(of)) part.config = direct.key;
    else if (named) part.config = named;
    else if (expr.is === "record") this.open(part, { expr, scope }, places);
    else if (expr.is === "member") part.config = expr.key;
    else
      this.report(direct).dropped(
        "",
        `Its description (${this.text(direct)}) is set in code, so it was left out.`,
      );
  }

  private setting(field: string, bound: Bound): unknown {
    const { evaluator } = this;
    const { expr } = evaluator.resolve(bound);
    if (field === "agent" || field === "manager_agent") return this.named("agent", bound);
    const kind = LISTS.get(field);
    if (kind) return expr.is === "nothing" ? undefined : this.namedList(field, kind, bound);
    if (field === "tools") return expr.is === "nothing" ? undefined : this.tools(bound);
    if (field === "process") return pathOf(expr)?.at(-1) ?? this.template(bound) ?? this.text(expr);
    if (MODELS.has(field)) return this.model(bound);
    if (TYPED.has(field)) {
      const schema = schemaOf(bound.expr, evaluator);
      return schema && "properties" in schema
        ? { python: this.text(bound.expr), schema }
        : { python: this.text(expr) };
    }
    return expr.is === "nothing" ? null : this.valueOf(bound);
  }

  private namedList(field: string, kind: Kind, bound: Bound): string[] | undefined {
    const items = this.evaluator.items(bound);
    if (items) return items.flatMap((item) => this.named(kind, item) ?? []);
    const one = this.named(kind, bound, true);
    if (one !== undefined) return [one];
    this.report(bound.expr).dropped(
      "",
      `"${field}" (${this.text(bound.expr)}) is built in code, so it was left out.`,
    );
    return undefined;
  }

  private valueOf(bound: Bound): unknown {
    const value = this.template(bound) ?? this.evaluator.json(bound);
    if (value !== undefined) return value;
    const items = this.evaluator.items(bound);
    for (const item of items ?? [bound]) this.keepProgram(item.expr);
    return items
      ? items.map((item) => this.template(item) ?? { python: this.text(item.expr) })
      : { python: this.text(bound.expr) };
  }

  private named(kind: Kind, bound: Bound, isQuiet = false): string | undefined {
    const made = this.made(kind, bound);
    if (made) return this.part(kind, made);
    if (bound.expr.is !== "nothing" && !isQuiet)
      this.report(bound.expr).dropped(
        "",
        `The ${kind} used here (${this.text(bound.expr)}) is chosen in code, so it was left out.`,
      );
    return undefined;
  }

  private crew(made: Bound<CallExpr>): CodeCrew {
    const raw: Raw = {};
    const places = new Map<string, Place>();
    const rest = {
      ...made.expr,
      args: made.expr.args.filter(({ name }) => name !== "tasks" && name !== "agents"),
    };
    this.fill({ raw }, { ...made, expr: rest }, places);
    const list = (kind: Kind) => {
      const field = this.evaluator.argument(made, `${kind}s`);
      const parts = kind === "agent" ? this.agents : this.tasks;
      const isAll =
        field?.expr.is === "member" && field.expr.key === `${kind}s` && !this.evaluator.value(field.expr.key);
      const all = () =>
        decorated(this.evaluator, kind)
          .map(({ name }) => name)
          .filter((name) => parts.has(name));
      if (!field || isAll) return all();
      const read = this.setting(`${kind}s`, field);
      return Array.isArray(read) ? read.filter((name) => typeof name === "string") : all();
    };
    return {
      raw,
      agents: list("agent"),
      tasks: list("task"),
      place: (at) => this.placeOf(places.get(at.split(".")[0] ?? "") ?? made.expr)(at),
    };
  }

  /** `task.execute()`: a task that works without a crew. */
  private alone(call: CallExpr): CodeCrew[] {
    if (!isCallOf(call, "execute", "execute_sync", "execute_async") || call.callee.is !== "member") return [];
    // Those within tools of other files are no part of the crew.
    if (call.from < this.begin) return [];
    const made = this.made("task", { expr: call.callee.of, scope: NO_SCOPE });
    return made
      ? [{ raw: null, agents: [], tasks: [this.part("task", made)], place: this.placeOf(call) }]
      : [];
  }

  /** The names of tools; those that this code makes stay as text. */
  private tools(bound: Bound): unknown[] {
    const items = this.evaluator.items(bound);
    if (!items) return [{ python: this.text(bound.expr) }];
    return items.map((item) => this.tool(item));
  }

  private tool(item: Bound): unknown {
    const { expr } = this.evaluator.resolve(item);
    const name = (expr.is === "call" ? calledName(expr) : pathOf(expr)?.at(-1)) ?? null;
    const isMadeByMethod = expr.is === "call" && expr.callee.is === "member" && /^[a-z]/.test(name ?? "");
    if (name === null || (isMadeByMethod && !this.evaluator.functions.has(name)))
      return { python: this.text(item.expr) };
    this.keepProgram(expr.is === "call" ? expr.callee : expr);
    const routine = this.evaluator.functions.get(name);
    const decorator = routine?.decorators.find((one) => isCallOf(one, "tool"));
    const title =
      decorator?.is === "call" ? this.evaluator.positional({ expr: decorator, scope: NO_SCOPE }) : null;
    return (title && this.evaluator.text(title)) || name;
  }

  private model(bound: Bound): unknown {
    const text = this.template(bound);
    if (text !== null) return text;
    const { expr, scope } = this.evaluator.resolve(bound);
    const call = expr.is === "call" ? { expr, scope } : null;
    const named =
      call && (this.evaluator.argument(call, "model", "model_name") ?? this.evaluator.positional(call));
    const model = named && this.template(named);
    return model === null ? { python: this.text(bound.expr) } : { model };
  }

  /** A text with its values as CrewAI's variables; null where it is none. */
  private template(bound: Bound): string | null {
    const pieces = this.evaluator.pieces(bound)?.map((piece) => {
      if (typeof piece === "string") return piece;
      const value = this.evaluator.resolve(piece).expr;
      return `{${variableOf(value) ?? variableOf(piece.expr) ?? "value"}}`;
    });
    if (!pieces) return null;
    this.evaluator.work.makeText(pieces.reduce((sum, { length }) => sum + length, 0));
    return pieces.join("");
  }

  /** Keeps the code of a function or class of this program that CrewAI would run. */
  private keepProgram(expr: Expr): void {
    const name = pathOf(expr)?.at(-1);
    if (!name) return;
    const declared = this.evaluator.functions.get(name) ?? this.evaluator.class(name);
    if (declared) this.programs.set(name, sourceOf(this.program, declared, MOST_CODE));
  }

  private text(place: Place): string {
    return sourceOf(this.program, place, 120).replace(/\s+/g, " ");
  }
}

const entryOf = <T>(map: ReadonlyMap<string, T>, name: string): [string, T][] => {
  const value = map.get(name);
  return value === undefined ? [] : [[name, value]];
};

/** The name of an interpolated value: `{self.topic}` is topic. */
function variableOf(expr: Expr): string | null {
  const name = pathOf(expr)?.at(-1);
  return name && /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? name : null;
}

/** `tasks_config["research"]["description"]`: research. */
function configIn(expr: Expr): string | null {
  if (expr.is !== "member" || expr.of.is !== "member") return null;
  return /config/i.test(pathOf(expr.of.of)?.at(-1) ?? "") ? expr.of.key : null;
}
