import { UnsignedInt } from "@marcbachmann/cel-js/evaluator";
import type { Json } from "@/server/domain/base/values";
import { WORK_LIMITS, type Work } from "@/server/domain/base/work-budget";
import { Duration, EvaluationError, Optional } from "./expression-values";

/** What making an object of the result costs, and each of its keys. */
const OBJECT_UNITS = 8;
const KEY_UNITS = 4;

/** Turns what an evaluation gives into JSON: whole numbers become numbers where that loses nothing, else text. */
export class JsonWriter {
  private length = 0;
  constructor(private readonly work: Work) {}

  write(value: unknown, depth: number): Json {
    if (depth > WORK_LIMITS.depth) throw new EvaluationError("The result is nested too deeply.");
    switch (typeof value) {
      case "string":
        this.count(value.length);
        return value;
      case "boolean":
        this.count(4);
        return value;
      case "number":
        this.count(8);
        if (!Number.isFinite(value))
          throw new EvaluationError("The result is not a number (division by zero?).");
        return value;
      case "bigint":
        this.count(8);
        return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER
          ? Number(value)
          : String(value);
      default:
        this.count(2);
        return value === null || value === undefined ? null : this.writeObject(value, depth + 1);
    }
  }

  private writeObject(value: object, depth: number): Json {
    this.work.spend(OBJECT_UNITS);
    if (Array.isArray(value)) return value.map((item) => this.write(item, depth));
    if (value instanceof Optional) return this.write(value.held, depth);
    if (value instanceof UnsignedInt) return this.write(value.valueOf(), depth);
    if (value instanceof Date) return value.toISOString();
    if (value instanceof Duration) return String(value);
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== null && prototype !== Object.prototype)
      throw new EvaluationError("The result can't be stored. Convert it with string(...).");
    const made: { [key: string]: Json } = {};
    for (const [key, item] of Object.entries(value)) {
      this.work.spend(KEY_UNITS);
      this.count(key.length);
      if (key !== "__proto__") made[key] = this.write(item, depth);
    }
    return made;
  }

  private count(characters: number): void {
    this.work.spend(2);
    this.length += characters;
    if (this.length > WORK_LIMITS.resultLength)
      throw new EvaluationError(
        `The result exceeds ${WORK_LIMITS.resultLength.toLocaleString("en-US")} characters. Return less.`,
      );
  }
}
