import type { Format } from "../format";
import { crewaiCode } from "./crewai/code-format";
import { crewaiFlow } from "./crewai/flow";
import { crewaiJson } from "./crewai/json";
import { crewaiYaml } from "./crewai/yaml";
import { FRAMEWORKS } from "./frameworks";
import { ROBOCO } from "./roboco";
import { STRANGERS } from "./strangers";
import { markdownAgents, troupeRoles, troupeTeams, troupeWorkflow } from "./troupe";

/** All formats that are known, each one line. Where files could be of two formats, the surer one takes them, else the first. */
export const FORMATS: readonly Format[] = [
  troupeWorkflow,
  crewaiFlow,
  crewaiYaml,
  crewaiJson,
  crewaiCode,
  ...FRAMEWORKS,
  ...ROBOCO,
  ...STRANGERS,
  troupeTeams,
  troupeRoles,
  markdownAgents,
];
