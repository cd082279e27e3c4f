import type { Findings } from "@/server/domain/base/lenient-reader";
import type { Bound, Evaluator, Routine } from "../../code/evaluator";
import { calledName, isCallOf, pathOf } from "../../code/literals";
import {
  type Branch,
  type CallExpr,
  type Expr,
  type Place,
  type Statement,
  sourceOf,
} from "../../code/program";
import { expressionsOf, visitParts } from "../../code/walk";
import type { Method } from "./flow-method";
import { FlowExpressions, type KnownValues, stateField } from "./python-expression";
import { MOST_CODE } from "./surrounding-code";

/** What a call asks a crew, an agent or a model to do. */
export type Ask = Pick<Method, "action" | "crew">;

export interface MethodContext extends Pick<KnownValues, "constant" | "typeOf"> {
  evaluator: Evaluator;
  report: (place: Place) => Findings;
  /** Whether a call asks somebody. */
  asks: (call: Bound<CallExpr>) => boolean;
  /** Null where code decides what it does. */
  ask: (call: Bound<CallExpr>, write: FlowExpressions) => Ask | null;
}

/** What code that asks nobody does: its variables, what it writes to the state, and what it returns. */
interface Values {
  locals: ReadonlyMap<string, string>;
  writes: ReadonlyMap<string, string>;
  returned: string | null;
}

