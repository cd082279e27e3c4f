import { freshId, toId } from "@/server/domain/base/ids";
import type { Findings, PlaceOf, Raw } from "@/server/domain/base/lenient-reader";
import { calledName, given, isCallOf, jsonOf, pathOf, positional } from "../../code/literals";
import {
  type CallExpr,
  type Expr,
  type FunctionStatement,
  lineOf,
  type Place,
  type Program,
  ProgramError,
  sourceOf,
} from "../../code/program";
import { readPython } from "../../code/python";
import type { Reading } from "../../format";
import type { Source } from "../../source";
import { Declarations } from "../agents-sdk/declarations";
import { joined } from "../agents-sdk/files";
import { schemaOf } from "../agents-sdk/schemas";
import { inputsOf, MOST_CODE, sayAround, titleOf } from "./code-around";
import type { CrewProgram } from "./code-files";
import { type Bound, CodeScope, type Kind, MAKES, type Made } from "./code-scope";

/** An agent or a task as code makes it: what it is given, and where each of that stands. */
export interface CodePart {
  /** Its name in the code. */
  name: string;
  /** The part of the YAML file that describes it. */
  config: string | null;
  raw: Raw;
  place: PlaceOf;
}
/** A crew as code makes it, or a task that works alone. `tasks`: names of its tasks, in their order. */
export interface CodeCrew {
  raw: Raw | null;
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
  /** What the code gives the crew to begin with, as far as it is written there. */
  inputs: Raw;
  /** Functions and classes that CrewAI would run, as text. */
  programs: Map<string, string>;
}

const NO_NAMES: ReadonlyMap<string, Bound> = new Map();
const MODELS = new Set(["llm", "function_calling_llm", "manager_llm", "planning_llm", "chat_llm"]);
const TYPED = new Set(["output_pydantic", "output_json", "response_model"]);

/** Reads the code of a crew with the files that it imports and those that use it; null where it cannot be read. */
export function readCrewCode(
  { main, files, users }: CrewProgram,
  reading: Pick<Reading, "findings" | "work">,
): CrewCode | null {
  const code = readFiles(main, files, reading);
  if (!code) return null;
  for (const user of users) {
    const used = readFiles(user, [user], reading);
    if (Object.keys(code.inputs).length === 0 && used) code.inputs = used.inputs;
    for (const [name, text] of used?.programs ?? []) code.programs.set(name, text);
  }
  return code;
}

function readFiles(
  source: Source,
  files: readonly Source[],
  { findings, work }: Pick<Reading, "findings" | "work">,
): CrewCode | null {
  const whole = joined(files, ({ text }) => text);
  const placeOf =
    (place: Place): PlaceOf =>
    () => {
      const { file, text, offset } = whole.at(place.from);
      const line = lineOf(text, offset);
      return { at: `line ${line}`, line, ...(file.path ? { file: file.path } : {}) };
    };
  const begin = whole.text.length - source.text.length;
  let program: Program;
  try {
    program = readPython(whole.text, work);
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
    source.on(findings).dropped("", error.message);
    return null;
  }
  for (const fault of program.faults.slice(0, 5))
    findings
      .of(placeOf(fault))
      .dropped("", "Something here could not be understood; the rest of the code was read.");
  return new Reader(source, program, placeOf, { findings, work }, begin).read();
}

class Reader {
  private readonly findings: Findings;
  private readonly scope: CodeScope;
  private readonly types: Declarations;
  private readonly agents = new Map<string, CodePart>();
  private readonly tasks = new Map<string, CodePart>();
  private readonly known = new Map<string, string>();
  /** The calls behind what is known. */
  private readonly met = new Set<string>();
  private readonly programs = new Map<string, string>();

