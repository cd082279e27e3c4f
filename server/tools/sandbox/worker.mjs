// The thread in which code from outside runs: one fresh QuickJS engine, one program, one answer. A plain file, loaded
// by its path, because a bundler must neither move nor merge it. Nothing of the host is handed into the engine.
import { parentPort, workerData } from "node:worker_threads";
import variant from "@jitl/quickjs-wasmfile-release-sync";
import { newQuickJSWASMModuleFromVariant } from "quickjs-emscripten-core";

const { code, input, kept, replay, tools, at, limits } = workerData;

/** Runs inside the engine before the code does, and keeps what it needs where the code cannot change it. */
const PRELUDE = `(function (source) {
  "use strict";
  const { input, kept, replay, tools, at, limits } = JSON.parse(source);
  const { stringify, parse } = JSON;
  const { keys, getPrototypeOf, getOwnPropertyNames, prototype: plain } = Object;
  const { isArray } = Array;
  const { isFinite } = Number;
  // Equal values give equal text, whoever kept them in between.
  const ordered = (value) => {
    if (value === null || typeof value !== "object") return stringify(value);
    if (Array.isArray(value)) return "[" + value.map(ordered).join() + "]";
    return "{" + keys(value).sort().map((key) => stringify(key) + ":" + ordered(value[key])).join() + "}";
  };
  const text = String;
  const isString = (value) => typeof value === "string";
  const logs = [];
  let logged = 0;
  const write = (...parts) => {
    if (logs.length >= limits.logLines || logged >= limits.logChars) return;
    let line = "";
    for (let i = 0; i < parts.length; i++) {
      let part = parts[i];
      if (!isString(part)) {
        try { part = part instanceof Error ? text(part) : (stringify(part) ?? text(part)); } catch { part = text(part); }
      }
      line += (i > 0 ? " " : "") + part;
      if (line.length > limits.logChars) break;
    }
    line = line.slice(0, limits.logChars - logged);
    logged += line.length;
    logs[logs.length] = line;
  };
  const console = Object.freeze({ log: write, info: write, warn: write, error: write, debug: write });

  // The same every time the code runs again with the answers to its calls.
  let seed = at % 2147483647 || 1;
  Math.random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  const RealDate = Date;
  const FixedDate = function Date(...given) {
    if (!new.target) return new RealDate(at).toString();
    return Reflect.construct(RealDate, given.length > 0 ? given : [at], new.target);
  };
  FixedDate.prototype = RealDate.prototype;
  FixedDate.prototype.constructor = FixedDate;
  FixedDate.now = () => at;
  FixedDate.UTC = RealDate.UTC;
  FixedDate.parse = RealDate.parse;
  globalThis.Date = FixedDate;

  let asked = 0;
  let wanted = null;
  let broken = null;
  const call = (tool, args = {}) => {
    const index = asked++;
    if (tools.length === 0) throw new Error("This code may call no tools");
    if (!isString(tool) || !tools.includes(tool)) throw new Error("This code may not call " + text(tool) + ". It may call: " + tools.join(", "));
    if (index >= limits.calls) throw new Error("This code may call tools at most " + limits.calls + " times");
    const asText = stringify(args);
    if (index < replay.length) {
      const known = replay[index];
      if (known.tool !== tool || ordered(known.args) !== ordered(parse(asText))) broken = "The code asked for other calls when it ran again";
      else if (known.output.status_code === 200) return Promise.resolve(known.output.output ?? null);
      else {
        const failure = new Error(known.output.error ?? "The call failed");
        failure.status_code = known.output.status_code;
        return Promise.reject(failure);
      }
    } else wanted ??= { index, tool, args: asText };
    // Nobody answers now: the host carries the call out and runs the code again.
    return new Promise(() => {});
  };

  const describe = (error) => {
    try {
      if (error instanceof Error) return { name: text(error.name), message: text(error.message), stack: text(error.stack ?? "") };
      return { name: "Error", message: isString(error) ? error : (stringify(error) ?? text(error)), stack: "" };
    } catch { return { name: "Error", message: "The code threw something that cannot be shown", stack: "" }; }
  };
  // Variables that were assigned without a declaration are properties of the global object: those that are JSON stay.
  const own = {};
  const before = getOwnPropertyNames(globalThis);
  for (let i = 0; i < before.length; i++) own["$" + before[i]] = true;
  if (kept) for (const name of keys(kept)) if (name !== "__proto__") globalThis[name] = kept[name];
  const isJson = (value, depth) => {
    if (value === null || isString(value) || typeof value === "boolean") return true;
    if (typeof value === "number") return isFinite(value);
    if (typeof value !== "object" || depth > 50) return false;
    const proto = getPrototypeOf(value);
    if (!isArray(value) && proto !== plain && proto !== null) return false;
    const names = keys(value);
    for (let i = 0; i < names.length; i++) if (!isJson(value[names[i]], depth + 1)) return false;
    return true;
  };
  const variables = () => {
    const values = {};
    const lost = [];
    let size = 0;
    const names = keys(globalThis);
    for (let i = 0; i < names.length; i++) {
      const name = names[i];
      if (own["$" + name]) continue;
      let asText;
      try { asText = isJson(globalThis[name], 0) ? stringify(globalThis[name]) : undefined; } catch { asText = undefined; }
      if (asText === undefined || name.length > 200 || (size += asText.length + name.length) > limits.keptChars) lost[lost.length] = cut(name, 200);
      else values[name] = parse(asText);
      if (lost.length > 100) break;
    }
    return { values, lost };
  };
  let outcome = null;
  const cut = (value, length) => value.slice(0, length);
  return {
    run(program) {
      const settled = (value) => {
        const result = stringify(value) ?? "null";
        outcome = result.length > limits.jsonBytes
          ? { failed: { name: "TooLarge", message: "The result is larger than " + limits.jsonBytes + " bytes", stack: "" } }
          : { result };
      };
      const failed = (error) => { outcome = { failed: describe(error) }; };
      program(input, call, console).then(settled).catch(failed);
    },
    answer() {
      const failure = outcome?.failed;
      if (failure) {
        failure.name = cut(failure.name, 100);
        failure.message = cut(failure.message, 2000);
        failure.stack = cut(failure.stack, 2000);
      }
      return stringify({ outcome, wanted, broken, logs, ...(kept && outcome && !failure ? { variables: variables() } : {}) });
    },
  };
})`;

