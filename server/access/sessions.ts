import { randomBytes } from "node:crypto";
import type { Env } from "@/server/settings";
import type { AuditStore } from "@/server/store/audit";
import type { SessionStore } from "@/server/store/sessions";
import type { SettingStore } from "@/server/store/settings";
import { hashOf } from "@/server/store/tokens";
import { LIMITS } from "../limits";
import { hashPassword, isPassword, newTries } from "./password";
import type { Principal } from "./principal";
import { isHttpsHost } from "./requests/hosts";
import { takeFromRateLimit } from "./requests/rate-limit";

/** How a browser gets a session: by itself, by the link printed at the start, or by the password. */
export type SignInMode = "open" | "link" | "password";

export interface Sessions {
  signInMode: SignInMode;
  /** Begins a session; answers with its Set-Cookie header. */
  begin(host: string | null): Promise<string>;
  /** The session that the request's cookie names. */
  find(request: Request): Promise<Principal | null>;
  end(request: Request): Promise<string>;
  /** Ends every session, that of the request too. */
  endAll(request: Request): Promise<string>;
  /** Tries a password: the Set-Cookie header, "wrong", or the seconds to wait. */
  tryPassword(
    password: string,
    host: string | null,
  ): Promise<{ cookie: string } | "wrong" | { waitS: number }>;
  /** The path of the one-time link, made anew; null unless links are how one comes in. */
  newLink(): string | null;
  /** Whether this is the unused link's token; it is used up by asking. */
  useLink(token: string): boolean;
}

export interface SessionsNeed {
  store: SessionStore;
  settings: SettingStore;
  env: Env;
  /** Where it is written down who came in, who tried to, and who left. */
  audit?: Pick<AuditStore, "append">;
  now?: () => number;
}

const COOKIE_NAME = "access.cookie_name";
/** What the sessions in the store were made under; sessions made without a password end when one is set. */
const MADE_UNDER = "access.made_under";

export function newSessions({ store, settings, env, audit, now = Date.now }: SessionsNeed): Sessions {
  const password = env.TROUPE_PASSWORD || null;
  const signInMode: SignInMode = password ? "password" : isYes(env.TROUPE_START_LINK) ? "link" : "open";
  const tries = newTries();
  let linkHash: string | null = null;

  // Cookies are shared by all ports of a host; a name of our own keeps two installs on one machine apart.
  const plainName = settings.find(COOKIE_NAME) ?? `troupe_${randomBytes(4).toString("hex")}`;
  settings.set(COOKIE_NAME, plainName);
  const nameFor = (host: string | null) => (isHttpsHost(host, env) ? `__Host-${plainName}` : plainName);

  const ready = settle();
  // Its failure belongs to whoever awaits it, not to the process.
  ready.catch(() => {});

  /** Ends what was begun under other rules; answers with the hash of the password, if there is one. */
  async function settle(): Promise<string | null> {
    const before = settings.find(MADE_UNDER);
    if (password && before?.startsWith("scrypt:") && (await isPassword(password, before))) return before;
    const after = password ? await hashPassword(password) : signInMode;
    if (before !== after) {
      store.removeAll();
      settings.set(MADE_UNDER, after);
    }
    return password ? after : null;
  }

  function cookie(host: string | null, value: string, maxAgeMs: number): string {
    const secure = isHttpsHost(host, env) ? "; Secure" : "";
    return `${nameFor(host)}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeMs / 1_000}${secure}`;
  }

  function hashIn(request: Request): string | null {
    const value = cookieOf(request.headers.get("cookie"), nameFor(request.headers.get("host")));
    return value && /^[\w-]{43}$/.test(value) ? hashOf(value) : null;
  }

  async function begin(host: string | null): Promise<string> {
    await ready;
    const { idleMs, absoluteMs, kept } = LIMITS.session;
    const id = randomBytes(32).toString("base64url");
    store.prune(now() - absoluteMs, now() - idleMs, kept - 1);
    store.add(hashOf(id), now());
    return cookie(host, id, absoluteMs);
  }

  return {
    signInMode: signInMode,
    begin,
    async find(request) {
      const hash = hashIn(request);
      if (!hash) return null;
      await ready;
      const row = store.find(hash);
      if (!row) return null;
      const { idleMs, absoluteMs, touchMs } = LIMITS.session;
      if (now() - row.createdAt > absoluteMs || now() - row.lastSeenAt > idleMs) {
        store.remove(hash);
        return null;
      }
      if (now() - row.lastSeenAt > touchMs) store.touch(hash, now());
      return { kind: "session", id: idOf(hash) };
    },
    async end(request) {
      const hash = hashIn(request);
      if (hash) {
        store.remove(hash);
        audit?.append({ kind: "signed_out", who: `session:${idOf(hash)}` });
      }
      return cookie(request.headers.get("host"), "", 0);
    },
    async endAll(request) {
      const hash = hashIn(request);
      store.removeAll();
      audit?.append({ kind: "signed_out_everywhere", who: hash ? `session:${idOf(hash)}` : "somebody" });
      return cookie(request.headers.get("host"), "", 0);
    },
    async tryPassword(given, host) {
      const waitS = tries.take(performance.now());
      if (waitS > 0) return { waitS };
      const hash = await ready;
      if (!hash || !(await isPassword(given, hash))) {
        // Tries that had to wait are not written down: as many as anybody likes can be made.
        audit?.append({ kind: "sign_in_failed", who: "password" });
        return "wrong";
      }
      tries.clear();
      audit?.append({ kind: "signed_in", who: "password" });
      return { cookie: await begin(host) };
    },
    newLink() {
      if (signInMode !== "link") return null;
      const token = randomBytes(24).toString("base64url");
      linkHash = hashOf(token);
      return `/login?link=${token}`;
    },
    useLink(token) {
      const isRight = linkHash !== null && hashOf(token) === linkHash;
      if (isRight) linkHash = null;
      if (isRight) audit?.append({ kind: "signed_in", who: "link" });
      else if (takeFromRateLimit("audit:link", LIMITS.auditedLinks) === 0)
        audit?.append({ kind: "sign_in_failed", who: "link" });
      return isRight;
    },
  };
}

/** A session's name for people and records: too little of the hash to be of use to anybody. */
const idOf = (hash: string) => hash.slice(0, 16);

const isYes = (value: string | undefined) => /^(1|true|yes|on)$/i.test(value ?? "");

/** The value of one cookie in a Cookie header. */
export function cookieOf(header: string | null, name: string): string | null {
  for (const part of header?.split(";") ?? []) {
    const at = part.indexOf("=");
    if (at > 0 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim();
  }
  return null;
}
