import type { ASTNode } from "@marcbachmann/cel-js";
import { isList } from "@/server/domain/base/guards";
import { newRecord } from "@/server/domain/base/json";
import { must } from "@/server/domain/base/must";
import {
  bool,
  type Call,
  type Compile,
  type Compiled,
  CompileError,
  expectBool,
  type Frame,
  keepGoing,
  type Names,
  type Run,
  setKey,
} from "./expression-compiled";
import { TYPE_LABELS } from "./expression-hints";
import { EvaluationError, isMap, keysOf, type Type, typeOf } from "./expression-values";

/** Macros that iterate over a list or an object and name its items: `all`, `exists`, `filter`, `map` and so on. */

const ITERABLE: ReadonlySet<Type> = new Set(["dyn", "list", "map"]);

/** The possible numbers of arguments of each macro. */
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

/** How many of the arguments are names that the macro binds; 0 if the call is no macro. */
export function macroBinds(name: string, args: readonly ASTNode[]): number {
  if (!Object.hasOwn(MACROS, name) || !must(MACROS, name).includes(args.length)) return 0;
  if (name.startsWith("transform")) return 2;
  return name !== "map" && args.length === 3 ? 2 : 1;
}

/** Compiles a call of a macro; null if it is none. Throws CompileError. */
export function compileMacro(
  { node, name, receiver, args }: Call<ASTNode>,
  names: Names,
  compile: Compile,
): Compiled | null {
  const bound = macroBinds(name, args);
  if (bound === 0) return null;
  const over = compile(receiver, names);
  if (!ITERABLE.has(over.type)) throw new CompileError(goesThrough(name, over.type), node);
  const slot = names.size;
  const known = new Map(names.known);
  for (const [i, arg] of args.slice(0, bound).entries()) {
    if (arg.op !== "id")
      throw new CompileError(`${name} needs a name for the item first, as in ${example(name)}.`, arg);
    known.set(arg.args, { slot: slot + i, type: "dyn" });
  }
  const inner = { known, size: slot + bound };
  const bodies = args.slice(bound).map((arg) => ({ node: arg, ...compile(arg, inner) }));
  const loop: Loop = { name, node, over: over.run, slot, bound };
  const transforms = name === "map" || name.startsWith("transform");
  const first = must(bodies, 0);
  if (!transforms || bodies.length === 2)
    expectBool(first, first.node, `The condition of ${name} must be true or false`);
  if (transforms) {
    const [filter, transform] = bodies.length === 2 ? [first.run, must(bodies, 1).run] : [null, first.run];
    return name === "transformMap"
      ? transformToMap(loop, filter, transform)
      : transformToList(loop, filter, transform);
  }
  const condition = first.run;
  if (name === "filter") return transformToList(loop, condition, (frame) => frame.slots[slot]);
  if (name === "all" || name === "exists") return quantify(loop, condition, name === "exists");
  return exactlyOne(loop, condition);
}

const example = (name: string) =>
  name.startsWith("transform") ? `state.list.${name}(i, item, item)` : `state.list.${name}(item, item > 0)`;

const goesThrough = (name: string, type: Type) =>
  `${name} iterates over a list or an object's keys, not ${TYPE_LABELS[type]}.`;

interface Loop {
  name: string;
  node: ASTNode;
  over: Run;
  slot: number;
  bound: number;
}

/** Iterates over a list or the keys of an object until `step` returns false. */
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
  if (!isMap(value)) throw new EvaluationError(goesThrough(loop.name, typeOf(value)));
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

function exactlyOne(loop: Loop, condition: Run): Compiled {
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

/** An error at one item doesn't matter if another item decides. */
function quantify(loop: Loop, condition: Run, deciding: boolean): Compiled {
  return {
    type: "bool",
    run: (frame) => {
      const errors: { error: unknown; at: ASTNode }[] = [];
      let isDecided = false;
      each(loop, frame, () => {
        try {
          isDecided = holds(loop, frame, condition) === deciding;
        } catch (error) {
          const at = keepGoing(frame, error);
          if (errors.length === 0) errors.push({ error, at });
        }
        return !isDecided;
      });
      if (isDecided) return deciding;
      for (const { error, at } of errors) {
        frame.at = at;
        throw error;
      }
      return !deciding;
    },
  };
}
