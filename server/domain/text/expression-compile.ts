import type { ASTNode } from "@marcbachmann/cel-js";
import { isList } from "@/server/domain/base/guards";
import { newRecord } from "@/server/domain/base/json";
import { present } from "@/server/domain/base/must";
import { type Work, WorkError } from "@/server/domain/base/work-budget";
import { type CelFunction, constants, fits, functionsNamed, NAMESPACES } from "./expression-functions";
import {
  Fault,
  int,
  isMap,
  isNumeric,
  keysOf,
  keyText,
  mismatch,
  noRemainder,
  OPERATORS,
  type Operator,
  Optional,
  operate,
  operatorType,
  type Type,
  toDouble,
  typeOf,
} from "./expression-values";

/**
 * From an expression's tree to a function that evaluates it and counts its work. The tree comes from the parser as it
 * was written, with macros still as calls; types are checked on the way, as far as they are known before it runs.
 */

/** One evaluation under way. */
export interface Frame {
  work: Work;
  /** The variables: first those of every expression, then those that macros bind, by depth. */
  slots: unknown[];
  /** The operation that was begun last: where it went wrong, if it did. */
  at: ASTNode;
}

type Run = (frame: Frame) => unknown;

export interface Compiled {
  run: Run;
  type: Type;
}

/** A fault that is known before it runs, with its place. */
export class CompileFault extends Error {
  override name = "CompileFault";
  constructor(
    message: string,
    readonly node: ASTNode,
  ) {
    super(message);
  }
}

/** What names stand for: a place among the slots, and a type. `size`: how many slots are taken. */
export interface Names {
  known: ReadonlyMap<string, { slot: number; type: Type }>;
  size: number;
}

/** Compiles a tree. Throws CompileFault. */
export function compileTree(node: ASTNode, names: Names): Compiled {
  const { run, type } = compileNode(node, names);
  return {
    type,
    run: (frame) => {
      frame.work.spend(1);
      return run(frame);
    },
  };
}

/** Each node costs one unit each time it is visited. */
const compile = compileTree;

function compileNode(node: ASTNode, names: Names): Compiled {
  switch (node.op) {
    case "value": {
      const value: unknown = node.args;
      return { run: () => value, type: typeOf(value) };
    }
    case "id":
      return compileName(node, node.args, names);
    case ".":
    case ".?": {
      const receiver = compile(node.args[0], names);
      const key: string = node.args[1];
      return access(node, receiver, { run: () => key, type: "string" }, node.op === ".?", key);
    }
    case "[]":
    case "[?]":
      return access(
        node,
        compile(node.args[0], names),
        compile(node.args[1], names),
        node.op === "[?]",
        null,
      );
    case "list": {
      const items = node.args.map((item) => compile(item, names).run);
      return {
        type: "list",
        run: (frame) => {
          frame.work.makeList(items.length);
          return items.map((item) => item(frame));
        },
      };
    }
    case "map":
      return compileMap(node, node.args, names);
    case "?:": {
      const condition = compile(node.args[0], names);
      const yes = compile(node.args[1], names);
      const no = compile(node.args[2], names);
      expectBool(condition, node.args[0], "What stands before ? is true or false");
      return {
        type: yes.type === no.type ? yes.type : "dyn",
        run: (frame) => {
          const chosen = condition.run(frame);
          frame.at = node;
          return bool(chosen, "What stands before ?") ? yes.run(frame) : no.run(frame);
        },
      };
    }
    case "&&":
    case "||":
      return compileLogic(node, node.args, node.op === "||", names);
    case "!_": {
      const inner = compile(node.args, names);
      expectBool(inner, node, "What stands after ! is true or false");
      return {
        type: "bool",
        run: (frame) => {
          const value = inner.run(frame);
          frame.at = node;
          return !bool(value, "What stands after !");
        },
      };
    }
    case "-_": {
      const inner = compile(node.args, names);
      if (inner.type !== "dyn" && inner.type !== "int" && inner.type !== "double")
        throw new CompileFault(`There is no negative of ${inner.type}.`, node);
      return {
        type: inner.type,
        run: (frame) => {
          const value = inner.run(frame);
          frame.at = node;
          if (typeof value === "number") return -value;
          if (typeof value === "bigint") return int(-value);
          throw new Fault(`There is no negative of ${typeOf(value)}.`);
        },
      };
    }
    case "call": {
      const [name, args] = node.args;
      return name === "has" && args.length === 1
        ? compileHas(node, present(args[0], "args[0]"), names)
        : compileCall(node, name, null, args, names);
    }
    case "rcall": {
      const [name, receiver, args] = node.args;
      if (receiver.op === "id" && NAMESPACES.has(receiver.args) && !names.known.has(receiver.args))
        return compileCall(node, `${receiver.args}.${name}`, null, args, names);
      if (name === "or" || name === "orValue") return compileOr(node, name, receiver, args, names);
      return (
        compileMacro(node, name, receiver, args, names) ?? compileCall(node, name, receiver, args, names)
      );
    }
    default: {
      const operator = OPERATORS.find((known) => known === node.op);
      if (!operator) throw new CompileFault(`"${String(node.op)}" is not available.`, node);
      return compileOperator(node, operator, node.args, names);
    }
  }
}

