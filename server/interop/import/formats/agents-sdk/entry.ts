import type { Findings, Raw } from "@/server/domain/base/lenient-reader";
import type { Place, Statement } from "../../code/program";
import { holdsIn } from "../../code/walk";
import type { Drawing } from "../../drawing";
import type { Declarations, Routine } from "./declarations";
import type { Names } from "./evaluate";
import { Flow } from "./flow";
import type { Members } from "./members";
import { drawRun } from "./runs";
import { NO_MESSAGES } from "./values";

/** What came of a program: its title, what its variables begin with, and whether nothing of it was drawn. */
export interface Drawn {
  title: string | null;
  schema: Raw | undefined;
  isEmpty: boolean;
}

/** Draws what a program does, from where it begins. */
export function drawProgram(parts: {
  declarations: Declarations;
  members: Members;
  drawing: Drawing;
  findings: (place: Place) => Findings;
}): Drawn {
  const { declarations, members, drawing, findings } = parts;
  const flow = new Flow(declarations, members, drawing, findings);
  const acts = (body: readonly Statement[]) => holdsIn(body, (expr) => flow.calls.acts(expr));
  const { body } = declarations.program;
  const routines = [...declarations.routines.values()].filter((routine) => acts(routine.body));
  const builder = routines.find(({ name }) => /^run_?workflow$/i.test(name));
  if (builder) flow.draw(builder.body, namesOf(builder, flow));
  else if (acts(body)) flow.draw(body, new Map());
  else {
    const called = (one: Routine) =>
      routines.some(
        (other) =>
          other !== one &&
          holdsIn(
            other.body,
            (expr) => (expr.is === "name" || expr.is === "member") && declarations.routineOf(expr) === one,
          ),
      );
    const [entry, ...more] = routines.filter((routine) => !called(routine));
    if (entry) flow.draw(entry.body, namesOf(entry, flow));
    else drawAgents(flow);
    for (const other of more)
      findings(other).dropped(
        "",
        `"${other.name}" runs agents, too. One workflow was made, of "${entry?.name ?? ""}"; import it again with only the other to have it.`,
      );
  }
  const isEmpty = drawing.ids().length === 0;
  if (!isEmpty) flow.trail.begin(drawing.start(flow.state.drawnInputs()));
  addCode(members, drawing);
  return { title: flow.title, schema: flow.state.schema(), isEmpty };
}

const TAKES_ALL = /^(workflow|workflow_?input|input_?data|payload|req|request|body|params|args|data|event)$/i;

/** What the parameters of a function stand for: what a run is given. */
function namesOf(routine: Routine, flow: Flow): Names {
  const names: Names = new Map();
  for (const { name, takes, type, value } of routine.params) {
    if (/^(self|this|cls|args|kwargs|ctx|context)$/.test(name)) continue;
    for (const { key, name: taken } of takes)
      names.set(taken, { is: "path", key: flow.state.inputKey(key), path: [], schema: { type: "string" } });
    if (takes.length > 0) continue;
    const isAll = TAKES_ALL.test(name) || (type?.is === "name" && /(Input|Request|Payload)$/.test(type.name));
    const usual = value ? flow.declarations.jsonOf(value) : undefined;
    if (isAll) names.set(name, { is: "inputs" });
    else if (usual !== undefined && usual !== null && typeof usual !== "string")
      names.set(name, { is: "json", value: usual });
    else if (holdsIn(routine.body, (expr) => expr.is === "name" && expr.name === name))
      names.set(name, { is: "path", key: flow.state.inputKey(name), path: [], schema: { type: "string" } });
  }
  return names;
}

/** Agents that nothing runs: the one at which their handoffs begin does what is asked; else they are only agents. */
function drawAgents(flow: Flow): void {
  const { declarations, members, state } = flow;
  const agents = [...declarations.agents.values()];
  const reached = new Set(
    agents.flatMap((agent) => [...members.member(agent).hands, ...members.member(agent).delegates]),
  );
  const firsts = agents.filter((agent) => {
    const { hands, delegates } = members.member(agent);
    return (hands.length > 0 || delegates.length > 0 || agents.length === 1) && !reached.has(agent);
  });
  const first = firsts[0] ?? agents.find((agent) => members.member(agent).hands.length > 0);
  if (!first) return;
  const key = state.inputKey("message", "Message");
  drawRun(
    members.member(first),
    {
      messages: { ...NO_MESSAGES, texts: [{ is: "path", key, path: [], schema: { type: "string" } }] },
      instructions: null,
      name: "answer",
      place: first.call,
    },
    {
      members,
      keys: state.keys,
      trail: flow.trail,
      findings: flow.findings,
      template: (value) => state.template(value),
    },
  );
  flow
    .findings(first.call)
    .info(
      "",
      `Nothing in the code runs an agent; the workflow gives a message to "${members.member(first).title}".`,
    );
  flow.trail.end({ input_keys: ["answer"] });
}

/** The code of tools and checks, as text for people. */
function addCode({ code }: Members, drawing: Drawing): void {
  const pieces = [...code].map(([name, text]) => `${name}:\n${text}`);
  let note = "";
  for (const piece of pieces) {
    if (note && note.length + piece.length > 7_000) {
      drawing.note(note, "Code of tools and checks");
      note = "";
    }
    note += `${note ? "\n\n" : ""}${piece}`;
  }
  if (note && drawing.ids().length > 0) drawing.note(note, "Code of tools and checks");
}