  constructor(
    private readonly source: Source,
    private readonly program: Program,
    private readonly placeOf: (place: Place) => PlaceOf,
    { findings, work }: Pick<Reading, "findings" | "work">,
    /** Where the file begins that makes the crew. */
    private readonly begin: number,
  ) {
    this.findings = findings;
    this.scope = new CodeScope(program, work);
    this.types = new Declarations(program, work);
  }

  private here(place: Place): Findings {
    return this.findings.of(this.placeOf(place));
  }

  read(): CrewCode {
    const { scope } = this;
    for (const kind of ["agent", "task"] as const)
      for (const routine of scope.decorated(kind)) this.decorated(kind, routine);
    const crews: CodeCrew[] = [];
    const seen = new Set<string>();
    for (const { call } of scope.calls) {
      // `Crew(...).kickoff()` and `Crew(...)` begin at the same place.
      const id = `${call.from}-${call.to}`;
      if (seen.has(id)) continue;
      seen.add(id);
      if (isCallOf(call, "Crew"))
        crews.push(this.crew({ call, names: NO_NAMES, name: null, id: `${call.from}` }));
      else crews.push(...this.alone(call));
    }
    // Agents and tasks that no crew names: what is made of them is decided by who reads this.
    for (const { call, within } of scope.calls)
      for (const kind of ["agent", "task"] as const)
        if (isCallOf(call, ...MAKES[kind]))
          if (!this.met.has(`${kind} ${call.from}`))
            this.part(kind, { call, names: NO_NAMES, name: within?.name ?? null, id: `${call.from}` });
    sayAround(this.scope, (place) => this.here(place), this.programs);
    return {
      source: this.source,
      title: titleOf(scope),
      agents: this.agents,
      tasks: this.tasks,
      crews,
      inputs: inputsOf(scope),
      programs: this.programs,
    };
  }

  private decorated(kind: Kind & ("agent" | "task"), routine: FunctionStatement): void {
    const expr = { is: "name" as const, name: routine.name, from: routine.from, to: routine.to };
    const made = this.scope.made(kind, { expr, names: NO_NAMES });
    if (made) this.part(kind, { ...made, name: routine.name });
    else this.here(routine).dropped("", `What "${routine.name}" makes is decided by code, and was left out.`);
  }

  /** The name of an agent or task, which is read where it is first met. */
  private part(kind: "agent" | "task", made: Made): string {
    const known = this.known.get(`${kind} ${made.id}`);
    if (known !== undefined) return known;
    const parts = kind === "agent" ? this.agents : this.tasks;
    const said = kind === "agent" ? "role" : "name";
    const called = given(made.call, said);
    const wanted =
      (kind === "task" && called ? this.scope.text({ expr: called, names: made.names }) : null) ??
      made.name ??
      (called ? this.scope.text({ expr: called, names: made.names }) : null) ??
      "";
    const name = freshId(toId(wanted) || `${kind}_${parts.size + 1}`, parts);
    this.known.set(`${kind} ${made.id}`, name);
    this.met.add(`${kind} ${made.call.from}`);
    const places = new Map<string, Place>();
    const part: CodePart = {
      name,
      config: null,
      raw: {},
      place: (at) => this.placeOf(places.get(at.split(".")[0] ?? "") ?? made.call)(at),
    };
    parts.set(name, part);
    this.fill(part, made, places);
    if (calledName(made.call) === "ConditionalTask") part.raw.type = "ConditionalTask";
    return name;
  }

  /** Reads what a call is given, by name. */
  private fill(
    part: Pick<CodePart, "raw"> & { config?: string | null },
    made: Made,
    places: Map<string, Place>,
  ) {
    for (const { name, value, isSpread } of made.call.args) {
      const bound = { expr: value, names: made.names };
      const { expr } = this.scope.resolved(bound);
      const isOpen = name === null && (isSpread || expr.is === "record");
      if (name === "config") this.configure(part, bound, places);
      else if (name !== null && name !== "__proto__") {
        const described = configIn(value);
        places.set(name, value);
        const read = described === null ? this.setting(name, bound) : undefined;
        if (described !== null) part.config ??= described;
        if (read !== undefined) part.raw[name] = read;
      } else if (isOpen && expr.is === "record") this.open(part, { expr, names: made.names }, places);
      else
        this.here(value).dropped(
          "",
          `What is given here (${this.text(value)}) is made by code, and was left out.`,
        );
    }
  }