function compileName(node: ASTNode, name: string, names: Names): Compiled {
  const variable = names.known.get(name);
  if (variable) {
    const { slot, type } = variable;
    return {
      type,
      run: (frame) => {
        const value = frame.slots[slot];
        if (value !== undefined) return value;
        frame.at = node;
        throw new Fault(`"${name}" has no value here: this is not evaluated at a time of a run.`);
      },
    };
  }
  if (constants.has(name)) {
    const value = constants.get(name);
    return { type: typeOf(value), run: () => value };
  }
  throw new CompileFault(unknownName(name), node);
}

function unknownName(name: string): string {
  const hint = NAME_HINTS.get(name);
  if (hint) return `"${name}" is not known here; ${hint}.`;
  return `"${name}" is not known here. Values of the run are read as state.${name}, text stands in quotes.`;
}

// What people bring from other languages.
const NAME_HINTS = new Map([
  ["True", "write true"],
  ["False", "write false"],
  ["None", "write null"],
  ["nil", "write null"],
  ["undefined", "ask has(state.key) whether a key is there"],
  ["not", "write ! for not"],
  ["Math", "write math, as in math.round(x)"],
  ["math", "it is followed by a function, as in math.round(x)"],
  ["today", "write now"],
]);

const FUNCTION_HINTS = new Map([
  ["len", "size(x)"],
  ["length", "x.size()"],
  ["count", "x.size()"],
  ["includes", "x.contains(y)"],
  ["lower", "x.lowerAscii()"],
  ["toLowerCase", "x.lowerAscii()"],
  ["upper", "x.upperAscii()"],
  ["toUpperCase", "x.upperAscii()"],
  ["strip", "x.trim()"],
  ["now", "now, without brackets"],
  ["str", "string(x)"],
  ["toString", "string(x)"],
  ["float", "double(x)"],
  ["number", "double(x)"],
  ["any", "x.exists(item, item > 0)"],
  ["some", "x.exists(item, item > 0)"],
  ["every", "x.all(item, item > 0)"],
  ["sorted", "x.sort()"],
  ["reversed", "x.reverse()"],
  ["unique", "x.distinct()"],
  ["avg", "x.sum() / x.size()"],
  ["replaceAll", "x.replace(a, b)"],
  ["substr", "x.substring(from, to)"],
  ["push", "x + [item]"],
  ["append", "x + [item]"],
  ["exists", "has(state.key), or list.exists(item, item > 0)"],
  ["defined", "has(state.key)"],
  ["isEmpty", "x.size() == 0"],
  ...["round", "floor", "ceil", "abs", "sqrt", "min", "max"].map(
    (name) => [name, `math.${name}(x)`] as const,
  ),
]);

