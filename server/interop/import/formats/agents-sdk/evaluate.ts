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
  constructor(private readonly world: World) {}

  unknown(expr: Expr, name = "value"): Value {
    return { is: "unknown", unknown: { name, from: expr.from, to: expr.to, isInline: true }, path: [] };
  }

  /** `wanted`: the name that the value will have. */
  value(expr: Expr, names: Names, wanted = "value", hops = 0): Value {
    const inner = (one: Expr) => this.value(one, names, wanted, hops);
    switch (expr.is) {
      case "number":
      case "boolean":
        return json(expr.value);
      case "nothing":
        return json(null);
      case "text":
        return this.text(expr.parts, names, hops);
      case "name":
        return this.named(expr.name, names, hops) ?? this.unknown(expr, expr.name);
      case "member": {
        const of = inner(expr.of);
        const size = expr.key === "length" && of.is !== "record" ? celOf(this.settled(of)) : null;
        if (size) return { is: "cel", text: `size(${size})`, schema: { type: "integer" } };
        return this.member(of, expr.key) ?? this.unknown(expr, expr.key);
      }
      case "index": {
        const at = inner(expr.index);
        const step =
          at.is === "json" && typeof at.value === "number" && at.value >= 0 ? String(at.value) : null;
        return (step === null ? null : this.member(inner(expr.of), step)) ?? this.unknown(expr, wanted);
      }
      case "list":
        return this.list(expr.items, names, hops) ?? this.unknown(expr, wanted);
      case "record":
        return this.record(expr, names, hops) ?? this.unknown(expr, wanted);
      case "function":
        return this.unknown(expr, wanted);
      case "negative":
      case "not":
      case "binary":
      case "choice":
        return this.computed(expr, names, wanted, hops);
      case "call":
        return this.called(expr, names, wanted, hops);
      default:
        return this.unknown(expr, wanted);
    }
  }

  private text(parts: readonly (string | Expr)[], names: Names, hops: number): Value {
    const values = parts.map((part) =>
      typeof part === "string" ? part : this.value(part, names, "value", hops),
    );
    const texts = values.map((part) =>
      typeof part === "string"
        ? part
        : part.is === "json" && typeof part.value !== "object"
          ? String(part.value)
          : null,
    );
    return texts.some((part) => part === null) ? { is: "text", parts: values } : json(texts.join(""));
  }

  private named(name: string, names: Names, hops: number): Value | null {
    const known = names.get(name);
    if (known) return known;
    const { declarations } = this.world;
    const agent = declarations.agents.get(name);
    if (agent) return { is: "agent", agent };
    const routine = declarations.routines.get(name);
    if (routine) return { is: "routine", routine };
    const value = declarations.value(name);
    // Constants of the file; a value that names itself leads nowhere.
    return value && hops < 8 ? this.value(value, new Map(), name, hops + 1) : null;
  }

  /** A part of a value; null where it cannot be told. */
  member(of: Value, key: string): Value | null {
    return partOf(of, key, this.world);
  }

  private record(expr: RecordExpr, names: Names, hops: number): Value | null {
    const fields = new Map<string, Value>();
    for (const entry of expr.entries) {
      if ("spread" in entry) {
        const spread = this.value(entry.spread, names, "value", hops);
        if (spread.is !== "record") return null;
        for (const [key, value] of spread.fields) fields.set(key, value);
      } else fields.set(entry.key, this.value(entry.value, names, entry.key, hops));
    }
    return { is: "record", fields };
  }

  /** A list of messages, or of values; null where something stands in it that cannot be told. */
  private list(items: readonly (Expr | { spread: Expr })[], names: Names, hops: number): Value | null {
    const values = items.map((item) =>
      "spread" in item
        ? { spread: this.value(item.spread, names, "value", hops) }
        : this.value(item, names, "value", hops),
    );
    const isTalk = values.some((one) =>
      "spread" in one ? one.spread.is === "messages" : this.message(one) !== null,
    );
    if (isTalk || values.length === 0) {
      let messages = NO_MESSAGES;
      for (const one of values) {
        const part = "spread" in one ? one.spread : one;
        const said = part.is === "messages" ? part.messages : this.message(part);
        if (said) messages = joinedMessages(messages, said);
      }
      return { is: "messages", messages };
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

  private computed(expr: Expr, names: Names, wanted: string, hops: number): Value {
    if (expr.is === "binary" && expr.operator === "+") {
      const parts = textParts(expr);
      if (parts) return this.text(parts, names, hops);
      const [left, right] = [
        this.value(expr.left, names, wanted, hops),
        this.value(expr.right, names, wanted, hops),
      ];
      if (left.is === "messages" && right.is === "messages")
        return { is: "messages", messages: joinedMessages(left.messages, right.messages) };
      if (schemaOfValue(left)?.type === "string" || schemaOfValue(right)?.type === "string")
        return { is: "text", parts: [left, right] };
    }
    // What is taken where a value is missing: steps always give theirs.
    if (expr.is === "binary" && expr.operator === "??") return this.value(expr.left, names, wanted, hops);
    if (expr.is === "binary" && (expr.operator === "||" || expr.operator === "&&"))
      return this.oneOf(expr, names, wanted, hops);
    if (expr.is === "choice") {
      const test = this.condition(expr.test, names, hops);
      const [then, otherwise] = [expr.then, expr.otherwise].map((one) =>
        celOf(this.value(one, names, wanted, hops)),
      );
      if (test === true || test === false)
        return this.value(test ? expr.then : expr.otherwise, names, wanted, hops);
      return test !== null && then && otherwise
        ? { is: "cel", text: `${test} ? ${then} : ${otherwise}` }
        : this.unknown(expr, wanted);
    }
    if (expr.is === "negative") {
      const of = this.value(expr.of, names, wanted, hops);
      if (of.is === "json" && typeof of.value === "number") return json(-of.value);
      const text = celOf(of);
      return text === null
        ? this.unknown(expr, wanted)
        : { is: "cel", text: `-(${text})`, schema: { type: "number" } };
    }
    if (expr.is === "binary" && /^[-+*/%]$/.test(expr.operator)) {
      const [left, right] = [expr.left, expr.right].map((one) => celOf(this.value(one, names, wanted, hops)));
      return left && right
        ? { is: "cel", text: `(${left} ${expr.operator} ${right})` }
        : this.unknown(expr, wanted);
    }
    const test = this.condition(expr, names, hops);
    if (test === null) return this.unknown(expr, wanted);
    return typeof test === "boolean" ? json(test) : { is: "cel", text: test, schema: BOOLEAN };
  }

  /** `a || b` and `a && b` as a value: one of the two, and true or false only where both are. */
  private oneOf(expr: Extract<Expr, { is: "binary" }>, names: Names, wanted: string, hops: number): Value {
    const left = this.value(expr.left, names, wanted, hops);
    const isOr = expr.operator === "||";
    if (isOr && (left.is === "output" || left.is === "whole")) return left;
    const test = this.truth(left);
    if (typeof test === "boolean") return test === isOr ? left : this.value(expr.right, names, wanted, hops);
    const right = this.value(expr.right, names, wanted, hops);
    const [one, other] = [left, right].map(celOf);
    if (test === null || !one || !other) return this.unknown(expr, wanted);
    const types = [left, right].map((value) => schemaOfValue(value)?.type);
    if (types.every((type) => type === "boolean"))
      return { is: "cel", text: `(${one} ${expr.operator} ${other})`, schema: BOOLEAN };
    return {
      is: "cel",
      text: isOr ? `${test} ? ${one} : ${other}` : `${test} ? ${other} : ${one}`,
      ...(types[0] !== undefined && types[0] === types[1] ? { schema: { type: types[0] } } : {}),
    };
  }

  /** What is asked, as an expression; true or false where it is always so; null where it cannot be written as one. */
  condition(expr: Expr, names: Names, hops = 0): string | boolean | null {
    if (expr.is === "boolean") return expr.value;
    if (expr.is === "not") {
      const inner = this.condition(expr.of, names, hops);
      return typeof inner === "boolean" ? !inner : inner === null ? null : `!(${inner})`;
    }
    if (expr.is === "binary" && (expr.operator === "&&" || expr.operator === "||")) {
      const [left, right] = [this.condition(expr.left, names, hops), this.condition(expr.right, names, hops)];
      const decisive = expr.operator === "||";
      if (left === null || right === null) return null;
      if (left === decisive || right === decisive) return decisive;
      if (typeof left === "boolean") return right;
      if (typeof right === "boolean") return left;
      return `(${left} ${expr.operator} ${right})`;
    }
    if (expr.is === "binary" && /^([=!]=|[<>]=?)$/.test(expr.operator)) {
      const values = [expr.left, expr.right].map((one) =>
        this.settled(this.value(one, names, "value", hops)),
      );
      const [left, right] = values.map(celOf);
      return left && right ? `${left} ${expr.operator} ${right}` : null;
    }
    if (expr.is === "binary" && expr.operator === "in")
      return this.isIn(
        this.value(expr.left, names, "value", hops),
        this.value(expr.right, names, "value", hops),
      );
    if (expr.is === "call" && expr.callee.is === "member" && expr.args[0]) {
      const asks = ASKS[expr.callee.key];
      if (asks) {
        const of = this.value(expr.callee.of, names, "value", hops);
        const about = this.value(expr.args[0].value, names, "value", hops);
        if (asks === "contains") return this.isIn(about, of);
        const [text, part] = [this.celOfNamed(of), this.celOfNamed(about)];
        return text && part ? `${text}.${asks}(${part})` : null;
      }
    }
    return this.truth(this.value(expr, names, "value", hops));
  }

  private operand(expr: Expr, names: Names, hops: number): string | null {
    return this.celOfNamed(this.value(expr, names, "value", hops));
  }
  /** A value as an expression; null for what is worked out in place by code, which a condition cannot hold. */
  private celOfNamed(value: Value): string | null {
    return value.is === "unknown" && value.unknown.isInline ? null : celOf(this.settled(value));
  }

  private isIn(part: Value, whole: Value): string | null {
    const [left, right] = [this.celOfNamed(part), this.celOfNamed(whole)];
    if (!left || !right) return null;
    const type = schemaOfValue(whole)?.type;
    return type === "array" || type === "object" || whole.is === "list"
      ? `${left} in ${right}`
      : `${right}.contains(${left})`;
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
    return { is: "path", key: this.world.settle(value.unknown), path: value.path };
  }

  private called(expr: CallExpr, names: Names, wanted: string, hops: number): Value {
    const meant = this.world.call(expr, names, wanted);
    if (meant) return meant;
    const name = calledName(expr) ?? "";
    const of = expr.callee.is === "member" ? expr.callee.of : null;
    const [first] = expr.args;
    const parts = textParts(expr);
    if (parts) return this.text(parts, names, hops);
    if (SAME.has(name)) {
      const subject = of && !(first && /^(String|str)$/.test(name)) ? of : first?.value;
      const same = subject ? this.value(subject, names, wanted, hops) : null;
      if (same) return same.is === "run" ? { is: "output", run: same.run } : same;
    }
    if (AS_TEXT.has(name)) {
      const isMethod = of && !/^(JSON|json)$/.test(pathOf(of)?.join(".") ?? "");
      const subject = isMethod ? of : first?.value;
      if (subject) return asText(this.value(subject, names, wanted, hops));
    }
    if (of && (name === "to_input_list" || name === "toInputList")) {
      const run = this.value(of, names, wanted, hops);
      if (run.is === "run") return { is: "messages", messages: withAnswer(run.run.before, run.run) };
    }
    if (of && name === "get" && first) {
      const key = this.value(first.value, names, wanted, hops);
      if (key.is === "json" && typeof key.value === "string") {
        const found = this.member(this.value(of, names, wanted, hops), key.value);
        if (found) return found;
      }
    }
    if (name === "user" && !of && first)
      return { is: "messages", messages: { ...NO_MESSAGES, texts: [this.value(first.value, names)] } };
    if (name === "len" && first) {
      const text = celOf(this.settled(this.value(first.value, names, wanted, hops)));
      if (text) return { is: "cel", text: `size(${text})`, schema: { type: "integer" } };
    }
    const method = of ? TEXT_METHODS[name] : undefined;
    if (of && method) {
      const text = celOf(this.settled(this.value(of, names, wanted, hops)));
      if (text) return { is: "cel", text: `${text}.${method}()`, schema: { type: "string" } };
    }
    if (of && ASKS[name]) {
      const test = this.condition(expr, names, hops);
      if (test !== null)
        return typeof test === "boolean" ? json(test) : { is: "cel", text: test, schema: BOOLEAN };
    }
    return this.unknown(expr, wanted);
  }
}
