import { isRaw } from "@/server/domain/base/lenient-reader";
import type { Expr, Place, Statement } from "../../code/program";
import type { Calls } from "./calls";
import type { Names } from "./evaluate";
import type { Ground } from "./ground";
import { isStream } from "./habits";
import { isQuiet, mergeNames, namesSet } from "./names";
import { drawRouter } from "./router";
import type { State } from "./state";
import type { End } from "./trail";
import { answerKeys, celOf, schemaOfValue, type Value } from "./values";

/** Where `break` and `continue` lead from inside of a loop. */
export interface Frame {
  breaks: End[];
  goesOn: End[];
}

/** Whoever walks through the statements around a loop and inside of it. */
interface Walker extends Ground {
  readonly state: State;
  readonly calls: Calls;
  /** Whether a statement is one that a drawing shows. */
  readonly acts: (statement: Statement) => boolean;
  asksToApprove(about: Expr, place: Place): boolean;
  body(statements: readonly Statement[], names: Names): Frame;
}

const MOST_ROUNDS = 25;

const AGAIN = "again";
const DONE = "done";

/** Draws loops: a router in front of the body, and an edge back to it. */
export class Loops {
  constructor(private readonly flow: Walker) {}

  while(statement: Extract<Statement, { is: "while" }>, names: Names): void {
    if (isQuiet(statement.body, this.flow.acts) || this.flow.asksToApprove(statement.test, statement)) return;
    const isEndless = statement.test.is === "boolean" && statement.test.value;
    if (isEndless && this.flow.calls.asksOnTheWay(statement.body)) {
      this.flow
        .findings(statement)
        .changed(
          "",
          "The conversation goes round for each message; here a run is one message, so that its steps stand there once.",
        );
      const frame = this.flow.body(statement.body, names);
      this.flow.trail.openEnds([...frame.breaks, ...frame.goesOn]);
      return;
    }
    if (statement.isAfter)
      this.flow
        .findings(statement)
        .changed(
          "",
          "What is done before its condition is asked stands behind the condition here; check the loop.",
        );
    const when = this.flow.evaluator.condition(statement.test, names);
    this.round(statement, when === true ? "true" : when === false ? "false" : when, statement.test, names);
  }

  /** A router that leads into the body as long as its condition holds, and an edge back to it. */
  private round(
    statement: { body: readonly Statement[] } & Place,
    when: string | null,
    test: Expr,
    names: Names,
    { begin, step }: { begin?: () => void; step?: () => void } = {},
  ): void {
    const id = drawRouter(this.flow, [{ label: AGAIN, when, test }], statement, {
      max_iterations: MOST_ROUNDS,
      name: "Again?",
      otherwise: DONE,
    });
    this.flow
      .findings(statement)
      .changed("", `The loop goes round at most ${MOST_ROUNDS} times; change that at "Again?".`, id);
    const own = new Map(names);
    const known = this.flow.calls.runs.length;
    const sure = this.written();
    this.flow.trail.take();
    this.flow.trail.openEnds([{ from: id, label: AGAIN }]);
    begin?.();
    const frame = this.flow.body(statement.body, own);
    this.flow.trail.openEnds(frame.goesOn);
    step?.();
    if (this.flow.trail.isOpen) this.flow.trail.lead(id);
    for (const key of this.written()) if (!sure.has(key)) this.flow.maybe.add(key);
    this.flow.calls.readLater(known, names, own);
    this.flow.trail.openEnds([{ from: id, label: DONE, isDefault: true }, ...frame.breaks]);
    mergeNames(names, [names, own], statement, this.flow);
  }

  for(statement: Extract<Statement, { is: "for" }>, names: Names): void {
    if (isQuiet(statement.body, this.flow.acts)) return;
    if (statement.of && isStream(statement.of)) {
      // What is gathered while an answer is written is something that only code can tell.
      for (const name of namesSet(statement.body))
        if (names.has(name))
          names.set(name, {
            is: "unknown",
            unknown: { name, from: statement.from, to: statement.to },
            path: [],
          });
      return;
    }
    if (statement.of && this.flow.asksToApprove(statement.of, statement)) return;
    const { of, name } = statement;
    const count = of ? this.flow.calls.rangeOf(of) : null;
    if (of && count !== null && name !== null) {
      const counter = this.counter(`name ${name}`, name, statement);
      names.set(name, { is: "path", key: counter, path: [], schema: { type: "integer" } });
      const step = () => this.countUp(counter, statement);
      return this.round(statement, `state.${counter} < ${count}`, of, names, { step });
    }
    const isNone = of?.is === "list" && of.items.length === 0;
    const list: Value | null = isNone
      ? { is: "json", value: [] }
      : of
        ? this.flow.evaluator.value(of, names, `${name ?? "item"}_list`)
        : null;
    if (of && list && name !== null && this.each(statement, name, of, list, names)) return;
    this.flow.trail.placeholder("for_each", {
      name: "For each",
      original: this.flow.source(statement, 6000),
      why: "What it goes through cannot be told to be a list.",
      at: "",
      findings: this.flow.findings(statement),
    });
  }

  /** Goes through a list, one round for each of its values; false where it cannot be told that it is a list. */
  private each(
    statement: Extract<Statement, { is: "for" }>,
    name: string,
    of: Expr,
    list: Value,
    names: Names,
  ): boolean {
    // What only code can tell is a step that somebody fills, which gives the list.
    const schema = list.is === "list" || list.is === "unknown" ? { type: "array" } : schemaOfValue(list);
    if (schema?.type !== "array") return false;
    const { keys } = this.flow.state;
    let text = list.is === "path" ? celOf(list, this.flow.work) : null;
    if (text === null) {
      const key = keys.of(`list ${statement.from}`, `${name}_list`);
      this.flow.state.set(key, list, of);
      text = `state.${key}`;
    }
    const place = this.counter(`place ${statement.from}`, `${name}_place`, statement);
    const items = isRaw(schema.items) ? schema.items : undefined;
    const key = keys.of(`name ${name}`, name);
    const item: Value = { is: "cel", text: `${text}[state.${place}]`, schema: items };
    names.set(name, { is: "path", key, path: [], schema: items });
    this.round(statement, `state.${place} < size(${text})`, of, names, {
      begin: () => this.flow.state.set(key, item, statement),
      step: () => this.countUp(place, statement),
    });
    return true;
  }

  /** The keys that steps until here write. */
  private written(): Set<string> {
    return new Set([
      ...this.flow.state.written,
      ...this.flow.calls.runs.flatMap(({ run }) => answerKeys(run)),
    ]);
  }

  /** The key of a number that begins with 0. */
  private counter(id: string, name: string, place: Place): string {
    const key = this.flow.state.keys.of(id, name);
    this.flow.state.set(key, { is: "json", value: 0 }, place);
    return key;
  }

  private countUp(key: string, place: Place): void {
    this.flow.state.set(key, { is: "cel", text: `(state.${key} + 1)` }, place);
  }
}
