import "server-only";
import path from "node:path";
import { type Db } from "@/db/open";
import { log } from "@/server/access/log";
import { redactJson } from "@/server/access/redact";
import { newSealer } from "@/server/access/secrets";
import { builtinRoles } from "@/server/domain/roles/builtin";
import { newRoleFolder } from "@/server/interop/role-folder";
import { newModels } from "@/server/llm/models";
import { Host } from "@/server/runner/host";
import { newLauncher } from "@/server/runner/launch";
import { dataDir, getDb } from "@/server/store/current";
import { newProviderStore } from "@/server/store/providers";
import { newRoleStore } from "@/server/store/roles";
import { newRunStore } from "@/server/store/runs";
import { newTokenStore } from "@/server/store/tokens";
import { newWorkflowStore } from "@/server/store/workflows";

export type Troupe = ReturnType<typeof newTroupe>;

/** Puts the server together: stores, models, and the host of the runs. Nothing begins to run yet. */
export function newTroupe(db: Db, options: { dataDir: string | null; env?: NodeJS.ProcessEnv }) {
  const env = options.env ?? process.env;
  const workflows = newWorkflowStore(db);
  const rolesDir = env.TROUPE_ROLES_DIR?.trim() || (options.dataDir && path.join(options.dataDir, "roles"));
  const roleFolder = rolesDir ? newRoleFolder(rolesDir) : null;
  const roles = newRoleStore(db, Date.now, roleFolder ?? undefined);
  const runs = newRunStore(db);
  const tokens = newTokenStore(db);
  const providers = newProviderStore(db, newSealer(options.dataDir, env), env);
  const models = newModels({ providers });
  const host = new Host({ store: runs, effects: { models }, log, redact: redactJson });
  return {
    db,
    workflows,
    roles,
    /** The folder of roles that are read from files; null where nothing is kept on disk. */
    roleFolder,
    runs,
    tokens,
    providers,
    models,
    host,
    ...newLauncher({ workflows, roles, models, host }),
  };
}

const held = globalThis as typeof globalThis & { __troupe?: Troupe };

/** The one Troupe of this process. On globalThis: the start-up code and the routes are separate bundles. */
export function getTroupe(): Troupe {
  if (!held.__troupe) {
    held.__troupe = newTroupe(getDb(), { dataDir: dataDir() });
    held.__troupe.roles.seed(builtinRoles);
  }
  return held.__troupe;
}
