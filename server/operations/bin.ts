import { z } from "zod";
import { AgentConfig, RoleDefinition } from "@/server/domain/agent/role";
import { CrewConfig } from "@/server/domain/crew/crew";
import { Rejection } from "@/server/domain/errors/rejection";
import { BIN_DAYS, BIN_KINDS, type Binned } from "@/server/store/library/bin";
import { BinnedMemory } from "@/server/store/library/memories/memories";
import { BinnedTest } from "@/server/store/library/scenario-tests";
import { customToolOperations } from "./library/custom-tools";
import { agentOperations, crewOperations } from "./library/library";
import { memoryOperations } from "./library/memories";
import { roleOperations } from "./library/roles";
import { type Caller, operationsOf } from "./operation";
import { notFound } from "./rejections";
import { createTest } from "./scenarios/stored-tests";
import type { Services } from "./services";

const { mutation, query } = operationsOf("Server");

const OfBin = z.object({ kind: z.enum(BIN_KINDS), id: z.string() });
type OfBin = z.output<typeof OfBin>;

const Entry = OfBin.extend({
  name: z.string(),
  deleted_at: z.int().meta({ description: "Unix time in milliseconds" }),
  gone_at: z.int().meta({ description: "When it will be permanently deleted, Unix time in milliseconds" }),
});

/** Everything that was deleted and can come back. Providers, servers, tokens and keys are gone at once. */
export const binOperations = {
  list: query({
    name: "listBin",
    summary: "List the trash",
    about: `Workflows and their tests, runs, roles, crews, agents, tools and memories stay in the trash for ${BIN_DAYS} days.`,
    needs: "read",
    input: z.void(),
    output: z.array(Entry),
    http: { route: "GET /bin", success: "Newest first", as: "entries" },
    run: ({ bin }): Binned[] => bin.list(),
  }),

  restore: mutation({
    name: "restoreFromBin",
    summary: "Restore an item from the trash",
    needs: "author",
    input: OfBin,
    problems: ["not_found", "name_taken", "id_taken", "key_taken", "expired", "too_large"],
    audits: ["custom_tool_restored", "role_tools_changed"],
    http: { personOnly: "restoring a role or tool restores its permissions" },
    run(services, which, caller) {
      restore(services, which, caller);
    },
  }),

  purge: mutation({
    name: "deleteForGood",
    summary: "Delete an item permanently",
    needs: "admin",
    input: OfBin,
    http: { route: "DELETE /bin/{kind}/{id}", success: "Deleted" },
    run(services, which) {
      if (!purge(services, which)) throw notInBin();
    },
  }),

  empty: mutation({
    name: "emptyBin",
    summary: "Empty the trash",
    needs: "admin",
    input: z.void(),
    output: z.object({ deleted: z.int() }),
    http: { route: "DELETE /bin", success: "Trash emptied" },
    run: (services) => ({ deleted: services.bin.list().filter((one) => purge(services, one)).length }),
  }),
};

const notInBin = () => notFound("item in the trash");

function purge({ bin, retention }: Services, { kind, id }: OfBin): boolean {
  return kind === "run" ? retention.purge(id) : bin.purge(kind, id);
}

function restore(services: Services, { kind, id }: OfBin, caller: Caller): void {
  if (kind === "workflow" || kind === "run") {
    const store = kind === "workflow" ? services.workflows : services.runs;
    if (!store.restore(id)) throw notInBin();
    return;
  }
  if (kind === "tool") {
    customToolOperations.restore.run(services, { name: id }, caller);
    return;
  }
  const binned = services.bin.content(kind, id);
  if (!binned) throw notInBin();
  const { name } = binned;
  const thing: unknown = JSON.parse(binned.content);
  if (kind === "role") roleOperations.create.run(services, { role: readAs(RoleDefinition, thing) }, caller);
  else if (kind === "memory") memoryOperations.restore.run(services, readAs(BinnedMemory, thing), caller);
  else if (kind === "test") restoreTest(services, readAs(BinnedTest, thing));
  else if (kind === "crew")
    crewOperations.restore.run(services, { name, crew: readAs(CrewConfig, thing) }, caller);
  else agentOperations.restore.run(services, { name, agent: readAs(AgentConfig, thing) }, caller);
  services.bin.takeOut(kind, id);
}

function readAs<S extends z.ZodType>(schema: S, thing: unknown): z.output<S> {
  const read = schema.safeParse(thing);
  if (read.success) return read.data;
  throw new Rejection("not_found", "This item can't be read, so it can't be restored.");
}

function restoreTest(services: Services, { workflow_id, ...test }: z.output<typeof BinnedTest>): void {
  if (!services.workflows.find(workflow_id))
    throw new Rejection("not_found", "This test's workflow was deleted. Restore the workflow first.");
  createTest(services, workflow_id, test);
}
