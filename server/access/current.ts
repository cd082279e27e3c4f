import "server-only";
import { createHash, timingSafeEqual } from "node:crypto";
import type { Db } from "@/db/open";
import { defined } from "@/server/domain/base/defined";
import { type Env, settingsTable } from "@/server/settings";
import { newAuditStore } from "@/server/store/audit";
import { dataDir, getDb } from "@/server/store/current";
import { newSessionStore } from "@/server/store/sessions";
import { newSettingStore } from "@/server/store/settings";
import { newTokenStore, type TokenStore } from "@/server/store/tokens";
import type { Principal, Recognition } from "./principal";
import { Sessions } from "./sessions";

/** Who may come in, and how they are recognised. */
export interface Access extends Recognition {
  sessions: Sessions;
  tokens: TokenStore;
}

export function newAccess(db: Db, env: Env): Access {
  const sessions = new Sessions({
    store: newSessionStore(db),
    settings: newSettingStore(db),
    audit: newAuditStore(db),
    env,
  });
  const tokens = newTokenStore(db);
  const fromEnv = env.TROUPE_API_TOKEN ? sha256(env.TROUPE_API_TOKEN) : null;
  return {
    sessions,
    tokens,
    sessionOf: (request) => sessions.find(request),
    tokenOf(request): Principal | null {
      const token = /^Bearer +(\S{1,200})$/i.exec(request.headers.get("authorization") ?? "")?.[1];
      if (!token) return null;
      if (fromEnv && timingSafeEqual(sha256(token), fromEnv)) return ENVIRONMENT;
      const found = tokens.recognise(token);
      if (!found) return null;
      const { id, scopes, workflows, is_trusted: isTrusted } = found;
      return { kind: "token", id, scopes, isTrusted, ...defined({ workflows: workflows ?? undefined }) };
    },
  };
}

/** The operator's own token, which can do everything. */
const ENVIRONMENT: Principal = { kind: "token", id: "environment", isTrusted: true };

const sha256 = (text: string) => createHash("sha256").update(text).digest();

declare global {
  var __troupeAccess: Access | undefined;
}

/** The server's one Access. On globalThis: pages, routes and the proxy are separate bundles, and a link is used once. */
export function getAccess(): Access {
  globalThis.__troupeAccess ??= newAccess(getDb(), process.env);
  return globalThis.__troupeAccess;
}

/** What the settings page tells about this server. */
export function accessFacts() {
  const port = Number(process.env.PORT || 3000);
  const origin = process.env.TROUPE_PUBLIC_URL?.replace(/(?<!\/)\/+$/, "") || `http://127.0.0.1:${port}`;
  return {
    data_dir: dataDir(),
    host: process.env.HOST || "127.0.0.1",
    port,
    password_set: getAccess().sessions.signInMode === "password",
    node: process.version,
    api_base: `${origin}/api/v1`,
    answer_time: answerTime(process.env.TROUPE_ANSWER_HOURS),
  };
}

/** How many hours people have to answer where a question does not say, and whether the environment says so. */
function answerTime(set: string | undefined): { hours: number; is_set: boolean } {
  const usual = settingsTable().find(({ name }) => name === "TROUPE_ANSWER_HOURS")?.fallback;
  return { hours: Number(set || usual), is_set: Boolean(set) };
}
