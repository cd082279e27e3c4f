import { createHash, timingSafeEqual } from "node:crypto";
import type { Db } from "@/db/open";
import type { Env } from "@/server/settings";
import { newAuditStore } from "@/server/store/audit";
import { newSessionStore } from "@/server/store/sessions";
import { newSettingStore } from "@/server/store/settings";
import { newTokenStore, type TokenStore } from "@/server/store/tokens";
import type { Principal, Recognition } from "./principal";
import { newSessions, type Sessions } from "./sessions";

/** Who may come in, and how they are recognised. */
export interface Access extends Recognition {
  sessions: Sessions;
  tokens: TokenStore;
}

export function newAccess(db: Db, env: Env): Access {
  const sessions = newSessions({
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
      if (fromEnv && timingSafeEqual(sha256(token), fromEnv)) return { kind: "token", id: "environment" };
      const id = tokens.recognise(token);
      return id ? { kind: "token", id } : null;
    },
  };
}

const sha256 = (text: string) => createHash("sha256").update(text).digest();