/** What follows an `if` is followed once for each of its branches: at most so many statements in all. */
const MOST_FOLLOWED = 300;
const WRITES_FIELD =
  /\bself\.state(?:\.(\w+)|\[["'](\w+)["']\])[ \t]*(?:[-+*/|]?=(?!=)|\.(?:append|extend|update)\()/g;

/**
 * Follows the body of a flow's method: what it asks crews, agents and models, and the values that it computes, each as
 * a step. Code that can't be followed becomes an empty step in its place.
 */
export class MethodBody {
  private readonly steps: Method[] = [];
  private readonly scope = new Map<string, Bound>();
  private readonly calls = new Map<Expr, string>();
  private readonly answers = new Set<string>();
  private values: Values = { locals: new Map(), writes: new Map(), returned: null };
  private followed = 0;

  /** `given`: what its first parameter stands for. */
  constructor(
    private readonly routine: Routine,
    private readonly context: MethodContext,
    given: string | null,
  ) {
    const names = routine.params.map(({ name }) => name).filter((name) => name !== "self");
    for (const name of names) this.hide(name, routine);
    const [first] = names;
    if (first !== undefined && given !== null)
      this.values = { ...this.values, locals: new Map([[first, given]]) };
  }

  /** Its steps in order. The last has the method's name: what it gives is what the method gives. */
  read(): Method[] {
    const { body, name } = this.routine;
    for (const [at, statement] of body.entries()) {
      this.followed = 0;
      const rest = this.follow(body.slice(at), this.values);
      if (rest) {
        this.values = rest;
        break;
      }
      this.statement(statement);
    }
    const { writes, returned } = this.values;
    const last = this.steps.at(-1);
    const answer = last && `outputs.${last.name}`;
    if (last && writes.size === 0 && (returned === null || returned === answer)) last.name = name;
    else this.compute(name, returned ?? answer ?? "null");
    return this.steps;
  }

  private expressions({ locals, writes } = this.values): FlowExpressions {
    const { calls, answers, scope } = this;
    const { evaluator, constant, typeOf } = this.context;
    return new FlowExpressions({
      program: evaluator.program,
      locals,
      scope,
      writes,
      calls,
      answers,
      constant,
      typeOf,
    });
  }

  /** A statement that doesn't only compute values. */
  private statement(statement: Statement): void {
    for (const call of statement.is === "block" ? [] : this.asksIn(statement)) {
      const ask = this.context.ask({ expr: call, scope: this.scope }, this.expressions());
      if (ask === null) return this.code(statement);
      this.flush();
      const name = this.nextName();
      this.add(name, call, ask);
      this.calls.set(call, `outputs.${name}`);
      this.answers.add(`outputs.${name}`);
    }
    const done = statement.is === "block" ? null : this.follow([statement], this.values);
    if (done) this.values = done;
    else this.code(statement);
  }

  /** What statements compute; null where one of them does more, or something that only Python can tell. */
  private follow(statements: readonly Statement[], before: Values): Values | null {
    let values: Values | null = before;
    for (const [at, statement] of statements.entries()) {
      if (!values || ++this.followed > MOST_FOLLOWED) return null;
      if (this.isSilent(statement)) continue;
      if (statement.is === "return") {
        const returned = statement.value ? this.expressions(values).value(statement.value) : "null";
        return returned === null ? null : { ...values, returned };
      }
      if (statement.is === "block")
        return statement.branches ? this.choose(statement.branches, statements.slice(at + 1), values) : null;
      values = this.assigned(statement, values);
    }
    return values;
  }

  /** An `if` with what follows it: each value depends on which branch is taken. */
  private choose(branches: readonly Branch[], rest: readonly Statement[], values: Values): Values | null {
    const [branch, ...others] = branches;
    if (!branch?.test) return this.follow([...(branch?.body ?? []), ...rest], values);
    const write = this.expressions(values);
    const test = write.test(branch.test);
    const yes = test === null ? null : this.follow([...branch.body, ...rest], values);
    const no = yes && this.choose(others, rest, values);
    if (!yes || !no) return null;
    const either = (one: string | null, other: string | null) =>
      one === other ? one : write.choice(test, one ?? "null", other ?? "null");
    const fields = new Set([...yes.writes.keys(), ...no.writes.keys()]);
    const writes = [...fields].map((field) => {
      const [one, other] = [yes, no].map((way) => way.writes.get(field) ?? `state.${field}`);
      return [field, either(one ?? null, other ?? null) ?? "null"] as const;
    });
    return { locals: values.locals, writes: new Map(writes), returned: either(yes.returned, no.returned) };
  }

  private assigned(statement: Statement, values: Values): Values | null {
    const write = this.expressions(values);
    const { locals, writes } = values;
    if (statement.is === "do") {
      if (this.calls.has(statement.value)) return values;
      const added = this.addition(statement, write);
      return added && { ...values, writes: new Map([...writes, added]) };
    }
    if (statement.is !== "assign") return null;
    const { target, value } = statement;
    const field = stateField(target);
    const written = write.value(value);
    if (field !== null)
      return written === null ? null : { ...values, writes: new Map([...writes, [field, written]]) };
    if (target.is !== "name") return null;
    if (written === null && !makesPart(value)) return null;
    this.scope.set(target.name, { expr: value, scope: this.scope });
    const rest = [...locals].filter(([name]) => name !== target.name);
    return { ...values, locals: new Map(written === null ? rest : [...rest, [target.name, written]]) };
  }

  /** `self.state.x += value`, `self.state.x.append(value)` */
  private addition(
    { from, value }: Extract<Statement, { is: "do" }>,
    write: FlowExpressions,
  ): [string, string] | null {
    const { text } = this.context.evaluator.program;
    const added = /^self\.state(?:\.(\w+)|\[["'](\w+)["']\])[ \t]*([+-])=\s*$/.exec(
      text.slice(from, value.from),
    );
    const target = isCallOf(value, "append") && value.callee.is === "member" ? value.callee.of : null;
    const field = added?.[1] ?? added?.[2] ?? (target && stateField(target));
    const [item] = value.is === "call" ? value.args : [];
    const operand = write.value(target && item ? item.value : value);
    if (!field || operand === null || (!added && !target)) return null;
    const before = write.field(field);
    return [field, added ? `(${before} ${added[3]} ${operand})` : `(${before} + [${operand}])`];
  }

  private asksIn(statement: Statement): CallExpr[] {
    const calls: CallExpr[] = [];
    for (const expr of expressionsOf(statement))
      visitParts(expr, (one) => {
        if (one.is === "call" && !this.calls.has(one) && this.context.asks({ expr: one, scope: this.scope }))
          calls.push(one);
        return one.is !== "function";
      });
    return calls;
  }

  /** Docstrings, and what only shows something to who runs the code. */
  private isSilent(statement: Statement): boolean {
    if (statement.is === "import") return true;
    if (this.asksIn(statement).length > 0) return false;
    if (statement.is === "block" && statement.branches)
      return statement.body.every((one) => this.isSilent(one));
    if (statement.is !== "do") return false;
    const { value } = statement;
    const path = value.is === "call" ? pathOf(value.callee) : null;
    if (path?.length === 1) return path[0] === "print";
    return value.is === "text" || /^(logger|logging|log|console)$/.test(path?.at(-2) ?? "");
  }

  private nextName(): string {
    return `${this.routine.name}_step_${this.steps.length + 1}`;
  }

  private add(name: string, place: Place, step: Pick<Method, "action"> & Partial<Method>): void {
    this.steps.push({
      name,
      raw: {},
      report: this.context.report(place),
      start: null,
      listen: null,
      isRouter: false,
      emit: [],
      feedback: null,
      outcomes: [],
      code: sourceOf(this.context.evaluator.program, place, MOST_CODE),
      ...step,
    });
  }

  /** A step for the values that were computed so far. `expr`: what it gives. */
  private compute(name: string, expr: string | null): void {
    const { writes } = this.values;
    this.add(name, this.routine, { action: { call: "expression", expr }, writes });
    // Variables that were made of what the state was before.
    const stays = ([, value]: [string, string]) =>
      ![...value.matchAll(/\bstate\.(\w+)/g)].some(([, field]) => field !== undefined && writes.has(field));
    this.values = {
      ...this.values,
      writes: new Map(),
      locals: new Map([...this.values.locals].filter(stays)),
    };
  }

  private flush(): void {
    if (this.values.writes.size > 0) this.compute(this.nextName(), null);
  }

  /** An empty step for a statement, with its code; statements next to one another are one step. */
  private code(statement: Statement): void {
    this.flush();
    const { program } = this.context.evaluator;
    const last = this.steps.at(-1);
    const text = sourceOf(program, statement, MOST_CODE);
    const fields = [...text.matchAll(WRITES_FIELD)];
    const writes = fields.map(([, field, key = ""]) => [field ?? key, ""] as const);
    if (last?.action.call === "script") {
      last.code = `${last.code}\n${text}`;
      last.writes = new Map([...(last.writes ?? []), ...writes]);
    } else this.add(this.nextName(), statement, { action: { call: "script" }, writes: new Map(writes) });
    for (const name of namesSetIn(statement)) this.hide(name, statement);
  }

  /** From here on, nobody knows what a variable is. */
  private hide(name: string, { from, to }: Place): void {
    this.scope.set(name, { expr: { is: "other", from, to }, scope: this.scope });
    this.values = {
      ...this.values,
      locals: new Map([...this.values.locals].filter(([one]) => one !== name)),
    };
  }
}

/** `Agent(...)`, `PoemCrew().crew()`: what is only made here. */
const makesPart = (value: Expr): boolean => /^([A-Z]|crew$)/.test(calledName(value) ?? "");

const namesSetIn = (statement: Statement): string[] =>
  statement.is === "assign" && statement.target.is === "name"
    ? [statement.target.name]
    : statement.is === "block"
      ? statement.body.flatMap(namesSetIn)
      : [];

/** The labels that a method's code returns, as far as they are written. */
export const labelsIn = (statements: readonly Statement[]): string[] =>
  statements.flatMap((statement) => {
    if (statement.is === "block") return labelsIn(statement.body);
    const value = statement.is === "return" ? statement.value : null;
    return textsOf(value);
  });

function textsOf(value: Expr | null | undefined): string[] {
  if (value?.is === "operation" && value.operands.length === 3)
    return [...textsOf(value.operands[0]), ...textsOf(value.operands[2])];
  const [text] = value?.is === "text" && value.parts.length === 1 ? value.parts : [];
  return typeof text === "string" ? [text] : [];
}