function compileMap(
  node: ASTNode,
  entries: readonly (readonly [ASTNode, ASTNode])[],
  names: Names,
): Compiled {
  const compiled = entries.map(([key, value]) => {
    if (key.op === "value" && typeof key.args === "string" && RESERVED_KEYS.has(key.args))
      throw new CompileFault(reservedKey(key.args), key);
    return [compile(key, names).run, compile(value, names).run] as const;
  });
  return {
    type: "map",
    run: (frame) => {
      const made = newRecord<unknown>();
      frame.work.spend(OBJECT_UNITS);
      for (const [key, value] of compiled) {
        frame.at = node;
        const named = key(frame);
        setKey(frame, made, named, value(frame));
      }
      return made;
    },
  };
}

/** What making an object or calling a function costs beyond visiting the node, and each key of an object. */
const OBJECT_UNITS = 4;
const KEY_UNITS = 4;
const CALL_UNITS = 8;

/** The one word that means something else on every object. */
const RESERVED_KEYS = new Set(["__proto__"]);
const reservedKey = (key: string) => `"${key}" is a reserved word and cannot be a key.`;

function setKey(frame: Frame, into: Record<string, unknown>, key: unknown, value: unknown): void {
  const name = keyText(key);
  if (name === null) throw new Fault(`A key is a text or a whole number, not ${typeOf(key)}.`);
  if (RESERVED_KEYS.has(name)) throw new Fault(reservedKey(name));
  frame.work.spend(KEY_UNITS);
  into[name] = value;
}

/** `a.b`, `a["b"]`, `a[0]`, and with a question mark: none instead of a fault where there is nothing. */
function access(
  node: ASTNode,
  receiver: Compiled,
  index: Compiled,
  isOptional: boolean,
  field: string | null,
): Compiled {
  const { type } = receiver;
  if (type !== "dyn" && type !== "map" && type !== "list" && type !== "optional")
    throw new CompileFault(
      `${capital(TYPE_WORDS[type])} has no ${field === null ? "items" : `"${field}"`}.`,
      node,
    );
  if (type === "list" && index.type !== "dyn" && !isNumeric(index.type))
    throw new CompileFault(LIST_INDEX, node);
  return {
    type: isOptional || type === "optional" ? "optional" : "dyn",
    run: (frame) => {
      const from = receiver.run(frame);
      const key = index.run(frame);
      frame.at = node;
      if (from instanceof Optional)
        return from.held === undefined ? Optional.none : Optional.of(valueAt(from.held, key));
      const value = valueAt(from, key);
      if (isOptional) return Optional.of(value);
      if (value === undefined) throw missing(node, key, Array.isArray(from));
      return value;
    },
  };
}

const LIST_INDEX = "The items of a list have whole numbers, the first is [0].";

function missing(node: ASTNode, key: unknown, isItem: boolean): Fault {
  const name = isItem ? node.input.slice(node.start, node.end) : String(key);
  return new Fault(`There is no "${name}".`, name);
}

function valueAt(from: unknown, key: unknown): unknown {
  if (Array.isArray(from)) {
    if (!isNumeric(typeOf(key))) return undefined;
    const index = toDouble(key);
    if (!Number.isInteger(index)) throw new Fault(LIST_INDEX);
    return from[index];
  }
  const name = keyText(key);
  if (name === null) throw new Fault(`A key is a text or a whole number, not ${typeOf(key)}.`);
  return isMap(from) && Object.hasOwn(from, name) ? from[name] : undefined;
}

function compileOperator(
  node: ASTNode,
  operator: Operator,
  args: [ASTNode, ASTNode],
  names: Names,
): Compiled {
  const [left, right] = [compile(args[0], names), compile(args[1], names)];
  const type = operatorType(operator, left.type, right.type);
  if (!type)
    throw new CompileFault(`These do not go together: ${left.type} ${operator} ${right.type}.`, node);
  if (operator === "%")
    for (const arg of args)
      if (arg.op === "value" && typeof arg.args === "number" && !Number.isInteger(arg.args))
        throw new CompileFault(noRemainder(arg.args), node);
  return {
    type,
    run: (frame) => {
      const a = left.run(frame);
      const b = right.run(frame);
      frame.at = node;
      return operate(frame.work, operator, a, b);
    },
  };
}

