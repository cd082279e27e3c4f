import type { ASTNode } from "@marcbachmann/cel-js";
import { newRecord } from "@/server/domain/base/json";
import { must } from "@/server/domain/base/must";
import { constants } from "../functions/conversions";
import { NAMESPACES } from "../functions/define";
import { compileCall } from "./expression-calls";
import {
  bool,
  type Call,
  type Compiled,
  CompileError,
  expectBool,
  keepGoing,
  type Names,
  OBJECT_UNITS,
  RESERVED_KEYS,
  reservedKey,
  setKey,
} from "./expression-compiled";
import { TYPE_LABELS, unknownName } from "./expression-hints";
import { compileMacro } from "./expression-macros";
import {
  EvaluationError,
  int,
  isMap,
  isNumeric,
  keyText,
  mismatch,
  noRemainder,
  OPERATORS,
  type Operator,
  Optional,
  operate,
  operatorType,
  toDouble,
  typeOf,
} from "./expression-values";

/**
 * Turns an expression's tree into a function that evaluates it and counts its work. The parser leaves macros as calls.
 * Types are checked here as far as they are known before it runs.
 */

/** Compiles a tree. Throws CompileError. */
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
      const index: Compiled = { run: () => key, type: "string" };
      return access(node, { receiver, index, isOptional: node.op === ".?", field: key });
    }
    case "[]":
    case "[?]": {
      const receiver = compile(node.args[0], names);
      const index = compile(node.args[1], names);
      return access(node, { receiver, index, isOptional: node.op === "[?]", field: null });
    }
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
    case "?:":
      return compileChoice(node, node.args, names);
    case "&&":
    case "||":
      return compileLogic(node, node.args, node.op === "||", names);
    case "!_":
      return compileNot(node, node.args, names);
    case "-_":
      return compileNegative(node, node.args, names);
    case "call": {
      const [name, args] = node.args;
      return name === "has" && args.length === 1
        ? compileHas(node, must(args, 0), names)
        : compileCall({ node, name, receiver: null, args }, names, compile);
    }
    case "rcall": {
      const [name, receiver, args] = node.args;
      return compileMethod({ node, name, receiver, args }, names);
    }
    default: {
      const operator = OPERATORS.find((known) => known === node.op);
      if (!operator) throw new CompileError(`"${String(node.op)}" is not available.`, node);
      return compileOperator(node, operator, node.args, names);
    }
  }
}

function compileChoice(
  node: ASTNode,
  args: readonly [condition: ASTNode, yes: ASTNode, no: ASTNode],
  names: Names,
): Compiled {
  const condition = compile(args[0], names);
  const yes = compile(args[1], names);
  const no = compile(args[2], names);
  expectBool(condition, args[0], "The part before ? must be true or false");
  return {
    type: yes.type === no.type ? yes.type : "dyn",
    run: (frame) => {
      const chosen = condition.run(frame);
      frame.at = node;
      return bool(chosen, "The part before ?") ? yes.run(frame) : no.run(frame);
    },
  };
}

function compileNot(node: ASTNode, arg: ASTNode, names: Names): Compiled {
  const inner = compile(arg, names);
  expectBool(inner, node, "The part after ! must be true or false");
  return {
    type: "bool",
    run: (frame) => {
      const value = inner.run(frame);
      frame.at = node;
      return !bool(value, "The part after !");
    },
  };
}

function compileNegative(node: ASTNode, arg: ASTNode, names: Names): Compiled {
  const inner = compile(arg, names);
  if (inner.type !== "dyn" && inner.type !== "int" && inner.type !== "double")
    throw new CompileError(`${inner.type} can't be negated.`, node);
  return {
    type: inner.type,
    run: (frame) => {
      const value = inner.run(frame);
      frame.at = node;
      if (typeof value === "number") return -value;
      if (typeof value === "bigint") return int(-value);
      throw new EvaluationError(`${typeOf(value)} can't be negated.`);
    },
  };
}

