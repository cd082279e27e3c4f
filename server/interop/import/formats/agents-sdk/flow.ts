import type { Findings } from "@/server/domain/base/lenient-reader";
import type { Work } from "@/server/domain/base/work-budget";
import { pathOf } from "../../code/literals";
import { type Expr, type Place, type Program, type Statement, sourceOf } from "../../code/program";
import { bodiesOf, expressionsOf, holds } from "../../code/walk";
import type { Drawing } from "../../drawing";
import { Calls } from "./calls";
import type { Declarations, Routine } from "./declarations";
import { Evaluator, type Names } from "./evaluate";
import type { Ground } from "./ground";
import { exitOf, isFailure, isMain, stops } from "./habits";
import { type Frame, Loops } from "./loops";
import type { Members } from "./members";
import { changingNames, isQuiet, mergeNames } from "./names";
import { drawRouter, freshLabel, OTHERWISE } from "./router";
import { State } from "./state";
import { type End, Trail } from "./trail";
import { joinedMessages, NO_MESSAGES, namedAs, type Value } from "./values";

/** Draws what a program does, statement for statement: what it runs, decides, remembers and gives. */
export class Flow implements Ground {
  readonly work: Work;
  readonly trail: Trail;
  readonly state: State;
  readonly calls: Calls;
  readonly evaluator: Evaluator;
  private readonly loops: Loops;
  title: string | null = null;
  readonly maybe = new Set<string>();
  private changing = new Set<string>();
  private loop: Frame | null = null;
  /** Of a function that stands in place of its call: what it returns, and where it goes on. */
  private inside: { ends: End[]; values: Value[] } | null = null;
  private readonly program: Program;

  constructor(
    readonly declarations: Declarations,
    readonly members: Members,
    readonly drawing: Drawing,
    readonly findings: (place: Place) => Findings,
  ) {
    this.work = declarations.work;
    this.program = declarations.program;
    this.trail = new Trail(drawing);
    this.state = new State(this);
    this.calls = new Calls(this);
    this.loops = new Loops(this);
    this.evaluator = new Evaluator({
      declarations,
      work: this.work,
      inputKey: (name) => this.state.inputKey(name),
      stateKey: (name) => this.state.stateKey(name),
      settle: (unknown) => this.state.settle(unknown),
      call: (call, names, wanted) => this.calls.value(call, names, wanted),
    });
  }

  /** Draws from here on, with the names that are known. */
  draw(body: readonly Statement[], names: Names): void {
    this.changing = changingNames(body, (expr) => this.calls.acts(expr));
    this.walk(body, names);
    if (this.trail.isOpen) this.state.endOpen();
  }

  source(place: Place, most = 300): string {
    return sourceOf(this.program, place, most);
  }

  answersAt(nodes: readonly (string | null)[]): string[][] {
    return this.calls.answersAt(nodes);
  }

  /** Draws a function in place of its call, and gives what it returns. */
  inline(routine: Pick<Routine, "body">, names: Names, place: Place): Value {
    const before = { inside: this.inside, loop: this.loop, changing: this.changing };
    const frame: { ends: End[]; values: Value[] } = { ends: [], values: [] };
    this.inside = frame;
    this.loop = null;
    const own = changingNames(routine.body, (expr) => this.calls.acts(expr));
    this.changing = new Set([...before.changing, ...own]);
    this.walk(routine.body, names);
    this.inside = before.inside;
    this.loop = before.loop;
    this.changing = before.changing;
    this.trail.openEnds(frame.ends);
    const [first, ...more] = frame.values;
    return first && more.length === 0
      ? first
      : { is: "unknown", unknown: { name: "result", ...place }, path: [] };
  }

  /** Walks through the body of a loop, and gives where `break` and `continue` lead from inside. */
  body(statements: readonly Statement[], names: Names): Frame {
    const before = this.loop;
    const frame: Frame = { breaks: [], goesOn: [] };
    this.loop = frame;
    this.walk(statements, names);
    this.loop = before;
    return frame;
  }

  private walk(statements: readonly Statement[], names: Names): void {
    for (const statement of statements) {
      if (!this.trail.isOpen) return;
      this.statement(statement, names);
    }
  }

