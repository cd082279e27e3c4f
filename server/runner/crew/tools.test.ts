import { expect, test } from "vitest";
import { CrewConfig } from "@/server/domain/crew/crew";
import { finish, rejectTask } from "../agent/agent";
import { personTools } from "../agent/tools/person-tools";
import type { CrewRuntime } from "../node/ports";
import { Crew } from "./crew";
import { CREW_TOOLS, toolsOf } from "./tools";

test("the documented crew tools are those that a run implements", () => {
  const agents = ["ann", "bob"].map((agent_id) => ({
    agent_id,
    role_name: "Worker",
    allow_delegation: true,
  }));
  const names = (process: string) => {
    const config = CrewConfig.parse({ agents, process });
    const run = {
      findRole: () => undefined,
      node: { id: "crew" },
      s: { run: {}, team_changes: {} },
    } as unknown as CrewRuntime;
    const crew = new Crew(run, config, { description: "a goal", output_keys: [], crew: config }, toolsOf);
    const { always, byRole } = toolsOf(crew, config.agents[0]!, 0);
    return [...always, ...byRole].map(({ spec }) => spec.name);
  };
  const people = personTools({} as unknown as CrewRuntime).map(({ spec }) => spec.name);
  const ends = [finish.spec.name, rejectTask.spec.name];
  const implemented = [...names("swarm"), ...names("hierarchical"), ...people, ...ends];
  expect([...new Set(implemented)].sort()).toEqual([...CREW_TOOLS].sort());
});
