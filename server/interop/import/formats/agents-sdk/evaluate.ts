import type { Raw } from "@/server/domain/base/lenient-reader";
import { calledName, pathOf, textParts } from "../../code/literals";
import type { CallExpr, Expr, RecordExpr } from "../../code/program";
import type { Declarations } from "./declarations";
import { type KeyWorld, partOf } from "./parts";
import {
  asText,
  celOf,
  joinedMessages,
  json,
  type Messages,
  NO_MESSAGES,
  pieceOf,
  schemaOfValue,
  type Unknown,
  type Value,
  withAnswer,
} from "./values";

/** What names stand for at a place of the program. */
export type Names = Map<string, Value>;

/** What evaluation asks of the flow around it. */
interface World extends KeyWorld {
  declarations: Declarations;
  /** A value of the drawing in place of what cannot be told: a step that somebody has to fill writes it. */
  settle(unknown: Unknown): string;
  /** A call that means something here (an agent's run, an approval); null for all others. */
  call(call: CallExpr, names: Names, wanted: string): Value | null;
}

const SAME = new Set([
  "String",
  "str",
  "toString",
  "model_dump",
  "dict",
  "final_output_as",
  "finalOutputAs",
  "Promise",
]);
const AS_TEXT = new Set(["stringify", "dumps", "json", "model_dump_json"]);
const TEXT_METHODS: Readonly<Record<string, string>> = {
  trim: "trim",
  strip: "trim",
  lower: "lowerAscii",
  toLowerCase: "lowerAscii",
  upper: "upperAscii",
  toUpperCase: "upperAscii",
};
const ASKS: Readonly<Record<string, string>> = {
  includes: "contains",
  startsWith: "startsWith",
  startswith: "startsWith",
  endsWith: "endsWith",
  endswith: "endsWith",
};
const BOOLEAN: Raw = { type: "boolean" };

/** Tells what expressions stand for, without computing anything: values of the state, texts with such, or unknown ones. */
export class Evaluator {
  /** What constants of the file stand for, each worked out once. */
  private readonly constants = new Map<string, Value>();
  private readonly open = new Set<string>();
  /** How often evaluation has drawn something, which it must do again for each use. */
  private drawn = 0;

  constructor(private readonly world: World) {}

  unknown(expr: Expr, name = "value"): Value {
    return { is: "unknown", unknown: { name, from: expr.from, to: expr.to, isInline: true }, path: [] };
  }

  /** `wanted`: the name that the value will have. */
  value(expr: Expr, names: Names, wanted = "value"): Value {
    this.world.work.spend(1);
    const inner = (one: Expr) => this.value(one, names, wanted);
    switch (expr.is) {
      case "number":
      case "boolean":
        return json(expr.value);
      case "nothing":
        return json(null);
      case "text":
        return this.text(expr.parts, names);
      case "name":
        return this.named(expr.name, names) ?? this.unknown(expr, expr.name);
      case "member": {
        const of = inner(expr.of);
        const size = expr.key === "length" && of.is !== "record" ? this.celOf(this.settled(of)) : null;
        if (size) return this.cel(`size(${size})`, { type: "integer" });
        return this.member(of, expr.key) ?? this.unknown(expr, expr.key);
      }
      case "index": {
        const at = inner(expr.index);
        const step =
          at.is === "json" && typeof at.value === "number" && at.value >= 0 ? String(at.value) : null;
        return (step === null ? null : this.member(inner(expr.of), step)) ?? this.unknown(expr, wanted);
      }
      case "list":
        return this.list(expr.items, names) ?? this.unknown(expr, wanted);
      case "record":
        return this.record(expr, names) ?? this.unknown(expr, wanted);
      case "function":
        return this.unknown(expr, wanted);
      case "negative":
      case "not":
      case "binary":
      case "choice":
        return this.computed(expr, names, wanted);
      case "call":
        return this.called(expr, names, wanted);
      default:
        return this.unknown(expr, wanted);
    }
  }