  private open(part: Pick<CodePart, "raw">, { expr, names }: Bound, places: Map<string, Place>): void {
    if (expr.is !== "record") return;
    for (const entry of expr.entries)
      if (!("spread" in entry) && entry.key !== "__proto__") {
        places.set(entry.key, entry.value);
        const read = this.setting(entry.key, { expr: entry.value, names });
        if (read !== undefined) part.raw[entry.key] = read;
      }
  }

  /** `config=self.tasks_config["research"]`: the part of the YAML file; also written in place. */
  private configure(
    part: Pick<CodePart, "raw"> & { config?: string | null },
    bound: Bound,
    places: Map<string, Place>,
  ) {
    const { expr, names } = this.scope.resolved(bound);
    const direct = bound.expr;
    const of = direct.is === "member" ? pathOf(direct.of)?.at(-1) : undefined;
    const key = direct.is === "call" && isCallOf(direct, "get") ? positional(direct, 0) : null;
    const said = key ? this.scope.text({ expr: key, names }) : null;
    if (direct.is === "member" && of && /config/i.test(of)) part.config = direct.key;
    else if (said !== null) part.config = said;
    else if (expr.is === "record") this.open(part, { expr, names }, places);
    else if (expr.is === "member") part.config = expr.key;
    else
      this.here(direct).dropped(
        "",
        `Its description (${this.text(direct)}) is chosen by code, and was left out.`,
      );
  }

  private setting(field: string, bound: Bound): unknown {
    const { scope } = this;
    const { expr } = scope.resolved(bound);
    if (field === "agent" || field === "manager_agent") return this.named("agent", bound);
    if (field === "agents" || field === "context" || field === "tasks") {
      if (expr.is === "nothing") return undefined;
      const kind = field === "agents" ? "agent" : "task";
      const items = scope.items(bound);
      if (items) return items.flatMap((item) => this.named(kind, item) ?? []);
      const one = this.named(kind, bound, true);
      if (one !== undefined) return [one];
      this.here(bound.expr).dropped(
        "",
        `"${field}" (${this.text(bound.expr)}) is made by code, and was left out.`,
      );
      return undefined;
    }
    if (field === "tools") return expr.is === "nothing" ? undefined : this.tools(bound);
    if (field === "process") return pathOf(expr)?.at(-1) ?? scope.text(bound) ?? this.text(expr);
    if (MODELS.has(field)) return this.model(bound);
    if (TYPED.has(field)) {
      const schema = schemaOf(bound.expr, this.types);
      return schema && "properties" in schema
        ? { python: this.text(bound.expr), schema }
        : { python: this.text(expr) };
    }
    if (expr.is === "nothing") return null;
    const text = scope.text(bound);
    if (text !== null) return text;
    const value = jsonOf(expr);
    if (value !== undefined) return value;
    for (const item of scope.items(bound) ?? [bound]) this.keepProgram(item.expr);
    const items = scope.items(bound);
    return items
      ? items.map((item) => scope.text(item) ?? { python: this.text(item.expr) })
      : { python: this.text(bound.expr) };
  }

  private named(kind: "agent" | "task", bound: Bound, isQuiet = false): string | undefined {
    const made = this.scope.made(kind, bound);
    if (made) return this.part(kind, made);
    if (bound.expr.is !== "nothing" && !isQuiet)
      this.here(bound.expr).dropped(
        "",
        `Which ${kind} is meant here (${this.text(bound.expr)}) is decided by code, and was left out.`,
      );
    return undefined;
  }

