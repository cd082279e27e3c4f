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
    summary: "Edit a crew's team",
    about:
      "Adds a role from the library as a member, removes an idle member, or changes a member's role, model, instructions (`backstory`) or which of its role's tools it may use. `node_id` is the crew's node and can be omitted if the workflow has only one crew. Applies to the rest of this run, never to the workflow. A new model takes effect with the next call, everything else with the member's next task. 409 says why an edit isn't possible: a vote is in progress, or the member leads the crew, is working, is the last one, or is assigned to tasks of the plan. 403 if a program would give an agent tools that it can't use now.",
    input: ByRun.extend({ node_id: z.string().optional(), edit: TeamEdit }),
    problems: [...controlOperation.problems, "person_only", "which_crew", "no_such_model"],
    http: route("team", "The team was edited"),
    cli: [
      {
        form: `team RUN add ROLE [--as AGENT] ${MEMBER_OPTIONS}`,
        summary: "Add a role from the library to a crew",
        fields: { ...memberFields("edit"), role: "edit.role_name", as: "edit.agent_id" },
        preset: { edit: { kind: "add" } },
      },
      {
        form: `team RUN change AGENT [--role ROLE] ${MEMBER_OPTIONS}`,
        summary: "Change a crew member",
        fields: { ...memberFields("edit.patch"), agent: "edit.agent_id", role: "edit.patch.role_name" },
        preset: { edit: { kind: "change", patch: {} } },
      },
      {
        form: "team RUN model AGENT MODEL [--crew NODE]",
        summary: "Change a member's model",
        fields: { ...memberFields("edit.patch"), agent: "edit.agent_id" },
        preset: { edit: { kind: "change", patch: {} } },
      },
      {
        form: "team RUN remove AGENT [--crew NODE]",
        summary: "Remove an idle member from a crew",
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
  if (!known)
    throw new Rejection(
      "no_such_model",
      "No provider is configured for this model. Choose another model, or add a provider in Settings.",
    );
  if (budget.max_cost_usd != null && !known.price_known)
    throw new Rejection(
      "no_such_model",
      `The price of ${known.model} is unknown, so this run's budget in dollars can't be enforced. Set the price in Settings, or choose another model.`,
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
      : `This workflow has several crews. Specify one with node_id: ${crews.map(({ id }) => id).join(", ")}.`,
  );
}
