import type { Format } from "../format";
import { agentsSdk } from "./agents-sdk";
import { AUTOGEN } from "./autogen";
import { crewaiCode } from "./crewai/code-format";
import { crewaiFlow } from "./crewai/flow";
import { crewaiJson } from "./crewai/json";
import { crewaiPythonFlow } from "./crewai/python-flow";
import { crewaiYaml } from "./crewai/yaml";
import { langchain } from "./langchain";
import { LANGGRAPH } from "./langgraph";
import { microAgents } from "./openhands/micro-agents";
import { openHandsPython } from "./openhands/python-code";
import { ROBOCO } from "./roboco";
import { robocoTeam } from "./roboco-team";
import { taskWeaverPlugins } from "./taskweaver/plugin";
import { taskWeaverRoles } from "./taskweaver/role";
import { toolsYaml } from "./tools-yaml";
import { markdownAgents, troupeRoles, troupeTeams, troupeWorkflow } from "./troupe";
import { UNSUPPORTED_FORMATS } from "./unsupported-formats";

/** All formats that are known, each one line. Where files could be of two formats, the surer one takes them, else the first. */
export const FORMATS: readonly Format[] = [
  troupeWorkflow,
  crewaiFlow,
  crewaiPythonFlow,
  crewaiYaml,
  crewaiJson,
  crewaiCode,
  agentsSdk,
  ...LANGGRAPH,
  ...AUTOGEN,
  langchain,
  robocoTeam,
  ...ROBOCO,
  toolsYaml,
  taskWeaverRoles,
  taskWeaverPlugins,
  microAgents,
  ...UNSUPPORTED_FORMATS,
  troupeTeams,
  troupeRoles,
  openHandsPython,
  markdownAgents,
];