function compileLogic(
  node: ASTNode,
  args: readonly [ASTNode, ASTNode],
  deciding: boolean,
  names: Names,
): Compiled {
  const left = compile(args[0], names);
  const right = compile(args[1], names);
  const operator = deciding ? "||" : "&&";
  for (const { type } of [left, right])
    if (type !== "bool" && type !== "dyn")
      throw new CompileFault(`These do not go together: ${left.type} ${operator} ${right.type}.`, node);
  return {
    type: "bool",
    run: (frame) => {
      let first: unknown;
      try {
        first = left.run(frame);
      } catch (error) {
        // What the other side decides alone, is decided.
        const at = keepGoing(frame, error);
        if (right.run(frame) === deciding) return deciding;
        frame.at = at;
        throw error;
      }
      if (first === deciding) return deciding;
      const second = right.run(frame);
      frame.at = node;
      if (typeof first !== "boolean" || typeof second !== "boolean") {
        if (second === deciding) return deciding;
        throw mismatch(operator, first, second);
      }
      return second;
    },
  };
}

/** Catching costs far more than visiting a node. */
const CAUGHT_UNITS = 100;

/** After a fault that may not matter; gives its place. A budget that is used up always matters. */
function keepGoing(frame: Frame, error: unknown): ASTNode {
  if (error instanceof WorkError) throw error;
  const { at } = frame;
  frame.work.spend(CAUGHT_UNITS);
  return at;
}

function compileHas(node: ASTNode, arg: ASTNode, names: Names): Compiled {
  if (arg.op !== "." && arg.op !== ".?")
    throw new CompileFault("has(...) takes a key with a dot, such as has(state.key).", node);
  const receiver = compile(arg.args[0], names);
  const key: string = arg.args[1];
  return {
    type: "bool",
    run: (frame) => {
      const from = receiver.run(frame);
      frame.at = node;
      return valueAt(from instanceof Optional ? from.held : from, key) !== undefined;
    },
  };
}

function compileOr(
  node: ASTNode,
  name: "or" | "orValue",
  receiver: ASTNode,
  args: readonly ASTNode[],
  names: Names,
): Compiled {
  const optional = compile(receiver, names);
  const message = `${name} follows a value that may be missing, as in state.?key.${name === "or" ? "or(state.?other)" : 'orValue("none")'}.`;
  if (args.length !== 1 || (optional.type !== "optional" && optional.type !== "dyn"))
    throw new CompileFault(message, node);
  const other = compile(present(args[0], "args[0]"), names);
  if (name === "or" && other.type !== "optional" && other.type !== "dyn")
    throw new CompileFault(message, node);
  return {
    type: name === "or" ? "optional" : "dyn",
    run: (frame) => {
      const value = optional.run(frame);
      frame.at = node;
      if (!(value instanceof Optional)) throw new Fault(message);
      if (value.held !== undefined) return name === "or" ? value : value.held;
      const instead = other.run(frame);
      frame.at = node;
      if (name === "or" && !(instead instanceof Optional)) throw new Fault(message);
      return instead;
    },
  };
}

function compileCall(
  node: ASTNode,
  name: string,
  receiver: ASTNode | null,
  args: readonly ASTNode[],
  names: Names,
): Compiled {
  const written = receiver ? [receiver, ...args] : args;
  const named = functionsNamed(name, receiver !== null).filter(
    (candidate) => candidate.args.length === args.length,
  );
  if (named.length === 0) {
    // Said first: what it is called with may not be known either.
    throw new CompileFault(noFunction(name, receiver !== null, null), node);
  }
  const values = written.map((arg) => compile(arg, names));
  const types = values.map(({ type }) => type);
  const fitting = named.filter((candidate) => accepts(candidate, types));
  if (fitting.length === 0) throw new CompileFault(noFunction(name, receiver !== null, types), node);
  const runs = values.map(({ run }) => run);
  const [first] = fitting;
  return {
    type: fitting.every(({ gives }) => gives === present(first, "first").gives)
      ? present(first, "first").gives
      : "dyn",
    run: (frame) => {
      frame.work.spend(CALL_UNITS);
      const given = runs.map((run) => run(frame));
      frame.at = node;
      const found = given.map(typeOf);
      const chosen = fitting.find((candidate) => accepts(candidate, found));
      if (!chosen) throw new Fault(noFunction(name, receiver !== null, found));
      return chosen.run(frame.work, ...given);
    },
  };
}

