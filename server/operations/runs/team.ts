import { z } from "zod";
import type { RunConfig } from "@/server/domain/agent/outcome";
import type { LlmConfig } from "@/server/domain/agent/role";
import { Rejection } from "@/server/domain/errors/rejection";
import { choiceKey } from "@/server/domain/library/model-uses";
import { isCrewNode } from "@/server/domain/nodes";
import type { RunState } from "@/server/domain/run";
import { TeamEdit, widening } from "@/server/domain/run/commands/team-edit";
import { onlyPerson, operationsOf } from "../operation";
import type { Services } from "../services";
import { controlOperation, route, sendCommand } from "./control";
import { ByRun } from "./runs";
import { atHand } from "./steering";

const { mutation } = operationsOf("Runs");

const MEMBER_OPTIONS = "[--model MODEL] [--provider ID] [--instructions TEXT] [--tools A,B] [--crew NODE]";

/** Where the options of a member go in the input. */
const memberFields = (at: string) => ({
  model: `${at}.llm_config.model`,
  provider: `${at}.llm_config.provider_id`,
  instructions: `${at}.backstory`,
  tools: `${at}.tools`,
  crew: "node_id",
});

/** Changes of a crew's members while its run is in progress. */
export const teamOperations = {
  changeTeam: mutation({
    ...controlOperation,
    name: "changeRunTeam",
    summary: "Changes the team of a crew",
    about:
      "Adds a role of the library as a member, takes out one who is not at work, or changes a member's role, model, own instructions (`backstory`) or which of its role's tools it may use. `node_id` names the crew's node; it may be left out where the workflow has just one crew. It holds in this run, to its end, and never in the workflow. Another model is asked from the next call on, everything else holds from the member's next piece of work on. 409 says why a change does not fit: a vote is under way, the member leads the crew, is at work or is its last, tasks of the plan wait for it. A program may not give agents tools that they cannot use now: 403.",
    input: ByRun.extend({ node_id: z.string().optional(), edit: TeamEdit }),
    problems: [...controlOperation.problems, "person_only", "which_crew", "no_such_model"],
    http: route("team", "The team is changed"),
    cli: [
      {
        form: `team RUN add ROLE [--as AGENT] ${MEMBER_OPTIONS}`,
        summary: "Adds a role of the library to a crew",
        fields: { ...memberFields("edit"), role: "edit.role_name", as: "edit.agent_id" },
        preset: { edit: { kind: "add" } },
      },
      {
        form: `team RUN change AGENT [--role ROLE] ${MEMBER_OPTIONS}`,
        summary: "Changes a member of a crew",
        fields: { ...memberFields("edit.patch"), agent: "edit.agent_id", role: "edit.patch.role_name" },
        preset: { edit: { kind: "change", patch: {} } },
      },
      {
        form: "team RUN model AGENT MODEL [--crew NODE]",
        summary: "Has a member ask another model",
        fields: { ...memberFields("edit.patch"), agent: "edit.agent_id" },
        preset: { edit: { kind: "change", patch: {} } },
      },
      {
        form: "team RUN remove AGENT [--crew NODE]",
        summary: "Takes a member that is not at work out of a crew",
        fields: { agent: "edit.agent_id", crew: "node_id" },
        preset: { edit: { kind: "remove" } },
      },
    ],
    run(services, { run_id, edit, ...given }, caller) {
      const { state } = atHand(services, run_id);
      const node_id = given.node_id ?? onlyCrewNode(state);
      const name =
        edit.kind === "add" ? edit.role_name : edit.kind === "change" ? edit.patch.role_name : undefined;
      const role = services.roles.all().find((one) => one.name === name);
      const llm =
        edit.kind === "add" ? edit.llm_config : edit.kind === "change" ? edit.patch.llm_config : undefined;
      const isProgram = caller.principal.kind !== "session";
      const command = {
        kind: "edit_team" as const,
        node_id,
        edit,
        ...(role ? { role } : {}),
        ...(llm ? windowOf(services, state.run.config, llm) : {}),
        ...(isProgram ? { only_narrows: true as const } : {}),
      };
      const wider = isProgram ? widening(state, command) : null;
      if (wider !== null) onlyPerson(caller.principal, wider);
      return sendCommand(services, run_id, command, caller);
    },
  }),
};

/** How much a chosen model reads. Throws Rejection where nothing is known of it that its use needs. */
function windowOf(
  { models }: Pick<Services, "models">,
  { budget }: RunConfig,
  llm: LlmConfig,
): { context_windows?: Record<string, number> } {
  const known = models.describe(llm);
  if (!known) throw new Rejection("no_such_model", "There is no such model: no provider is set up for it.");
  if (budget.max_cost_usd != null && !known.price_known)
    throw new Rejection(
      "no_such_model",
      `The price of ${known.model} is unknown, and this run has a budget in dollars that could not be kept. Set its price in the settings, or choose another.`,
    );
  const { context_window: tokens } = known;
  return tokens === undefined ? {} : { context_windows: { [choiceKey(llm)]: tokens } };
}

/** The one crew of a workflow. Throws Rejection where it has none, or several. */
function onlyCrewNode({ graph }: RunState): string {
  const crews = Object.values(graph.nodes).filter((node) => isCrewNode(node));
  const [only] = crews;
  if (only && crews.length === 1) return only.id;
  throw new Rejection(
    "which_crew",
    crews.length === 0
      ? "This workflow has no crew."
      : `This workflow has several crews; say which by node_id: ${crews.map(({ id }) => id).join(", ")}.`,
  );
}
