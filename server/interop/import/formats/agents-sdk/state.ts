import { isRaw, type Raw } from "@/server/domain/base/lenient-reader";
import type { Json } from "@/server/domain/base/values";
import { expressionKeys } from "@/server/domain/text/expression";
import type { Expr, Place, RecordExpr } from "../../code/program";
import type { DrawnInput } from "../../drawing";
import type { Names } from "./evaluate";
import type { Ground } from "./ground";
import { Keys } from "./keys";
import { type AgentRun, answerKeys, celOf, json, templateOf, type Unknown, type Value } from "./values";

/** The values of a run: what it is given, what it remembers, what it gives at its ends. */
export class State {
  readonly keys = new Keys();
  /** The keys that steps until here compute, and those that are there from the beginning. */
  readonly written = new Set<string>();
  private readonly inputs = new Map<string, DrawnInput>();
  private readonly kinds = new Map<string, Raw | undefined>();
  private readonly defaults: Record<string, Raw> = {};
  private readonly transforms = new Set<string>();
  private readonly settled = new WeakMap<Value, Value>();

  constructor(private readonly flow: Ground) {}

  inputKey(name: string, title?: string): string {
    const key = this.keys.of(`input ${name}`, name);
    if (!this.inputs.has(name)) this.inputs.set(name, { key, ...(title ? { title } : {}) });
    return key;
  }
  stateKey(name: string): { key: string; schema?: Raw | undefined } {
    return { key: this.keys.of(`state ${name}`, name), schema: this.kinds.get(name) };
  }
  drawnInputs(): DrawnInput[] {
    return [...this.inputs.values()];
  }
  /** The schema of the state: what its variables begin with. */
  schema(): Raw | undefined {
    return Object.keys(this.defaults).length > 0 ? { type: "object", properties: this.defaults } : undefined;
  }

  /** The variables of a workflow with what they begin with. */
  begin(record: RecordExpr, names: Names): void {
    for (const entry of record.entries) {
      if ("spread" in entry) continue;
      const value = this.flow.evaluator.value(entry.value, names, entry.key);
      const start =
        value.is === "json" ? value.value : value.is === "messages" || value.is === "list" ? [] : undefined;
      const kind = start === undefined || start === null ? undefined : kindOf(start);
      this.kinds.set(entry.key, kind);
      const { key } = this.stateKey(entry.key);
      if (start === undefined) this.set(key, value, entry.value);
      else {
        this.defaults[key] = { ...kind, default: start };
        this.written.add(key);
      }
    }
  }

  /** Puts a value under a key: in a step that computes it, or in one that somebody has to fill. */
  set(key: string, value: Value, place: Place): void {
    const { trail, drawing } = this.flow;
    if (value.is === "messages") return;
    this.written.add(key);
    this.flow.maybe.delete(key);
    if (value.is === "unknown" && value.path.length === 0 && value.unknown.key === undefined) {
      value.unknown.key = key;
      this.fill(value.unknown);
      return;
    }
    const settled = this.settledDeep(value);
    const text = celOf(settled, this.flow.work);
    if (text === null) return this.fill({ name: key, key, from: place.from, to: place.to });
    const last = trail.last;
    const node = last !== null && this.transforms.has(last) ? drawing.node(last) : undefined;
    const assigned = isRaw(node?.config) ? node.config.set : undefined;
    if (last !== null && isRaw(assigned) && isApart(text, key, assigned)) {
      assigned[key] = text;
      drawing.change(last, { name: "Set values" });
      return;
    }
    this.transforms.add(
      trail.step(`set_${key}`, {
        node_type: "transform",
        name: `Set ${key}`,
        config: { set: { [key]: text } },
      }),
    );
  }

  /** What a name stands for; what is computed is put into the state now, since later it may be something else. */
  kept(name: string, expr: Expr, value: Value): Value {
    const keep = (key: string, inner: Value): Value => {
      if (inner.is !== "cel") return inner;
      this.set(key, inner, expr);
      return { is: "path", key, path: [], schema: inner.schema };
    };
    if (expr.is === "choice") return value;
    if (value.is === "cel") return keep(this.keys.of(`name ${name}`, name), value);
    if (value.is !== "record") return value;
    const fields = [...value.fields].map(
      ([field, inner]) =>
        [
          field,
          inner.is === "cel"
            ? keep(this.keys.of(`name ${name}.${field}`, field, `${name}_${field}`), inner)
            : inner,
        ] as const,
    );
    return { is: "record", fields: new Map(fields) };
  }

  /** The key of what cannot be told from the code: a step that somebody has to fill writes it. */
  settle(unknown: Unknown): string {
    if (unknown.key === undefined) {
      unknown.key = this.keys.of(`unknown ${unknown.name} ${unknown.from}`, unknown.name);
      this.fill(unknown);
    }
    return unknown.key;
  }

  private fill(unknown: Unknown): void {
    const { flow } = this;
    const key = unknown.key ?? unknown.name;
    flow.trail.placeholder(`work_out_${key}`, {
      name: `Work out ${key}`,
      original: flow.source(unknown, 4000),
      why: `What "${unknown.name}" is worked out by is code, which is not taken over.`,
      at: "",
      findings: flow.findings(unknown),
      node: { output_keys: [key] },
    });
  }

