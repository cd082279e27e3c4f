import { calledName, given, isCallOf, pathOf, positional, textOf } from "../../code/literals";
import type { CallExpr, Expr, Place, Statement } from "../../code/program";
import { holds, holdsIn, itemsOf } from "../../code/walk";
import type { Routine } from "./declarations";
import type { Names } from "./evaluate";
import type { Ground } from "./ground";
import { drawGuardrails, ofGuardrails } from "./guardrails";
import { leaves } from "./habits";
import { drawRun } from "./runs";
import type { State } from "./state";
import { type AgentRun, answerKeys, json, type Messages, NO_MESSAGES, type Value } from "./values";

const RUNS = new Set(["run", "run_sync", "runSync", "run_streamed", "runStreamed"]);
const APPROVES =
  /^(approval_?request|request_?approval|human_?approval|ask_?(for_?)?approval|user_?approval|confirm)\d*$/i;
const GUARDS = /^(run_?guardrails|runAndApplyGuardrails|run_and_apply_guardrails)$/i;
const ASKS = new Set(["input", "question", "prompt", "readline", "questionAsync"]);
const SHOWS =
  /^(print|log|info|debug|warn|error|flush|load_dotenv|config|write|basicConfig|exit|sleep|setTracingDisabled|set_tracing_disabled|setDefaultOpenAIKey|set_default_openai_key|set_default_openai_client|set_default_openai_api|pprint|close|connect|cleanup|dirname)$/;
const SETS_UP =
  /^(Runner|OpenAI|AsyncOpenAI|SimpleNamespace|RunConfig|createInterface|SQLiteSession|MemorySession|InMemorySession|MCPServer\w*|OpenAIProvider|getLogger|webSearchTool|fileSearchTool|hostedMcpTool|codeInterpreterTool|WebSearchTool|FileSearchTool|HostedMCPTool|CodeInterpreterTool|tool)$/;
const MOST_CALLS_DEEP = 6;

interface CallsGround extends Ground {
  readonly state: State;
  title: string | null;
  inline(routine: Pick<Routine, "body">, names: Names, place: Place): Value;
}

/** What calls in a program mean: agents that run, people who are asked, functions that do such things. */
export class Calls {
  readonly runs: { run: AgentRun; messages: Messages }[] = [];
  private readonly stack: Routine[] = [];
  /** The checks of guardrails by the key under which their result stands. */
  private readonly acting = new Map<Routine, boolean>();

  constructor(private readonly flow: CallsGround) {}

  /** Whether an expression runs an agent, asks a person, or calls a function that does. */
  acts(expr: Expr): boolean {
    if (expr.is !== "call") return false;
    const name = calledName(expr) ?? "";
    if (this.isRun(expr) || APPROVES.test(name) || GUARDS.test(name) || this.isPrompt(expr)) return true;
    const routine = this.routineOf(expr);
    return routine !== null && this.routineActs(routine);
  }

  private isPrompt(call: CallExpr): boolean {
    const path = pathOf(call.callee);
    const name = path?.at(-1) ?? "";
    return /^(input|input_with_fallback|get_user_input)$/.test(name)
      ? path?.length === 1
      : ASKS.has(name) && (path?.length ?? 0) > 1;
  }

  private isRun(call: CallExpr): boolean {
    const path = pathOf(call.callee);
    if (!path || !RUNS.has(path.at(-1) ?? "")) return false;
    const first = this.agentGiven(call);
    if (!first) return false;
    return (
      path.length === 1 || /runner/i.test(path.at(-2) ?? "") || this.flow.declarations.agentOf(first) !== null
    );
  }

  private agentGiven(call: CallExpr): Expr | null {
    return positional(call, 0) ?? given(call, "starting_agent", "agent");
  }

  private routineOf(call: CallExpr): Routine | null {
    return this.flow.declarations.routineOf(call.callee);
  }

  private routineActs(routine: Routine): boolean {
    const known = this.acting.get(routine);
    if (known !== undefined) return known;
    // A function that calls itself does not answer for itself.
    this.acting.set(routine, false);
    const does = holdsIn(routine.body, (expr) => this.acts(expr));
    this.acting.set(routine, does);
    return does;
  }

