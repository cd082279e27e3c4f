import { type Claim, nothingImported, type ReadableFormat } from "../../format";
import { RoleRegistry } from "../../role-registry";
import { readCrewCode } from "./code";
import { crewPrograms } from "./code-files";
import { importAgent } from "./crew-config";
import { drawCrew } from "./draw";
import { readAgent } from "./model";
import { crewOfCode } from "./python";

/** A CrewAI crew whose agents and tasks are defined in Python. */
export const crewaiCode: ReadableFormat = {
  id: "crewai-code",
  label: "a CrewAI crew in Python",
  recognise: (sources) =>
    crewPrograms(sources).map(
      ({ main, files, users }): Claim => ({ sure: 2, files: [...files, ...users], title: main.path }),
    ),
  read({ claim, findings, answers, work }) {
    const [program] = crewPrograms(claim.files);
    const code = program ? readCrewCode(program, { findings, work }) : null;
    if (!code) {
      findings.error("", "The code could not be parsed.");
      return nothingImported();
    }
    const name = code.title ?? nameOf(code.source.path);
    if (code.tasks.size === 0) {
      const roleRegistry = new RoleRegistry();
      for (const [key, { raw, place }] of code.agents)
        importAgent(readAgent(key, raw, findings.of(place)), roleRegistry);
      if (roleRegistry.roles.length > 0)
        findings.info(
          "",
          "These agents have no tasks, so only their roles are imported, without a workflow.",
        );
      return roleRegistry.imported(name);
    }
    const model = crewOfCode(code, { agents: new Map(), tasks: new Map() }, { name, findings });
    return drawCrew(model, { findings, answers });
  },
};

/** `trip_planner/main.py`: the folder says more than the file. */
function nameOf(path: string): string {
  const names = path
    .replace(/\.py$/i, "")
    .split("/")
    .filter((name) => !/^(main|crew|src|app|__init__)$/i.test(name));
  return (names.at(-1) ?? "Crew").replace(/[_-]+/g, " ");
}