  private text(parts: readonly (string | Expr)[], names: Names): Value {
    const values = parts.map((part) => (typeof part === "string" ? part : this.value(part, names, "value")));
    const texts = values.map((part) =>
      typeof part === "string"
        ? part
        : part.is === "json" && typeof part.value !== "object"
          ? String(part.value)
          : null,
    );
    if (texts.some((part) => part === null)) return { is: "text", parts: values };
    this.world.work.makeText(texts.reduce((sum, part) => sum + (part?.length ?? 0), 0));
    return json(texts.join(""));
  }

  private named(name: string, names: Names): Value | null {
    const known = names.get(name);
    if (known) return known;
    const { declarations } = this.world;
    const agent = declarations.agents.get(name);
    if (agent) return { is: "agent", agent };
    const routine = declarations.routines.get(name);
    if (routine) return { is: "routine", routine };
    const constant = this.constants.get(name);
    if (constant) return constant;
    const expr = declarations.value(name);
    // A value that names itself leads nowhere.
    if (!expr || this.open.has(name)) return null;
    const { drawn } = this;
    this.open.add(name);
    const value = this.value(expr, new Map(), name);
    this.open.delete(name);
    if (drawn === this.drawn) this.constants.set(name, value);
    return value;
  }

  /** A part of a value; null where it cannot be told. */
  member(of: Value, key: string): Value | null {
    return partOf(of, key, this.world);
  }

  private record(expr: RecordExpr, names: Names): Value | null {
    const fields = new Map<string, Value>();
    for (const entry of expr.entries) {
      if ("spread" in entry) {
        const spread = this.value(entry.spread, names, "value");
        if (spread.is !== "record") return null;
        for (const [key, value] of spread.fields) fields.set(key, value);
      } else fields.set(entry.key, this.value(entry.value, names, entry.key));
    }
    return { is: "record", fields };
  }

  /** A list of messages, or of values; null where something stands in it that cannot be told. */
  private list(items: readonly (Expr | { spread: Expr })[], names: Names): Value | null {
    const values = items.map((item) =>
      "spread" in item
        ? { spread: this.value(item.spread, names, "value") }
        : this.value(item, names, "value"),
    );
    const isTalk = values.some((one) =>
      "spread" in one ? one.spread.is === "messages" : this.message(one) !== null,
    );
    if (isTalk || values.length === 0) {
      const said = values.flatMap((one) => this.message("spread" in one ? one.spread : one) ?? []);
      return { is: "messages", messages: joinedMessages(said, this.world.work) };
    }
    const plain = values.flatMap((one) => ("spread" in one ? [] : [one]));
    return plain.length === values.length ? { is: "list", items: plain } : null;
  }

  /** `{ role, content }` as words of a conversation. */
  message(value: Value): Messages | null {
    if (value.is === "messages") return value.messages;
    if (value.is !== "record") return null;
    const [role, content] = [value.fields.get("role"), value.fields.get("content")];
    if (!role || !content) return null;
    const pieces = content.is === "list" ? content.items : [content];
    const texts = pieces.flatMap((piece) => (piece.is === "record" ? pieceOf(piece.fields) : [piece]));
    const who = role.is === "json" && typeof role.value === "string" ? role.value : "user";
    const said = texts.map(
      (text): Value => (who === "user" ? text : { is: "text", parts: [`(${who}) `, text] }),
    );
    return { ...NO_MESSAGES, texts: said };
  }