  /** Whether a value is only set up here: an agent, a client, a function. */
  declares(expr: Expr): boolean {
    if (expr.is === "function") return true;
    if (expr.is !== "call") return false;
    const agent = this.flow.declarations.agentOf(expr);
    return (agent !== null && agent.call.from === expr.from) || SETS_UP.test(calledName(expr) ?? "");
  }

  isQuiet(expr: Expr): boolean {
    return expr.is === "call"
      ? SHOWS.test(calledName(expr) ?? "") &&
          !this.acts(expr) &&
          !expr.args.some(({ value }) => holds(value, (one) => this.acts(one)))
      : !holds(expr, (one) => this.acts(one));
  }

  /** `if (!process.env.KEY) throw`: what the program itself needs in order to run. */
  isSetup(test: Expr, body: readonly Statement[]): boolean {
    const isOutside = (expr: Expr) =>
      /^(os|process|shutil|sys|importlib)\./.test(pathOf(expr)?.join(".") ?? "");
    return (
      holds(test, isOutside) &&
      body.every((one) => {
        if (one.is === "return")
          return one.value === null || one.value.is === "nothing" || one.value.is === "number";
        return (
          one.is === "throw" ||
          one.is === "nothing" ||
          (one.is === "do" && !holds(one.value, (expr) => this.acts(expr)))
        );
      })
    );
  }

  /** Whether a loop asks somebody in each round, or has no way out. */
  asksOnTheWay(body: readonly Statement[]): boolean {
    return holdsIn(body, (expr) => expr.is === "call" && this.isPrompt(expr)) || !leaves(body);
  }

  /** `range(3)` -> 3. */
  rangeOf(expr: Expr): number | null {
    const only =
      isCallOf(expr, "range") && expr.args.length === 1
        ? this.flow.declarations.jsonOf(positional(expr, 0))
        : null;
    return typeof only === "number" && Number.isInteger(only) ? only : null;
  }

  isApproval(test: Expr): boolean {
    return test.is === "call" && APPROVES.test(calledName(test) ?? "");
  }

  /** Words for a way of a decision. */
  labelOf(test: Expr): string {
    if (test.is === "binary" && test.operator === "==") {
      const text = textOf(test.right) ?? textOf(test.left);
      if (text) return text;
    }
    if (this.isApproval(test)) return "approve";
    if (test.is === "not") return `not ${this.labelOf(test.of)}`;
    return this.flow.source(test, 60).replace(/\s+/g, " ");
  }

  /** What stands at the head of a block. */
  enter(head: Expr): void {
    if (isCallOf(head, "trace", "withTrace", "with_trace"))
      this.flow.title ??= this.flow.declarations.textOf(positional(head, 0));
  }

  /** `withTrace("title", async () => {...})`: the block that it runs. */
  blockOf(expr: Expr): readonly Statement[] | null {
    if (expr.is !== "call" || this.isRun(expr)) return null;
    const block = expr.args.at(-1)?.value;
    if (block?.is !== "function") return null;
    if (!isCallOf(expr, "withTrace") && !holdsIn(block.body, (one) => this.acts(one))) return null;
    this.enter(expr);
    return block.body;
  }

  /** What a call gives, drawn; null where it means nothing here. */
  value(call: CallExpr, names: Names, wanted: string): Value | null {
    const name = calledName(call) ?? "";
    if (this.isRun(call)) return this.runOf(call, names, wanted);
    if (APPROVES.test(name)) return this.approval(call, names);
    if (GUARDS.test(name)) return drawGuardrails(call, names, this.flow);
    if (this.isPrompt(call)) {
      const title = this.flow.declarations.textOf(positional(call, 0)) ?? undefined;
      const key = this.flow.state.inputKey(
        /^(value|result)$/.test(wanted) ? "user_message" : wanted,
        title?.trim(),
      );
      return { is: "path", key, path: [], schema: { type: "string" } };
    }
    return ofGuardrails(call, names, this.flow) ?? this.around(call, names, wanted);
  }