/** A call with a dot: of a function in a namespace, of `or` or `orValue`, of a macro or of a function. */
function compileMethod(call: Call<ASTNode>, names: Names): Compiled {
  const { name, receiver } = call;
  if (receiver.op === "id" && NAMESPACES.has(receiver.args) && !names.known.has(receiver.args))
    return compileCall({ ...call, name: `${receiver.args}.${name}`, receiver: null }, names, compile);
  if (name === "or" || name === "orValue") return compileOr(call, name, names);
  return compileMacro(call, names, compile) ?? compileCall(call, names, compile);
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
        throw new EvaluationError(`"${name}" has no value here, outside of a run.`);
      },
    };
  }
  if (constants.has(name)) {
    const value = constants.get(name);
    return { type: typeOf(value), run: () => value };
  }
  throw new CompileError(unknownName(name), node);
}

function compileMap(
  node: ASTNode,
  entries: readonly (readonly [ASTNode, ASTNode])[],
  names: Names,
): Compiled {
  const compiled = entries.map(([key, value]) => {
    if (key.op === "value" && typeof key.args === "string" && RESERVED_KEYS.has(key.args))
      throw new CompileError(reservedKey(key.args), key);
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

interface Access {
  receiver: Compiled;
  index: Compiled;
  isOptional: boolean;
  /** The name after a dot; null in brackets. */
  field: string | null;
}

/** `a.b`, `a["b"]`, `a[0]`; with a question mark, a missing value is `optional.none()` instead of an error. */
function access(node: ASTNode, { receiver, index, isOptional, field }: Access): Compiled {
  const { type } = receiver;
  if (type !== "dyn" && type !== "map" && type !== "list" && type !== "optional")
    throw new CompileError(
      `${capital(TYPE_LABELS[type])} has no ${field === null ? "items" : `"${field}"`}.`,
      node,
    );
  if (type === "list" && index.type !== "dyn" && !isNumeric(index.type))
    throw new CompileError(LIST_INDEX, node);
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

const LIST_INDEX = "List indexes are whole numbers; the first is [0].";

function missing(node: ASTNode, key: unknown, isItem: boolean): EvaluationError {
  const name = isItem ? node.input.slice(node.start, node.end) : String(key);
  return new EvaluationError(`There is no "${name}".`, name);
}

function valueAt(from: unknown, key: unknown): unknown {
  if (Array.isArray(from)) {
    if (!isNumeric(typeOf(key))) return undefined;
    const index = toDouble(key);
    if (!Number.isInteger(index)) throw new EvaluationError(LIST_INDEX);
    return from[index];
  }
  const name = keyText(key);
  if (name === null) throw new EvaluationError(`A key must be text or a whole number, not ${typeOf(key)}.`);
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
  if (!type) throw new CompileError(`Type mismatch: ${left.type} ${operator} ${right.type}.`, node);
  if (operator === "%")
    for (const arg of args)
      if (arg.op === "value" && typeof arg.args === "number" && !Number.isInteger(arg.args))
        throw new CompileError(noRemainder(arg.args), node);
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
      throw new CompileError(`Type mismatch: ${left.type} ${operator} ${right.type}.`, node);
  return {
    type: "bool",
    run: (frame) => {
      let first: unknown;
      try {
        first = left.run(frame);
      } catch (error) {
        // The other side may decide alone.
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

function compileHas(node: ASTNode, arg: ASTNode, names: Names): Compiled {
  if (arg.op !== "." && arg.op !== ".?")
    throw new CompileError("has(...) needs a field after a dot, such as has(state.key).", node);
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

function compileOr({ node, receiver, args }: Call<ASTNode>, name: "or" | "orValue", names: Names): Compiled {
  const optional = compile(receiver, names);
  const message = `${name} can only follow a value that may be missing, as in state.?key.${name === "or" ? "or(state.?other)" : 'orValue("none")'}.`;
  if (args.length !== 1 || (optional.type !== "optional" && optional.type !== "dyn"))
    throw new CompileError(message, node);
  const other = compile(must(args, 0), names);
  if (name === "or" && other.type !== "optional" && other.type !== "dyn")
    throw new CompileError(message, node);
  return {
    type: name === "or" ? "optional" : "dyn",
    run: (frame) => {
      const value = optional.run(frame);
      frame.at = node;
      if (!(value instanceof Optional)) throw new EvaluationError(message);
      if (value.held !== undefined) return name === "or" ? value : value.held;
      const instead = other.run(frame);
      frame.at = node;
      if (name === "or" && !(instead instanceof Optional)) throw new EvaluationError(message);
      return instead;
    },
  };
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