  private computed(expr: Expr, names: Names, wanted: string): Value {
    if (expr.is === "binary" && expr.operator === "+") {
      const parts = textParts(expr);
      if (parts) return this.text(parts, names);
    }
    if (expr.is === "binary" && /^[-+*/%]$/.test(expr.operator)) {
      const left = this.value(expr.left, names, wanted);
      const right = this.value(expr.right, names, wanted);
      if (expr.operator === "+") {
        if (left.is === "messages" && right.is === "messages")
          return {
            is: "messages",
            messages: joinedMessages([left.messages, right.messages], this.world.work),
          };
        if (schemaOfValue(left)?.type === "string" || schemaOfValue(right)?.type === "string")
          return { is: "text", parts: [left, right] };
      }
      const [one, other] = [this.celOf(left), this.celOf(right)];
      return one && other ? this.cel(`(${one} ${expr.operator} ${other})`) : this.unknown(expr, wanted);
    }
    // What is taken where a value is missing: steps always give theirs.
    if (expr.is === "binary" && expr.operator === "??") return this.value(expr.left, names, wanted);
    if (expr.is === "binary" && (expr.operator === "||" || expr.operator === "&&"))
      return this.oneOf(expr, names, wanted);
    if (expr.is === "choice") {
      const test = this.condition(expr.test, names);
      if (typeof test === "boolean") return this.value(test ? expr.then : expr.otherwise, names, wanted);
      const [then, otherwise] = [expr.then, expr.otherwise].map((one) =>
        this.celOf(this.value(one, names, wanted)),
      );
      return test !== null && then && otherwise
        ? this.cel(`${test} ? ${then} : ${otherwise}`)
        : this.unknown(expr, wanted);
    }
    if (expr.is === "negative") {
      const of = this.value(expr.of, names, wanted);
      if (of.is === "json" && typeof of.value === "number") return json(-of.value);
      const text = this.celOf(of);
      return text === null ? this.unknown(expr, wanted) : this.cel(`-(${text})`, { type: "number" });
    }
    const test = this.condition(expr, names);
    if (test === null) return this.unknown(expr, wanted);
    return typeof test === "boolean" ? json(test) : this.cel(test, BOOLEAN);
  }

  /** `a || b` and `a && b` as a value: one of the two, and true or false only where both are. */
  private oneOf(expr: Extract<Expr, { is: "binary" }>, names: Names, wanted: string): Value {
    const left = this.value(expr.left, names, wanted);
    const isOr = expr.operator === "||";
    if (isOr && (left.is === "output" || left.is === "whole")) return left;
    const test = this.truth(left);
    if (typeof test === "boolean") return test === isOr ? left : this.value(expr.right, names, wanted);
    const right = this.value(expr.right, names, wanted);
    const [one, other] = [left, right].map((value) => this.celOf(value));
    if (test === null || !one || !other) return this.unknown(expr, wanted);
    const types = [left, right].map((value) => schemaOfValue(value)?.type);
    if (types.every((type) => type === "boolean"))
      return this.cel(`(${one} ${expr.operator} ${other})`, BOOLEAN);
    return this.cel(
      isOr ? `${test} ? ${one} : ${other}` : `${test} ? ${other} : ${one}`,
      types[0] !== undefined && types[0] === types[1] ? { type: types[0] } : undefined,
    );
  }

  /** What is asked, as an expression; true or false where it is always so; null where it cannot be written as one. */
  condition(expr: Expr, names: Names): string | boolean | null {
    if (expr.is === "boolean") return expr.value;
    if (expr.is === "not") {
      const inner = this.condition(expr.of, names);
      return typeof inner === "boolean" ? !inner : inner === null ? null : this.written(`!(${inner})`);
    }
    if (expr.is === "binary" && (expr.operator === "&&" || expr.operator === "||")) {
      const [left, right] = [this.condition(expr.left, names), this.condition(expr.right, names)];
      const decisive = expr.operator === "||";
      if (left === null || right === null) return null;
      if (left === decisive || right === decisive) return decisive;
      if (typeof left === "boolean") return right;
      if (typeof right === "boolean") return left;
      return this.written(`(${left} ${expr.operator} ${right})`);
    }
    if (expr.is === "binary" && /^([=!]=|[<>]=?)$/.test(expr.operator)) {
      const values = [expr.left, expr.right].map((one) => this.settled(this.value(one, names, "value")));
      const [left, right] = values.map((value) => this.celOf(value));
      return left && right ? this.written(`${left} ${expr.operator} ${right}`) : null;
    }
    if (expr.is === "binary" && expr.operator === "in")
      return this.isIn(this.value(expr.left, names, "value"), this.value(expr.right, names, "value"));
    if (expr.is === "call" && expr.callee.is === "member" && expr.args[0]) {
      const asks = ASKS[expr.callee.key];
      if (asks) {
        const of = this.value(expr.callee.of, names, "value");
        const about = this.value(expr.args[0].value, names, "value");
        if (asks === "contains") return this.isIn(about, of);
        const [text, part] = [this.celOfNamed(of), this.celOfNamed(about)];
        return text && part ? this.written(`${text}.${asks}(${part})`) : null;
      }
    }
    return this.truth(this.value(expr, names, "value"));
  }