  /** Calls around others: what is waited for, done together, or written as a function. */
  private around(call: CallExpr, names: Names, wanted: string): Value | null {
    const path = pathOf(call.callee)?.join(".") ?? "";
    const acting = (expr: Expr) => holds(expr, (one) => this.acts(one));
    if (/^(asyncio\.run|anyio\.run|asyncio\.wait_for|asyncio\.create_task)$/.test(path)) {
      const first = positional(call, 0);
      if (first && acting(first)) return this.flow.evaluator.value(first, names, wanted);
      const routine = first?.is === "name" ? this.flow.declarations.routines.get(first.name) : undefined;
      if (routine) return this.enterRoutine(routine, [], names, call);
    }
    if (path === "asyncio.gather" || path === "Promise.all") {
      const parts =
        path === "Promise.all"
          ? call.args.flatMap(({ value }) => itemsOf(value))
          : call.args.map(({ value }) => value);
      if (parts.length > 0 && parts.every(acting)) return this.together(parts, names, wanted);
    }
    if (
      call.callee.is === "member" &&
      /^(then|catch|finally)$/.test(call.callee.key) &&
      acting(call.callee.of)
    )
      return this.flow.evaluator.value(call.callee.of, names, wanted);
    const block = this.blockOf(call);
    if (block) return this.flow.inline({ body: block }, names, call);
    const routine = this.routineOf(call);
    return routine && this.routineActs(routine)
      ? this.enterRoutine(
          routine,
          call.args.map(({ name, value }) => ({
            name,
            value: this.flow.evaluator.value(value, names, name ?? "value"),
          })),
          names,
          call,
        )
      : null;
  }

  private enterRoutine(
    routine: Routine,
    given: readonly { name: string | null; value: Value }[],
    outer: Names,
    place: Place,
  ): Value | null {
    if (this.stack.includes(routine) || this.stack.length >= MOST_CALLS_DEEP) {
      this.flow
        .findings(place)
        .dropped(
          "",
          `"${routine.name}" calls itself, or too many functions call each other; this call was left out.`,
        );
      return { is: "unknown", unknown: { name: routine.name, ...place }, path: [] };
    }
    const names: Names = new Map(
      [...outer].filter(([, value]) => value.is === "inputs" || value.is === "state"),
    );
    const params = routine.params.filter(({ name }) => !/^(self|this|cls)$/.test(name));
    for (const [at, { name, value }] of params.entries()) {
      const own =
        given.find((one) => one.name === name)?.value ?? given.filter((one) => one.name === null)[at]?.value;
      const usual = own ?? (value ? this.flow.evaluator.value(value, new Map(), name) : null);
      if (usual) names.set(name, usual);
    }
    this.stack.push(routine);
    const result = this.flow.inline(routine, names, place);
    this.stack.pop();
    return result;
  }

  /** Several at the same time: each begins where all began, and what follows waits for all. */
  private together(parts: readonly Expr[], names: Names, wanted: string): Value {
    const { trail } = this.flow;
    const before = trail.take();
    const after = parts.map((part, at) => {
      trail.openEnds(before);
      const value = this.flow.evaluator.value(part, names, `${wanted}_${at + 1}`);
      return { value, ends: trail.take() };
    });
    trail.openEnds(after.flatMap(({ ends }) => ends));
    return { is: "list", items: after.map(({ value }) => value) };
  }

  private runOf(call: CallExpr, names: Names, wanted: string): Value | null {
    const { flow } = this;
    const first = this.agentGiven(call);
    const known = first?.is === "name" ? names.get(first.name) : undefined;
    const agent = known?.is === "agent" ? known.agent : flow.declarations.agentOf(first);
    if (!agent) {
      flow
        .findings(call)
        .dropped("", `Which agent runs here cannot be told from the code: ${flow.source(call, 100)}`);
      return null;
    }
    const member = flow.members.member(agent);
    const input = given(call, "input") ?? positional(call, 1);
    const said = input ? flow.evaluator.value(input, names, "input") : null;
    const messages = said ? messagesOf(said) : NO_MESSAGES;
    const instructions = member.instructs ? this.instructionsOf(member.instructs, call, names) : null;
    if (member.instructs && !instructions) flow.members.sayUntold(member);
    const run = drawRun(
      member,
      {
        messages,
        instructions,
        name: wanted === "value" ? `${agent.id.replace(/\W+/g, "_")}_result` : wanted,
        place: call,
      },
      {
        members: flow.members,
        keys: flow.state.keys,
        trail: flow.trail,
        findings: flow.findings,
        template: (value) => flow.state.template(value),
      },
    );
    this.runs.push({ run, messages });
    return { is: "run", run };
  }