  private crew(made: Made): CodeCrew {
    const raw: Raw = {};
    const places = new Map<string, Place>();
    const rest = {
      ...made.call,
      args: made.call.args.filter(({ name }) => name !== "tasks" && name !== "agents"),
    };
    this.fill({ raw }, { ...made, call: rest }, places);
    const list = (kind: "agent" | "task") => {
      const field = given(made.call, `${kind}s`);
      const parts = kind === "agent" ? this.agents : this.tasks;
      const isAll = field?.is === "member" && field.key === `${kind}s` && !this.scope.value(field.key);
      const all = () =>
        this.scope
          .decorated(kind)
          .map(({ name }) => name)
          .filter((name) => parts.has(name));
      if (!field || isAll) return all();
      const read = this.setting(`${kind}s`, { expr: field, names: made.names });
      return Array.isArray(read) ? read.filter((name) => typeof name === "string") : all();
    };
    list("agent");
    return {
      raw,
      tasks: list("task"),
      place: (at) => this.placeOf(places.get(at.split(".")[0] ?? "") ?? made.call)(at),
    };
  }

  /** `task.execute()`: a task that works without a crew. */
  private alone(call: CallExpr): CodeCrew[] {
    if (!isCallOf(call, "execute", "execute_sync", "execute_async") || call.callee.is !== "member") return [];
    // Those within tools of other files are no part of the crew.
    if (call.from < this.begin) return [];
    const made = this.scope.made("task", { expr: call.callee.of, names: NO_NAMES });
    return made ? [{ raw: null, tasks: [this.part("task", made)], place: this.placeOf(call) }] : [];
  }

  /** The names of tools; those that this code makes stay as text. */
  private tools(bound: Bound): unknown[] {
    const items = this.scope.items(bound);
    if (!items) return [{ python: this.text(bound.expr) }];
    return items.map((item) => this.tool(item));
  }

  private tool(item: Bound): unknown {
    const { expr } = this.scope.resolved(item);
    const name = (expr.is === "call" ? calledName(expr) : pathOf(expr)?.at(-1)) ?? null;
    const isMadeByMethod = expr.is === "call" && expr.callee.is === "member" && /^[a-z]/.test(name ?? "");
    if (name === null || (isMadeByMethod && !this.scope.functions.has(name)))
      return { python: this.text(item.expr) };
    this.keepProgram(expr.is === "call" ? expr.callee : expr);
    const routine = this.scope.functions.get(name);
    const decorator = routine?.decorators.find((one) => isCallOf(one, "tool"));
    const said = decorator?.is === "call" ? positional(decorator, 0) : null;
    return (said && this.scope.text({ expr: said, names: NO_NAMES })) || name;
  }

  private model(bound: Bound): unknown {
    const text = this.scope.text(bound);
    if (text !== null) return text;
    const { expr, names } = this.scope.resolved(bound);
    const named = expr.is === "call" ? (given(expr, "model", "model_name") ?? positional(expr, 0)) : null;
    const model = named ? this.scope.text({ expr: named, names }) : null;
    return model === null ? { python: this.text(bound.expr) } : { model };
  }

  /** Keeps the code of a function or class of this program that CrewAI would run. */
  private keepProgram(expr: Expr): void {
    const name = pathOf(expr)?.at(-1);
    if (!name) return;
    const declared = this.scope.functions.get(name) ?? this.scope.classes.find((one) => one.name === name);
    if (declared) this.programs.set(name, sourceOf(this.program, declared, MOST_CODE));
  }

  private text(place: Place): string {
    return sourceOf(this.program, place, 120).replace(/\s+/g, " ");
  }
}

/** `tasks_config["research"]["description"]`: research. */
function configIn(expr: Expr): string | null {
  if (expr.is !== "member" || expr.of.is !== "member") return null;
  return /config/i.test(pathOf(expr.of.of)?.at(-1) ?? "") ? expr.of.key : null;
}