  /** A text with values as a template. */
  template(value: Value): string {
    const settled = this.settledDeep(value);
    const text = templateOf(settled, this.flow.work);
    if (text !== null) return text;
    if (settled.is === "text")
      return settled.parts
        .map((part) => this.template(typeof part === "string" ? json(part) : part))
        .join("");
    if (settled.is === "inputs")
      return this.drawnInputs()
        .map(({ key }) => `{{${key}}}`)
        .join("\n\n");
    if (settled.is === "messages")
      return settled.messages.texts.map((one) => this.template(one)).join("\n\n");
    if (settled.is === "run") return this.template({ is: "output", run: settled.run });
    const computed = celOf(settled, this.flow.work);
    if (computed === null) return "";
    const key = this.keys.of(`computed ${computed}`, "value");
    this.set(key, { is: "cel", text: computed }, { from: 0, to: 0 });
    return `{{${key}}}`;
  }

  /** The value with nothing in it that cannot be told, and whole answers as values of their own. */
  private settledDeep(value: Value): Value {
    const known = this.settled.get(value);
    if (known) return known;
    const settled = this.settledParts(value);
    this.settled.set(value, settled);
    return settled;
  }
  private settledParts(value: Value): Value {
    const inner = (one: Value) => this.settledDeep(one);
    this.flow.work.spend(1);
    switch (value.is) {
      case "unknown":
        return this.flow.evaluator.settled(value);
      case "text":
        return {
          ...value,
          parts: value.parts.map((part) => (typeof part === "string" ? part : inner(part))),
        };
      case "list":
        return { ...value, items: value.items.map(inner) };
      case "record":
        return { ...value, fields: new Map([...value.fields].map(([key, one]) => [key, inner(one)])) };
      case "output":
      case "whole":
        return "key" in value.run.answer ? value : { is: "path", key: this.wholeOf(value.run), path: [] };
      case "run":
        return inner({ is: "output", run: value.run });
      default:
        return value;
    }
  }

  /** The key under which an answer with several parts also stands as one value. */
  private wholeOf(run: AgentRun): string {
    if (run.whole === undefined) {
      run.whole = this.keys.of(`result ${run.name}`, run.name);
      const parts = answerKeys(run).map((key) => [key, `output.${key}`]);
      this.flow.drawing.change(run.node_id, {
        output_mapping: { ...Object.fromEntries(parts), [run.whole]: "output" },
      });
    }
    return run.whole;
  }

  /** An end that gives a value. */
  end(value: Value | null, place: Place): void {
    const { trail } = this.flow;
    if (!value || value.is === "inputs" || (value.is === "json" && value.value === null))
      return this.endOpen();
    const run = runOf(value);
    if (run) return trail.end(this.reading(answerKeys(run)));
    if (value.is === "path" && value.path.length === 0) return trail.end(this.reading([value.key]));
    const fields: [string, Value][] = value.is === "record" ? [...value.fields] : [["result", value]];
    const mapping: Record<string, string> = {};
    for (const [name, inner] of fields) {
      const text = celOf(this.settledDeep(inner), this.flow.work);
      if (text === null)
        this.flow
          .findings(place)
          .dropped("", `What "${name}" gives at the end cannot be told from the code.`);
      else mapping[new Keys().of(name, name)] = this.whereThere(text);
    }
    if (Object.keys(mapping).length > 0) trail.end({ input_mapping: mapping });
    else this.endOpen();
  }

  /** What an end reads: what only a loop writes where it is there. */
  private reading(keys: readonly string[]): { input_keys?: string[]; optional_input_keys?: string[] } {
    const maybe = keys.filter((key) => this.flow.maybe.has(key));
    const sure = keys.filter((key) => !this.flow.maybe.has(key));
    return {
      ...(sure.length > 0 ? { input_keys: sure } : {}),
      ...(maybe.length > 0 ? { optional_input_keys: maybe } : {}),
    };
  }

  /** The same, but null where a loop that went round no time did not write what it is made of. */
  private whereThere(text: string): string {
    const maybe = expressionKeys(text).filter((key) => this.flow.maybe.has(key));
    return maybe.length === 0
      ? text
      : `${maybe.map((key) => `has(state.${key})`).join(" && ")} ? ${text} : null`;
  }

  /** An end that gives what the agents before it answered. */
  endOpen(): void {
    const { trail } = this.flow;
    const last = this.flow.answersAt(trail.openNodes());
    trail.end(
      last.length === 1
        ? this.reading(last[0] ?? [])
        : last.length > 1
          ? { optional_input_keys: [...new Set(last.flat())] }
          : {},
    );
  }
}

/** Whether a value can be set in the same step as these: it is another one, and is not made of them. */
const isApart = (text: string, key: string, set: Raw): boolean =>
  !Object.hasOwn(set, key) && expressionKeys(text).every((read) => !Object.hasOwn(set, read));

/** The run whose answer a value is, whole or as the code wraps it. */
function runOf(value: Value): AgentRun | null {
  if (value.is === "run" || value.is === "output" || value.is === "whole") return value.run;
  if (value.is !== "record" || !value.fields.has("output_text")) return null;
  const runs = [...value.fields.values()].map((field) =>
    field.is === "output" || field.is === "whole" ? field.run : null,
  );
  const [first] = runs;
  return first && runs.every((run) => run === first) ? first : null;
}

function kindOf(value: Json): Raw {
  return { type: Array.isArray(value) ? "array" : value === null ? "null" : typeof value };
}