  private statement(statement: Statement, names: Names): void {
    this.work.spend(1);
    switch (statement.is) {
      case "assign":
        return this.assign(statement, names);
      case "take": {
        const value = this.evaluator.value(statement.value, names, "result");
        for (const { key, name } of statement.names)
          names.set(
            name,
            this.evaluator.member(value, key) ?? { is: "unknown", unknown: { name, ...statement }, path: [] },
          );
        return;
      }
      case "do":
        return this.do(statement.value, names);
      case "if":
        return this.if(statement, names);
      case "while":
        return this.loops.while(statement, names);
      case "for":
        return this.loops.for(statement, names);
      case "return":
        return this.return(statement.value, names, statement);
      case "throw":
        return this.fail();
      case "break":
        this.loop?.breaks.push(...this.trail.take());
        return;
      case "continue":
        this.loop?.goesOn.push(...this.trail.take());
        return;
      case "block":
        for (const head of statement.head) this.calls.enter(head);
        return this.walk(statement.body, names);
      case "other":
        return this.leaveOut(statement);
      default:
        return;
    }
  }

  private fail(): void {
    this.trail.end({ name: "Failed", config: { status: "ERROR" } });
  }

  private leaveOut(place: Place, why = "This was left out"): void {
    this.findings(place).dropped("", `${why}: ${this.source(place, 120).replace(/\s+/g, " ")}`);
  }

  private assign(statement: Extract<Statement, { is: "assign" }>, names: Names): void {
    const { target, operator } = statement;
    if (this.calls.declares(statement.value)) return;
    const value: Expr =
      operator === "="
        ? statement.value
        : {
            is: "binary",
            operator: operator === "+=" ? "+" : "-",
            left: target,
            right: statement.value,
            from: statement.from,
            to: statement.to,
          };
    if (target.is === "name") {
      const { name } = target;
      if (name === "state" && value.is === "record") {
        this.state.begin(value, names);
        names.set(name, { is: "state" });
        return;
      }
      const said = namedAs(name, this.evaluator.value(value, names, name));
      if (this.changing.has(name) && said.is !== "messages") {
        const key = this.state.keys.of(`name ${name}`, name);
        this.state.set(key, said, statement);
        names.set(name, { is: "path", key, path: [] });
      } else names.set(name, this.state.kept(name, value, said));
      return;
    }
    if (target.is === "member") {
      const of = this.evaluator.value(target.of, names);
      if (of.is === "agent") return;
      const key =
        of.is === "state"
          ? this.state.stateKey(target.key).key
          : of.is === "inputs"
            ? this.state.inputKey(target.key)
            : null;
      if (key !== null) return this.state.set(key, this.evaluator.value(value, names, target.key), statement);
    }
    this.leaveOut(statement, "What is set here was left out");
  }

  private do(value: Expr, names: Names): void {
    const exit = exitOf(value);
    if (exit !== null) return exit === 0 ? this.state.endOpen() : this.fail();
    if (value.is === "text" || this.calls.isQuiet(value)) return;
    if (
      value.is === "call" &&
      value.callee.is === "member" &&
      /^(push|append|extend|insert)$/.test(value.callee.key)
    ) {
      const { of } = value.callee;
      if (of.is === "member" && of.key === "handoffs") return;
      const list = this.evaluator.value(of, names);
      if (list.is === "messages" && of.is === "name") {
        const said = value.args.map(({ value: one, isSpread }) => this.said(one, isSpread, names));
        const messages = joinedMessages([list.messages, ...said], this.work);
        names.set(of.name, { is: "messages", messages });
        return;
      }
    }
    if (!holds(value, (one) => this.calls.acts(one))) {
      if (value.is === "call") this.leaveOut(value, "This call was left out");
      return;
    }
    this.evaluator.value(value, names, "result");
  }