function accepts(candidate: CelFunction, types: readonly Type[]): boolean {
  const kinds = candidate.on === null ? candidate.args : [candidate.on, ...candidate.args];
  return kinds.every((kind, i) => fits(kind, present(types[i], "types[i]")));
}

/** In words that there is no such function; `types`: what it was called with, null if none of that name fits at all. */
function noFunction(name: string, isMethod: boolean, types: readonly Type[] | null): string {
  const shown = (type: Type | undefined) => (type === "dyn" || type === undefined ? "value" : type);
  const call =
    types === null
      ? `${isMethod ? "value." : ""}${name}()`
      : isMethod
        ? `${shown(types[0])}.${name}(${types.slice(1).map(shown).join(", ")})`
        : `${name}(${types.map(shown).join(", ")})`;
  const others = [...functionsNamed(name, isMethod), ...functionsNamed(name, !isMethod)];
  const inMath = functionsNamed(`math.${name}`, false);
  const known = others.map(({ signature }) =>
    signature.replaceAll("whole", "number").replaceAll("dyn", "value"),
  );
  const hint = FUNCTION_HINTS.get(name) ?? (inMath.length > 0 ? `math.${name}(x)` : undefined);
  if (known.length > 0)
    return `There is no function ${call}; there is ${[...new Set(known)].slice(0, 4).join(", ")}.`;
  return hint ? `There is no function ${call}; write ${hint}.` : `There is no function ${call}.`;
}

// ---- macros

/** How many names a macro binds and how many expressions follow them, as numbers of arguments. */
const MACROS: Readonly<Record<string, readonly number[]>> = {
  all: [2, 3],
  exists: [2, 3],
  exists_one: [2, 3],
  existsOne: [2, 3],
  filter: [2],
  map: [2, 3],
  transformList: [3, 4],
  transformMap: [3, 4],
};

/** The names of macros, for whoever reads a tree. `binds`: how many of the arguments are names that it binds. */
export function macroBinds(name: string, args: readonly ASTNode[]): number {
  if (!Object.hasOwn(MACROS, name) || !present(MACROS[name], "MACROS[name]").includes(args.length)) return 0;
  if (name.startsWith("transform")) return 2;
  return name !== "map" && args.length === 3 ? 2 : 1;
}

function compileMacro(
  node: ASTNode,
  name: string,
  receiver: ASTNode,
  args: readonly ASTNode[],
  names: Names,
): Compiled | null {
  const bound = macroBinds(name, args);
  if (bound === 0) return null;
  const over = compile(receiver, names);
  if (over.type !== "dyn" && over.type !== "list" && over.type !== "map")
    throw new CompileFault(goesThrough(name, over.type), node);
  const slot = names.size;
  const known = new Map(names.known);
  for (const [i, arg] of args.slice(0, bound).entries()) {
    if (arg.op !== "id") throw new CompileFault(`${name} first names its item, as in ${example(name)}.`, arg);
    known.set(arg.args, { slot: slot + i, type: "dyn" });
  }
  const inner = { known, size: slot + bound };
  const bodies = args.slice(bound).map((arg) => ({ node: arg, ...compile(arg, inner) }));
  const loop: Loop = { name, node, over: over.run, slot, bound };
  if (name === "map" || name.startsWith("transform")) {
    const [filter, transform] = bodies.length === 2 ? bodies : [null, present(bodies[0], "bodies[0]")];
    if (filter) expectBool(filter, filter.node, `The condition of ${name} is true or false`);
    return name === "transformMap"
      ? transformToMap(loop, filter?.run ?? null, transform.run)
      : transformToList(loop, filter?.run ?? null, transform.run);
  }
  expectBool(
    present(bodies[0], "bodies[0]"),
    present(bodies[0], "bodies[0]").node,
    `The condition of ${name} is true or false`,
  );
  const condition = present(bodies[0], "bodies[0]").run;
  if (name === "filter") return transformToList(loop, condition, (frame) => frame.slots[slot]);
  if (name === "all" || name === "exists") return quantify(loop, condition, name === "exists");
  return {
    type: "bool",
    run: (frame) => {
      let found = 0;
      each(loop, frame, () => {
        if (holds(loop, frame, condition)) found++;
        return found < 2;
      });
      return found === 1;
    },
  };
}