  /** Instructions that a function writes, with what it reads filled in. */
  private instructionsOf(routine: Routine, call: CallExpr, outer: Names): Value | null {
    const { evaluator } = this.flow;
    const options = given(call, "context");
    const context: Value = options
      ? evaluator.value(options, outer, "context")
      : { is: "record", fields: new Map() };
    const fields =
      context.is === "unknown" && options?.is === "call"
        ? recordOf(options, (expr) => evaluator.value(expr, outer))
        : context;
    const names: Names = new Map();
    const [first] = routine.params;
    if (first) names.set(first.name, { is: "record", fields: new Map([["context", fields]]) });
    for (const statement of routine.body) {
      if (statement.is === "assign" && statement.target.is === "name")
        names.set(statement.target.name, evaluator.value(statement.value, names, statement.target.name));
      if (statement.is === "take") {
        const value = evaluator.value(statement.value, names);
        for (const { key, name } of statement.names) {
          const part = evaluator.member(value, key);
          if (part) names.set(name, part);
        }
      }
      if (statement.is === "return" && statement.value)
        return evaluator.value(statement.value, names, "instructions");
    }
    return null;
  }

  private approval(call: CallExpr, names: Names): Value {
    const { flow } = this;
    const first = positional(call, 0);
    const said = first ? flow.evaluator.value(first, names, "message") : json("");
    const words = flow.state.template(said);
    const key = flow.state.keys.of(`approval ${call.from}`, "approved");
    flow.trail.step("approval", {
      node_type: "user_input",
      name: words ? `Ask a person: ${words}`.slice(0, 120) : "Ask a person",
      config: {
        title: words || "Is this all right?",
        schema: {
          type: "object",
          properties: { [key]: { type: "boolean", title: "Approve" } },
          required: [key],
        },
      },
      output_keys: [key],
    });
    return { is: "path", key, path: [], schema: { type: "boolean" } };
  }

  /** The answers of the agents that stand at these places of the drawing. */
  answersAt(nodes: readonly (string | null)[]): string[][] {
    const found = nodes.flatMap((id) =>
      this.runs.filter(({ run }) => run.node_id === id).map(({ run }) => answerKeys(run)),
    );
    const [last] = this.runs.slice(-1);
    return found.length > 0 ? found : last && this.runs.length === 1 ? [answerKeys(last.run)] : [];
  }

  /** In a loop, what agents say in one round is part of the conversation in the next. */
  readLater(from: number, before: Names, after: Names): void {
    const grown = new Set<string>();
    for (const [name, value] of after) {
      const old = before.get(name);
      if (value.is !== "messages" || old?.is !== "messages") continue;
      for (const key of [...value.messages.sure, ...value.messages.maybe])
        if (!old.messages.sure.has(key) && !old.messages.maybe.has(key)) grown.add(key);
    }
    if (grown.size === 0) return;
    for (const { run, messages } of this.runs.slice(from)) {
      if (messages === NO_MESSAGES || messages.texts.length === 0) continue;
      const keys = [...grown].filter((key) => !messages.sure.has(key));
      this.flow.drawing.change(run.node_id, {
        optional_input_keys: [...new Set([...messages.maybe, ...keys])],
      });
    }
  }
}

/** What an agent is given, as a conversation. */
function messagesOf(value: Value): Messages {
  if (value.is === "messages") return value.messages;
  if (value.is === "run") return { ...NO_MESSAGES, texts: [{ is: "output", run: value.run }] };
  if (value.is === "list") return { ...NO_MESSAGES, texts: value.items };
  return { ...NO_MESSAGES, texts: [value] };
}

/** `Context(a=1)` as a record. */
function recordOf(call: CallExpr, value: (expr: Expr) => Value): Value {
  return {
    is: "record",
    fields: new Map(
      call.args.flatMap((argument) =>
        argument.name === null ? [] : [[argument.name, value(argument.value)] as const],
      ),
    ),
  };
}