  private cel(text: string, schema?: Raw): Value {
    return { is: "cel", text: this.written(text), schema };
  }
  /** An expression that was made, counted. */
  private written(text: string): string {
    this.world.work.makeText(text.length);
    return text;
  }
  private celOf(value: Value): string | null {
    return celOf(value, this.world.work);
  }
  /** A value as an expression; null for what is worked out in place by code, which a condition cannot hold. */
  private celOfNamed(value: Value): string | null {
    return value.is === "unknown" && value.unknown.isInline ? null : this.celOf(this.settled(value));
  }

  private isIn(part: Value, whole: Value): string | null {
    const [left, right] = [this.celOfNamed(part), this.celOfNamed(whole)];
    if (!left || !right) return null;
    const type = schemaOfValue(whole)?.type;
    return this.written(
      type === "array" || type === "object" || whole.is === "list"
        ? `${left} in ${right}`
        : `${right}.contains(${left})`,
    );
  }

  /** Whether a value counts as true: only where its type says what that means. */
  private truth(value: Value): string | boolean | null {
    if (value.is === "json") return Boolean(value.value);
    const text = this.celOfNamed(value);
    if (text === null) return null;
    switch (schemaOfValue(value)?.type) {
      case "boolean":
        return text;
      case "string":
        return `${text} != ""`;
      case "number":
      case "integer":
        return `${text} != 0`;
      default:
        return null;
    }
  }

  /** The value, with what cannot be told as a key that a step for people to fill writes. */
  settled(value: Value): Value {
    if (value.is !== "unknown") return value;
    this.drawn++;
    return { is: "path", key: this.world.settle(value.unknown), path: value.path };
  }

  private called(expr: CallExpr, names: Names, wanted: string): Value {
    const meant = this.world.call(expr, names, wanted);
    if (meant) {
      this.drawn++;
      return meant;
    }
    const name = calledName(expr) ?? "";
    const of = expr.callee.is === "member" ? expr.callee.of : null;
    const [first] = expr.args;
    const parts = textParts(expr);
    if (parts) return this.text(parts, names);
    if (SAME.has(name)) {
      const subject = of && !(first && /^(String|str)$/.test(name)) ? of : first?.value;
      const same = subject ? this.value(subject, names, wanted) : null;
      if (same) return same.is === "run" ? { is: "output", run: same.run } : same;
    }
    if (AS_TEXT.has(name)) {
      const isMethod = of && !/^(JSON|json)$/.test(pathOf(of)?.join(".") ?? "");
      const subject = isMethod ? of : first?.value;
      if (subject) return asText(this.value(subject, names, wanted));
    }
    if (of && (name === "to_input_list" || name === "toInputList")) {
      const run = this.value(of, names, wanted);
      if (run.is === "run")
        return { is: "messages", messages: withAnswer(run.run.before, run.run, this.world.work) };
    }
    if (of && name === "get" && first) {
      const key = this.value(first.value, names, wanted);
      if (key.is === "json" && typeof key.value === "string") {
        const found = this.member(this.value(of, names, wanted), key.value);
        if (found) return found;
      }
    }
    if (name === "user" && !of && first)
      return { is: "messages", messages: { ...NO_MESSAGES, texts: [this.value(first.value, names)] } };
    if (name === "len" && first) {
      const text = this.celOf(this.settled(this.value(first.value, names, wanted)));
      if (text) return this.cel(`size(${text})`, { type: "integer" });
    }
    const method = of ? TEXT_METHODS[name] : undefined;
    if (of && method) {
      const text = this.celOf(this.settled(this.value(of, names, wanted)));
      if (text) return this.cel(`${text}.${method}()`, { type: "string" });
    }
    if (of && ASKS[name]) {
      const test = this.condition(expr, names);
      if (test !== null) return typeof test === "boolean" ? json(test) : this.cel(test, BOOLEAN);
    }
    return this.unknown(expr, wanted);
  }
}