const example = (name: string) =>
  name.startsWith("transform") ? `state.list.${name}(i, item, item)` : `state.list.${name}(item, item > 0)`;

const goesThrough = (name: string, type: Type) =>
  `${name} goes through a list or the keys of an object, not through ${TYPE_WORDS[type]}.`;

interface Loop {
  name: string;
  node: ASTNode;
  over: Run;
  slot: number;
  bound: number;
}

/** Goes through a list, or the keys of an object, until the step says that it is enough. */
function each(loop: Loop, frame: Frame, step: () => boolean): void {
  const value = loop.over(frame);
  frame.at = loop.node;
  const { slots } = frame;
  if (isList(value)) {
    for (let i = 0; i < value.length; i++) {
      frame.work.spend(4);
      if (loop.bound === 2) slots[loop.slot] = BigInt(i);
      slots[loop.slot + loop.bound - 1] = value[i];
      if (!step()) return;
    }
    return;
  }
  if (!isMap(value)) throw new Fault(goesThrough(loop.name, typeOf(value)));
  for (const key of keysOf(frame.work, value)) {
    frame.work.spend(4);
    slots[loop.slot] = key;
    if (loop.bound === 2) slots[loop.slot + 1] = value[key];
    if (!step()) return;
  }
}

function holds(loop: Loop, frame: Frame, condition: Run): boolean {
  const value = condition(frame);
  frame.at = loop.node;
  return bool(value, `The condition of ${loop.name}`);
}

function transformToList(loop: Loop, filter: Run | null, transform: Run): Compiled {
  return {
    type: "list",
    run: (frame) => {
      const made: unknown[] = [];
      each(loop, frame, () => {
        if (filter && !holds(loop, frame, filter)) return true;
        const value = transform(frame);
        frame.at = loop.node;
        frame.work.makeListItem(made.length);
        made.push(value);
        return true;
      });
      return made;
    },
  };
}

function transformToMap(loop: Loop, filter: Run | null, transform: Run): Compiled {
  return {
    type: "map",
    run: (frame) => {
      const made = newRecord<unknown>();
      each(loop, frame, () => {
        if (filter && !holds(loop, frame, filter)) return true;
        const key = frame.slots[loop.slot];
        setKey(frame, made, key, transform(frame));
        return true;
      });
      return made;
    },
  };
}

/** A fault at one item does not matter where another item decides. */
function quantify(loop: Loop, condition: Run, deciding: boolean): Compiled {
  return {
    type: "bool",
    run: (frame) => {
      const faults: { error: unknown; at: ASTNode }[] = [];
      let isDecided = false;
      each(loop, frame, () => {
        try {
          isDecided = holds(loop, frame, condition) === deciding;
        } catch (error) {
          const at = keepGoing(frame, error);
          if (faults.length === 0) faults.push({ error, at });
        }
        return !isDecided;
      });
      if (isDecided) return deciding;
      for (const { error, at } of faults) {
        frame.at = at;
        throw error;
      }
      return !deciding;
    },
  };
}

// ---- words

function expectBool({ type }: Compiled, node: ASTNode, what: string): void {
  if (type !== "bool" && type !== "dyn")
    throw new CompileFault(`${what}, but this is ${TYPE_WORDS[type]}.`, node);
}

function bool(value: unknown, what: string): boolean {
  if (typeof value === "boolean") return value;
  throw new Fault(`${what} is true or false, but this is ${TYPE_WORDS[typeOf(value)]}.`);
}

/** A type in words. */
export const TYPE_WORDS: Readonly<Record<Type, string>> = {
  dyn: "any value",
  null: "nothing (null)",
  bool: "true or false",
  int: "a number",
  uint: "a number",
  double: "a number",
  string: "text",
  bytes: "bytes",
  list: "a list",
  map: "an object",
  timestamp: "a time",
  duration: "a length of time",
  optional: "a value that may be missing; add .orValue(false)",
  type: "a type",
};

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
