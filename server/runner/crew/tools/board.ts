import { z } from "zod";
import type { RunTool } from "../../agent/task";
import { defineRunTool, done, rejected } from "../../agent/tools/run-tool";
import type { Crew } from "../crew";
import { fromCoworkers } from "./from-coworkers";

/** The board of a crew: one bulletin per role or agent, the last one stands. */
export function boardTools(crew: Crew): RunTool[] {
  return [
    defineRunTool({
      name: "write_board",
      description: "Write your bulletin, which all coworkers see; it replaces your previous one.",
      input: z.object({
        role_alias: z.string().max(80).optional().describe("Whose bulletin it is; yours by default"),
        bulletin: z.string().max(8000).describe("What everyone should know"),
      }),
      *call({ role_alias, bulletin }, caller) {
        const own = caller.task.agent_id;
        if (role_alias !== undefined && crew.member(role_alias)?.agent_id !== own)
          return rejected(403, `You can only write your own bulletin, as ${own}.`);
        crew.writeBoard(own, bulletin);
        return done("The bulletin is on the board.");
      },
    }),
    defineRunTool({
      name: "read_board",
      description: "Read the bulletins of all coworkers, or of one.",
      read_only: true,
      input: z.object({ role_alias: z.string().max(80).optional().describe("Whose bulletin to read") }),
      *call({ role_alias }) {
        const { board } = crew.view;
        if (role_alias === undefined) return fromCoworkers(crew, { ...board });
        const id = crew.member(role_alias)?.agent_id ?? role_alias;
        return fromCoworkers(crew, board[id] ?? null);
      },
    }),
  ];
}
