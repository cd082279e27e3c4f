import { Findings, type PlaceOf } from "@/server/domain/base/lenient-reader";
import { type Bound, Evaluator, NO_SCOPE } from "../../code/evaluator";
import { readFiles } from "../../code/files";
import { calledName, isCallOf, jsonOf, pathOf } from "../../code/literals";
import type { ClassStatement, Entry, Expr, Place, RecordExpr } from "../../code/program";
import { readPython } from "../../code/python";
import { type Claim, type Imported, nothingImported, type ReadableFormat, type Reading } from "../../format";
import { walk } from "../../parse";
import { RoleRegistry } from "../../role-registry";
import { newSource, type Source } from "../../source";
import { troupeRoles, troupeTeams, troupeWorkflow } from "../troupe";

const RECORDS =
  /^(RoleDefinition|AgentConfig|ExecutionPlan|Task|ProjectContext|WorkflowGraph|WorkflowNode|WorkflowEdge)$/;
const MAKES = /\b(RoleDefinition|AgentConfig|ExecutionPlan|WorkflowGraph)\s*\(/;
const DECLARES = /^class[ \t]+\w+[ \t]*\([^()\n]*\b(AbstractBaseAgent|ToolInterface|Role)\b/m;
/** The first line of a dict or list, written alone or given to a name. */
const HOLDS = /^(?:\w{1,100}[ \t]{0,9}(?::[^=\n]{1,200})?=[ \t]{0,9})?[[{]/;

const firstLineOf = (text: string): string =>
  text
    .split("\n")
    .map((line) => line.trim())
    .find((line) => line !== "" && !line.startsWith("#")) ?? "";

const isPythonText = ({ path, value, text }: Source): boolean =>
  value === undefined && (path === "" || /\.py$/i.test(path)) && !/^[ \t]*```/m.test(text);

/**
 * Roles, agents, plans and workflows of OpenHands as Python writes them: calls of its classes, dicts, and classes of
 * agents. Values are read, and nothing runs.
 */
export const openHandsPython: ReadableFormat = {
  id: "openhands-python",
  label: "OpenHands code in Python",
  recognise: (sources) =>
    sources.filter(isPythonText).flatMap((source): Claim[] => {
      const { text } = source;
      if (MAKES.test(text) || DECLARES.test(text)) return [{ sure: 2, files: [source] }];
      const isBrokenJson = source.problem !== undefined && !/['#]|\b(?:True|False|None)\b/.test(text);
      return HOLDS.test(firstLineOf(text)) && !isBrokenJson ? [{ sure: 1, files: [source] }] : [];
    }),
  read(reading) {
    const [source] = reading.claim.files;
    const quiet = { findings: new Findings(), work: reading.work };
    const joined = source && readFiles([source], readPython, quiet, "error");
    if (!source || !joined || joined.program.syntaxErrors.length > 0) {
      const problem = source?.problem ?? quiet.findings.list[0]?.message;
      reading.findings.error("", problem ?? "The code could not be parsed.");
      return nothingImported();
    }
    return new PythonRecords(
      source,
      new Evaluator(joined.program, reading.work),
      joined.placeOf,
      reading,
    ).read();
  },
};

class PythonRecords {
  private readonly used = new Set<Expr>();

  constructor(
    private readonly source: Source,
    private readonly evaluator: Evaluator,
    private readonly placeOf: (place: Place) => PlaceOf,
    private readonly reading: Reading,
  ) {}

  private report(place: Place): Findings {
    return this.reading.findings.of(this.placeOf(place));
  }

  read(): Imported {
    const { evaluator } = this;
    const graphs = this.calls("WorkflowGraph");
    const plans = this.calls("ExecutionPlan");
    const roles = this.calls("RoleDefinition");
    const agents = this.calls("AgentConfig");
    const tasks = this.calls("Task");
    const { from, to } = evaluator.program.body[0] ?? { from: 0, to: 0 };
    const list = (items: Expr[]): Expr => ({ is: "list", items, from, to });
    const record = (parts: Record<string, Expr[]>): RecordExpr => ({
      is: "record",
      entries: Object.entries(parts).flatMap(([key, items]) =>
        items.length > 0 ? { key, value: list(items) } : [],
      ),
      from,
      to,
    });
    const known = record({ roles }).entries;
    const [plan = tasks.length > 0 ? record({ tasks }) : null] = plans;
    const [whole] = [
      ...graphs,
      ...(plan?.is === "record" ? [{ ...plan, entries: [...plan.entries, ...known] }] : []),
      ...this.literals(),
    ];
    const parts = [
      ...(whole ? [whole] : []),
      ...(agents.length > 0 ? [record({ roles, agents })] : roles.length > 0 ? [record({ roles })] : []),
    ];
    const imported = [...parts.map((part) => this.imported(part)), this.classes()];
    if (
      imported.every(
        ({ graph, roles, agents, crews }) => !graph && roles.length + agents.length + crews.length === 0,
      )
    )
      this.reading.findings.error("", "No workflow, plan, role or agent was found in the code.");
    return merged(imported);
  }

  /** What calls of a class make, but for those in another's. */
  private calls(name: string): Expr[] {
    return this.evaluator.calls.flatMap(({ call }) =>
      isCallOf(call, name) && !this.used.has(call)
        ? (this.literal({ expr: call, scope: NO_SCOPE }) ?? [])
        : [],
    );
  }

  /** Dicts and lists that hold nothing but written values. */
  private literals(): Expr[] {
    return this.evaluator.program.body.flatMap((statement) => {
      const value = statement.is === "assign" || statement.is === "do" ? statement.value : null;
      const isOpen = value?.is !== "record" && value?.is !== "list";
      return isOpen || jsonOf(value) === undefined ? [] : [value];
    });
  }

  /** An expression with calls of records as the dicts that they are; null, with a finding, where only code can tell it. */
  private literal(bound: Bound): Expr | null {
    const { evaluator } = this;
    const text = evaluator.text(bound);
    const { expr, scope } = evaluator.resolve(bound);
    const { from, to } = expr;
    if (text !== null) return { is: "text", parts: [text], from, to };
    const inner = (one: Expr) => this.literal({ expr: one, scope });
    if (expr.is === "number" || expr.is === "boolean" || expr.is === "nothing") return expr;
    if (expr.is === "list") {
      const items = evaluator.items({ expr, scope }) ?? [];
      return { is: "list", items: items.flatMap((item) => this.literal(item) ?? []), from, to };
    }
    if (expr.is === "record") return { ...expr, entries: this.entries(expr, inner) };
    if (expr.is === "call" && RECORDS.test(calledName(expr) ?? "")) {
      this.used.add(expr);
      const entries = expr.args.flatMap(({ name, value, isSpread }): Entry[] => {
        const given = inner(value);
        if (isSpread) return given?.is === "record" ? given.entries.filter((one) => "key" in one) : [];
        return name === null || given === null ? [] : [{ key: name, value: given }];
      });
      return { is: "record", entries, from, to };
    }
    const [first] = isCallOf(expr, "dumps") && expr.is === "call" ? expr.args : [];
    const dumped = first && inner(first.value);
    if (dumped) return { is: "text", parts: [JSON.stringify(jsonOf(dumped) ?? null)], from, to };
    // `TaskStatus.PENDING`
    const path = pathOf(expr);
    const last = path?.at(-1) ?? "";
    if (path && path.length > 1 && /^[A-Z][A-Z_]*$/.test(last))
      return { is: "text", parts: [last.toLowerCase()], from, to };
    this.report(expr).dropped("", "This value is computed in code, so it was left out.");
    return null;
  }

  private entries(record: RecordExpr, inner: (one: Expr) => Expr | null): Entry[] {
    return record.entries.flatMap((entry): Entry[] => {
      const value = "spread" in entry ? null : inner(entry.value);
      if ("spread" in entry)
        this.report(entry.spread).dropped("", "This key is computed in code, so its value was left out.");
      return "spread" in entry || value === null ? [] : [{ key: entry.key, value }];
    });
  }

  /** Reads what a dict holds as if it were JSON, with the lines of the code. */
  private imported(record: Expr): Imported {
    const { reading } = this;
    const own = new Findings();
    const json = newSource({ path: "", text: JSON.stringify(jsonOf(record) ?? null) }, own);
    const place: PlaceOf = (at) => ({ ...this.placeOf(walk<Expr>(record, at, childrenOf))(at), at });
    const source: Source = {
      ...json,
      path: this.source.path,
      name: this.source.name,
      lineOf: (at) => place(at).line,
      on: (findings, under = "") => findings.of(place).under(under),
    };
    for (const { level, at, message } of own.all()) source.on(reading.findings).add(level, at, message);
    const format = [troupeWorkflow, troupeTeams, troupeRoles].find(
      (one) => one.recognise([source]).length > 0,
    );
    return format?.read({ ...reading, claim: { sure: 2, files: [source] } }) ?? nothingImported();
  }

  /** Classes of agents become roles; what their methods do is code. */
  private classes(): Imported {
    const registry = new RoleRegistry();
    for (const one of this.evaluator.classes.values()) {
      const bases = one.bases.map((base) => pathOf(base)?.at(-1));
      if (bases.includes("ToolInterface")) this.dropTool(one);
      else if (bases.includes("AbstractBaseAgent") || bases.includes("Role")) this.addRole(one, registry);
    }
    return registry.imported(registry.roles[0]?.name ?? "");
  }

  private addRole(declared: ClassStatement, registry: RoleRegistry): void {
    const report = this.report(declared);
    const role = registry.add({ name: declared.name, description: docstringOf(declared) });
    const used = this.evaluator.calls.flatMap(({ call }) => {
      const isInside = declared.from <= call.from && call.to <= declared.to;
      const tool =
        isInside && isCallOf(call, "_use_tool") && this.evaluator.positional({ expr: call, scope: NO_SCOPE });
      return (tool && this.evaluator.text(tool)) || [];
    });
    registry.wants(role, used, "", report);
    const methods = declared.body.flatMap((one) => (one.is === "function" ? `"${one.name}"` : []));
    report.placeholder(
      "",
      `The class "${declared.name}" became a role. Its code (${methods.join(", ") || "none"}) was left out: describe in the role what it does.`,
    );
  }

  private dropTool(declared: ClassStatement): void {
    const given = (name: string) => {
      const method = declared.body.find((one) => one.is === "function" && one.name === name);
      const returned = method?.is === "function" ? method.body.find((one) => one.is === "return") : undefined;
      const value = returned?.is === "return" ? returned.value : entryField(declared, name);
      return value ? this.evaluator.text({ expr: value, scope: NO_SCOPE }) : null;
    };
    this.report(declared).dropped(
      "",
      `"${given("name") ?? declared.name}" is a tool in code. Imports never add tools: declare it in the file that TROUPE_TOOLS_FILE names (see server/tools/operator/README.md).`,
    );
  }
}

const entryField = ({ fields }: ClassStatement, name: string): Expr | null =>
  fields.find((field) => field.name === name)?.value ?? null;

function docstringOf({ body }: ClassStatement): string {
  const [first] = body;
  const [text] = first?.is === "do" && first.value.is === "text" ? first.value.parts : [];
  return typeof text === "string" ? text.trim() : "";
}

function* childrenOf(expr: Expr): Iterable<[string, Expr, Expr]> {
  if (expr.is === "list")
    for (const [at, item] of expr.items.entries()) if ("is" in item) yield [String(at), item, item];
  if (expr.is === "record")
    for (const entry of expr.entries) if ("key" in entry) yield [entry.key, entry.value, entry.value];
}

/** What the parts of one program bring together; a role that is described wins over one that a plan only names. */
function merged(all: readonly Imported[]): Imported {
  const roles = new Map(all.flatMap((one) => one.roles).map((role) => [role.name, role]));
  return {
    ...nothingImported(all.find(({ name }) => name !== "")?.name),
    graph: all.find(({ graph }) => graph)?.graph ?? null,
    roles: [...roles.values()],
    agents: all.flatMap((one) => one.agents),
    crews: all.flatMap((one) => one.crews),
    tools: all.flatMap((one) => one.tools),
  };
}