  /** What is put behind a conversation: words, or what an agent said. */
  private said(expr: Expr, isSpread: boolean, names: Names) {
    const mapped =
      expr.is === "call" && expr.callee.is === "member" && expr.callee.key === "map" ? expr.callee.of : expr;
    // `[item.to_input_item() for item in x.new_items]` stays text for the reader of code; x tells enough.
    const source =
      expr.is === "other" ? /\bin\s+([A-Za-z_]\w*)\.(new_items|newItems)/.exec(this.source(expr)) : null;
    const run = source?.[1] === undefined ? undefined : names.get(source[1]);
    const value =
      run?.is === "run" ? this.evaluator.member(run, "new_items") : this.evaluator.value(mapped, names);
    return (
      (value && (this.evaluator.message(value) ?? (isSpread ? null : this.evaluator.message(value)))) ??
      NO_MESSAGES
    );
  }

  /** Whether a statement is one that a drawing shows. */
  readonly acts = (statement: Statement): boolean => {
    if (expressionsOf(statement).some((expr) => holds(expr, (one) => this.calls.acts(one)))) return true;
    if (statement.is === "assign")
      return (
        statement.target.is === "member" ||
        (statement.target.is === "name" && this.changing.has(statement.target.name))
      );
    return (
      statement.is === "do" &&
      statement.value.is === "call" &&
      /\.(push|append|extend)$/.test((pathOf(statement.value.callee) ?? []).join("."))
    );
  };

  private if(statement: Extract<Statement, { is: "if" }>, names: Names): void {
    const { branches, otherwise } = statement;
    const [only] = branches;
    if (only && branches.length === 1 && otherwise.length === 0 && isFailure(only.test, only.body)) return;
    if (only && branches.length === 1 && this.calls.isSetup(only.test, only.body))
      return this.walk(otherwise, names);
    // Where no agent has run yet, a program that stops lacks what it needs itself.
    if (only && branches.length === 1 && this.calls.runs.length === 0 && stops(only.body))
      return this.walk(otherwise, names);
    if (only && this.asksToApprove(only.test, statement)) return this.walk(otherwise, names);
    if (only && isMain(only.test)) return this.walk(only.body, names);
    if (isQuiet(bodiesOf(statement).flat(), this.acts)) return;
    const ways: { label: string; when: string | null; test: Expr; body: readonly Statement[] }[] = [];
    let rest = otherwise;
    for (const { test, body } of branches) {
      const when = this.evaluator.condition(test, names);
      if (when === false) continue;
      if (when === true) {
        rest = body;
        break;
      }
      ways.push({ label: freshLabel(this.calls.labelOf(test), ways), when, test, body });
    }
    if (ways.length === 0) return this.walk(rest, names);
    const isApproval = only !== undefined && branches.length === 1 && this.calls.isApproval(only.test);
    const other = isApproval ? "reject" : OTHERWISE;
    const id = drawRouter(this, ways, statement, isApproval ? { name: "Approved?", otherwise: other } : {});
    const after: { names: Names; ends: End[] }[] = [];
    const follow = (body: readonly Statement[], end: End) => {
      const own = new Map(names);
      this.trail.openEnds([end]);
      this.walk(body, own);
      if (this.trail.isOpen) after.push({ names: own, ends: this.trail.take() });
    };
    this.trail.take();
    for (const { label, body } of ways) follow(body, { from: id, label });
    follow(rest, { from: id, label: other, isDefault: true });
    this.trail.openEnds(after.flatMap(({ ends }) => ends));
    mergeNames(
      names,
      after.map((one) => one.names),
      statement,
      this,
    );
  }

  /** Tools that wait for a person's yes: here a role says which ones do. */
  asksToApprove(about: Expr, place: Place): boolean {
    if (!holds(about, (expr) => expr.is === "member" && /^(interruptions|getInterruptions)$/.test(expr.key)))
      return false;
    this.findings(place).dropped(
      "",
      "Here people approved calls of tools. Set the confirmation of the role instead: it asks them.",
    );
    return true;
  }

  private return(value: Expr | null, names: Names, place: Place): void {
    const block = value ? this.calls.blockOf(value) : null;
    if (block) return this.walk(block, names);
    const said = value ? this.evaluator.value(value, names, "result") : null;
    if (!this.trail.isOpen) return;
    if (this.inside) {
      this.inside.ends.push(...this.trail.take());
      this.inside.values.push(said ?? { is: "json", value: null });
      return;
    }
    this.state.end(said, place);
  }
}