class Stopped extends Error {
  constructor(about) {
    super("stopped");
    this.about = about;
  }
}

const engine = await newQuickJSWASMModuleFromVariant(variant);
const runtime = engine.newRuntime();
runtime.setMemoryLimit(limits.memoryBytes);
runtime.setMaxStackSize(limits.stackBytes);
const context = runtime.newContext();
parentPort.postMessage({ kind: "ready" });

const deadline = Date.now() + limits.cpuMs;
runtime.setInterruptHandler(() => Date.now() > deadline);
parentPort.postMessage({ kind: "ended", ...run() });

/** The program's answer as JSON text, or why there is none. */
function run() {
  try {
    const prelude = take(context.evalCode(PRELUDE, "prelude.js"));
    const source = context.newString(
      JSON.stringify({ input: JSON.parse(input), kept, replay, tools, at, limits }),
    );
    const box = take(context.callFunction(prelude, context.undefined, source));
    const parsed = context.evalCode(`(async function (input, call, console) {${code}\n})`, "code.js");
    if (parsed.error) return { failure: { ...describe(parsed.error), kind: "SYNTAX" } };
    take(context.callFunction(context.getProp(box, "run"), box, parsed.value));
    for (let jobs = 0; runtime.hasPendingJob(); jobs++) {
      if (Date.now() > deadline) return { failure: { kind: "TIMEOUT" } };
      if (jobs >= limits.jobs) return { failure: { kind: "JOBS" } };
      const job = runtime.executePendingJobs(1);
      if (job.error) throw new Stopped(describe(job.error));
    }
    if (Date.now() > deadline) return { failure: { kind: "TIMEOUT" } };
    const answer = take(context.callFunction(context.getProp(box, "answer"), box));
    return { answer: context.getString(answer) };
  } catch (error) {
    if (Date.now() > deadline) return { failure: { kind: "TIMEOUT" } };
    if (error instanceof Stopped) return { failure: { ...error.about, kind: "THROWN" } };
    return { failure: { kind: "CRASHED", message: String(error?.message ?? error).slice(0, 300) } };
  }
}

/** The value of a result. Throws Stopped where the engine threw. */
function take(result) {
  if (result.error) throw new Stopped(describe(result.error));
  return result.value;
}

/** The name, the message and the place of an error inside the engine, read without running any of its code twice. */
function describe(handle) {
  const read = (key) => {
    try {
      const value = context.getProp(handle, key);
      return context.typeof(value) === "string" ? context.getString(value).slice(0, 2000) : "";
    } catch {
      return "";
    }
  };
  return context.typeof(handle) === "object"
    ? { name: read("name"), message: read("message"), stack: read("stack") }
    : {
        name: "Error",
        message: context.typeof(handle) === "string" ? context.getString(handle).slice(0, 2000) : "",
        stack: "",
      };
}
