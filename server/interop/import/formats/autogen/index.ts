import { listOf } from "@/server/domain/base/guards";
import { type Findings, isRaw, type Raw } from "@/server/domain/base/lenient-reader";
import { Drawing } from "../../drawing";
import {
  type Claim,
  claimEach,
  type Format,
  type Imported,
  nothingImported,
  type ReadableFormat,
} from "../../format";
import type { Source } from "../../source";
import { textOf } from "../../values";
import { componentOf, isAgent, isComponent, isTeam } from "./model";
import { ParticipantRegistry } from "./participants";
import { drawTeam } from "./teams";

/** A place in a file as a dotted path, with the type of what is there. */
interface Place {
  at: string;
  value: unknown;
}

/** The component of a file: itself, or under `component` as AutoGen Studio keeps it. */
function rootOf(value: unknown): Place | null {
  if (isComponent(value)) return { at: "", value };
  if (isRaw(value) && isComponent(value.component)) return { at: "component", value: value.component };
  return null;
}

const galleryOf = (value: unknown): Raw | null => {
  const gallery =
    isRaw(value) && isRaw(value.config) && isRaw(value.config.components) ? value.config : value;
  if (!isRaw(gallery) || !isRaw(gallery.components)) return null;
  return Object.values(gallery.components).some((list) => listOf(list).some(isComponent))
    ? gallery.components
    : null;
};
const galleryAt = (value: unknown): string =>
  isRaw(value) && isRaw(value.components) ? "components" : "config.components";

const teamsIn = (source: Source): Place[] =>
  listOf(galleryOf(source.value)?.teams)
    .map((value, at) => ({ at: `${galleryAt(source.value)}.teams.${at}`, value }))
    .filter(({ value }) => isTeam(value));

const AGENTS = "agents";

/** Teams, agents and galleries of AutoGen 0.4 and later. */
const components: ReadableFormat = {
  id: "autogen",
  label: "an AutoGen component",
  recognise: (sources) =>
    sources.flatMap((source): Claim[] => {
      const gallery = galleryOf(source.value);
      if (!gallery) return rootOf(source.value) ? [{ sure: 3, files: [source] }] : [];
      const teams = teamsIn(source).map(
        ({ at, value }): Claim => ({
          sure: 3,
          files: [source],
          part: at,
          title: isRaw(value) ? textOf(value.label) || at : at,
        }),
      );
      const name = isRaw(source.value) ? textOf(source.value.name) : "";
      const agents = listOf(gallery.agents).some(isAgent);
      const all: Claim = {
        sure: 3,
        files: [source],
        part: AGENTS,
        title: `Agents in ${name || "the gallery"}`,
      };
      return agents || teams.length === 0 ? [...teams, all] : teams;
    }),
  read({ claim, findings }) {
    const [source] = claim.files;
    if (!source) return nothingImported();
    if (claim.part === AGENTS) return readAgents(source, findings);
    const team =
      claim.part === undefined ? rootOf(source.value) : teamsIn(source).find(({ at }) => at === claim.part);
    return team ? readOne(team, source, findings) : nothingImported();
  },
};

/** What replaces the other contents of a gallery here, besides agents and teams. */
const INSTEAD = {
  models: "add providers in Settings",
  tools: "add them on the Tools page",
  terminations: "workflows and crews have their own limits",
  workbenches: "connect MCP servers on the Tools page",
};

function readAgents(source: Source, findings: Findings): Imported {
  const participants = new ParticipantRegistry();
  const gallery = galleryOf(source.value);
  const under = galleryAt(source.value);
  for (const [at, agent] of listOf(gallery?.agents).entries())
    participants.add(agent, source.on(findings, `${under}.agents.${at}`));
  for (const kind of ["models", "tools", "terminations", "workbenches"] as const) {
    const count = listOf(gallery?.[kind]).length;
    if (count > 0)
      source
        .on(findings)
        .dropped(`${under}.${kind}`, `The gallery's ${kind} (${count}) were left out: ${INSTEAD[kind]}.`);
  }
  if (participants.agents.length === 0)
    source
      .on(findings)
      .error(under, "This AutoGen gallery has no agents or teams; there is nothing to import.");
  return {
    ...participants.roleRegistry.imported(isRaw(source.value) ? textOf(source.value.name) : ""),
    agents: participants.agents,
  };
}

function readOne({ at, value }: Place, source: Source, findings: Findings): Imported {
  const report = source.on(findings, at);
  const component = componentOf(value, report);
  if (!component) return nothingImported();
  const participants = new ParticipantRegistry();
  const name =
    component.label || textOf(component.config.name) || source.name.replace(/\.[^.]+$/, "") || component.kind;
  if (!isTeam(value) && !isAgent(value)) {
    report.error(
      "",
      `This is an AutoGen ${isRaw(value) ? textOf(value.component_type) || "component" : "component"} (${component.kind}), not a team or agent. Import a team or a gallery instead.`,
    );
    return nothingImported(name);
  }
  const listed = isTeam(value)
    ? listOf(component.config.participants).map((one, place) => ({
        one,
        place: `config.participants.${place}`,
      }))
    : [{ one: value, place: "" }];
  const members = listed.flatMap(({ one, place }) =>
    participants.add(one, source.on(findings, [at, place].filter(Boolean).join("."))),
  );
  if (members.length === 0) {
    report.error("", "The team has no readable agents.");
    return nothingImported(name);
  }
  const drawing = new Drawing(name, findings);
  drawTeam({ component, members, participants, drawing });
  const prompt = textOf(component.config.selector_prompt);
  if (prompt) drawing.note(prompt, "Prompt that selected the next speaker");
  return {
    ...participants.roleRegistry.imported(name),
    agents: participants.agents,
    graph: drawing.finish({
      ...(drawing.ids().includes("count_rounds")
        ? {
            schema: {
              type: "object",
              properties: { [drawing.keyFor("round")]: { type: "number", default: 0 } },
            },
          }
        : {}),
    }),
  };
}

/** What AutoGen Studio wrote before components came. */
const studio02: Format = {
  id: "autogen-studio-0.2",
  label: "an AutoGen Studio 0.2 workflow or agent",
  instead: "Open it in AutoGen Studio 0.4 or later, export the team from there, and import that file.",
  recognise: claimEach(({ value }) => {
    if (!isRaw(value) || "provider" in value) return null;
    const isOld = (one: unknown): boolean =>
      isRaw(one) &&
      isRaw(one.config) &&
      ("llm_config" in one.config ||
        "human_input_mode" in one.config ||
        "max_consecutive_auto_reply" in one.config);
    const agents =
      [value.sender, value.receiver].some(isOld) ||
      listOf(value.agents).some((one) => isOld(one) || (isRaw(one) && isOld(one.agent)));
    const isTalk = isRaw(value.sender) && isRaw(value.receiver);
    return isOld(value) || agents || isTalk || isRaw(value.groupchat_config) ? 2 : null;
  }),
};

export const AUTOGEN: readonly Format[] = [components, studio02];
