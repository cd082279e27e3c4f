import type { Findings, Raw } from "@/server/domain/base/lenient-reader";
import type { Place } from "../../code/program";
import type { Keys } from "./keys";
import type { Member, Members } from "./members";
import { propertiesOf } from "./schemas";
import type { Trail } from "./trail";
import type { AgentRun, Messages, Value } from "./values";

/** What one run of an agent is given. */
export interface Request {
  messages: Messages;
  /** Instructions that read values, filled in. */
  instructions: Value | null;
  /** The name of what it gives. */
  name: string;
  place: Place;
}

interface RunWorld {
  members: Members;
  keys: Keys;
  trail: Trail;
  findings: (place: Place) => Findings;
  /** A text with values, as a template; what cannot stand in one is put into the state first. */
  template(value: Value): string;
}

/** Draws a run of an agent: one step, or a crew where the agent hands over to others or lets them do parts. */
export function drawRun(member: Member, request: Request, world: RunWorld): AgentRun {
  const { keys, trail } = world;
  const texts = [...(request.instructions ? [request.instructions] : []), ...request.messages.texts];
  // Values first: what has to be computed for them comes before this step.
  const task =
    texts
      .map((text) => world.template(text))
      .filter((text) => text.trim())
      .join("\n\n") || "Do what your role says.";
  const reads = {
    input_keys: [...request.messages.sure],
    ...(request.messages.maybe.size > 0 ? { optional_input_keys: [...request.messages.maybe] } : {}),
  };
  const name = request.name.replace(/_?temp(?=\d*$)/i, "");
  const isCrew = member.hands.length > 0 || member.delegates.length > 0;
  const answer = isCrew ? null : partsOf(member, name, keys);
  const key = keys.of(`result ${name}`, name);
  const outputs = answer ? [...answer.values()].map((part) => part.key) : [key];
  const common = { name: member.title, ...reads, output_keys: outputs };
  const node_id = isCrew
    ? trail.step(member.config.agent_id, {
        ...common,
        node_type: "crew_task",
        config: crewOf(member, task, world, request.place),
      })
    : trail.step(member.config.agent_id, {
        ...common,
        node_type: "agent_task",
        config: {
          required_role: member.config.role_name,
          task_description_template: task,
          ...(member.llm ? { llm_config: member.llm } : {}),
          ...(answer ? { output_schema: schemaOf(answer, member) } : plainSchema(member, key)),
        },
      });
  return {
    node_id,
    name,
    answer: answer ? { parts: answer } : { key, schema: isCrew ? undefined : (member.schema ?? undefined) },
    before: request.messages,
  };
}

/** A key for each part of an answer; null for an answer in words. */
function partsOf(member: Member, name: string, keys: Keys): Map<string, { key: string; schema: Raw }> | null {
  const properties = propertiesOf(member.schema);
  if (!properties) return null;
  return new Map(
    properties.map(([part, schema]) => [
      part,
      { key: keys.of(`result ${name}.${part}`, part, `${name}_${part}`), schema },
    ]),
  );
}

function schemaOf(parts: ReadonlyMap<string, { key: string; schema: Raw }>, { schema }: Member): Raw {
  const required = Array.isArray(schema?.required) ? new Set<unknown>(schema.required) : null;
  return {
    type: "object",
    properties: Object.fromEntries([...parts.values()].map(({ key, schema }) => [key, schema])),
    required: [...parts].flatMap(([part, { key }]) => (!required || required.has(part) ? [key] : [])),
  };
}

const plainSchema = ({ schema }: Member, key: string): Raw =>
  schema ? { output_schema: { type: "object", properties: { [key]: schema }, required: [key] } } : {};

/** Handoffs make a crew whose members hand over; agents as tools make one that is led. */
function crewOf(member: Member, task: string, { members, findings }: RunWorld, place: Place): Raw {
  const here = findings(place);
  const handsOver = member.hands.length > 0;
  const reached = members.reach(member.agent, handsOver ? "hands" : "delegates");
  const asked = handsOver ? reached.flatMap((agent) => members.member(agent).delegates) : [];
  const all = [...new Set([...reached, ...asked])].map((agent) => members.member(agent));
  const idOf = (one: Member) => one.config.agent_id;
  here.keeps(
    "",
    handsOver
      ? `${member.title} hands over to others: they became a crew that hands over, with ${all.length} agents.`
      : `${member.title} lets others do parts as its tools: they became a crew that it leads, with ${all.length} agents.`,
  );
  for (const one of all) {
    if (one.instructs)
      here.dropped(
        "",
        `The instructions of ${one.title} read values while it runs, which agents of a crew do not know here; write them in its role.`,
      );
    if (one.schema)
      here.changed(
        "",
        `${one.title} answers in words here, as agents of a crew do; the code gives its answer a shape.`,
      );
  }
  return {
    plan_description_template: task,
    crew: {
      crew_id: idOf(member),
      process: handsOver ? "swarm" : "hierarchical",
      ...(handsOver
        ? { entry_agent: idOf(member), max_handoffs: 12 }
        : { manager: { agent_id: idOf(member) } }),
      agents: all.map((one) => ({
        ...one.config,
        ...(handsOver ? { handoffs: one.hands.map((agent) => idOf(members.member(agent))) } : {}),
      })),
    },
  };
}
