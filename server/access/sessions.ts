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

/** How a browser gets a session: automatically, by the link printed at the start, or by the password. */
export type SignInMode = "open" | "link" | "password";

export interface SessionsNeed {
  store: SessionStore;
  settings: SettingStore;
  env: Env;
  /** Records who signed in, failed to, and signed out. */
  audit?: Pick<AuditStore, "append">;
  now?: () => number;
}

const COOKIE_NAME = "access.cookie_name";
/** The password hash or mode under which the stored sessions began; they end when it changes. */
const MADE_UNDER = "access.made_under";

export class Sessions {
  readonly signInMode: SignInMode;
  private readonly password: string | null;
  private readonly plainName: string;
  private readonly tries = newTries();
  private linkHash: string | null = null;
  /** The hash of the password, if there is one. */
  private readonly ready: Promise<string | null>;
  private readonly now: () => number;

  constructor(private readonly needs: SessionsNeed) {
    const { settings, env, now = Date.now } = needs;
    this.now = now;
    this.password = env.TROUPE_PASSWORD || null;
    this.signInMode = this.password ? "password" : isYes(env.TROUPE_START_LINK) ? "link" : "open";
    // All ports of a host share cookies; a name of our own keeps two installations on one machine apart.
    this.plainName = settings.find(COOKIE_NAME) ?? `troupe_${randomBytes(4).toString("hex")}`;
    settings.set(COOKIE_NAME, this.plainName);
    this.ready = this.settle();
    // Its failure belongs to whoever awaits it, not to the process.
    this.ready.catch(() => {});
  }

  /** Begins a session; returns its Set-Cookie header. */
  async begin(host: string | null): Promise<string> {
    await this.ready;
    const { store } = this.needs;
    const { idleMs, absoluteMs, kept } = LIMITS.session;
    const now = this.now();
    const id = randomBytes(32).toString("base64url");
    store.prune(now - absoluteMs, now - idleMs, kept - 1);
    store.add(hashOf(id), now);
    return this.cookie(host, id, absoluteMs);
  }

  /** The session that the request's cookie names. */
  async find(request: Request): Promise<Principal | null> {
    const hash = this.hashIn(request);
    if (!hash) return null;
    await this.ready;
    const { store } = this.needs;
    const row = store.find(hash);
    if (!row) return null;
    const { idleMs, absoluteMs, touchMs } = LIMITS.session;
    const now = this.now();
    if (now - row.createdAt > absoluteMs || now - row.lastSeenAt > idleMs) {
      store.remove(hash);
      return null;
    }
    if (now - row.lastSeenAt > touchMs) store.touch(hash, now);
    return { kind: "session", id: idOf(hash) };
  }

  async end(request: Request): Promise<string> {
    const { store, audit } = this.needs;
    const hash = this.hashIn(request);
    if (hash) {
      store.remove(hash);
      audit?.append({ kind: "signed_out", who: `session:${idOf(hash)}` });
    }
    return this.cookie(request.headers.get("host"), "", 0);
  }

  /** Ends every session, that of the request too. */
  async endAll(request: Request): Promise<string> {
    const { store, audit } = this.needs;
    const hash = this.hashIn(request);
    store.removeAll();
    audit?.append({ kind: "signed_out_everywhere", who: hash ? `session:${idOf(hash)}` : "somebody" });
    return this.cookie(request.headers.get("host"), "", 0);
  }

  /** Tries a password: the Set-Cookie header, "wrong", or the seconds to wait. */
  async tryPassword(
    given: string,
    host: string | null,
  ): Promise<{ cookie: string } | "wrong" | { waitS: number }> {
    const { audit } = this.needs;
    const waitS = this.tries.take(performance.now());
    if (waitS > 0) return { waitS };
    const hash = await this.ready;
    if (!hash || !(await isPassword(given, hash))) {
      // Attempts that had to wait are not recorded: there is no limit to their number.
      audit?.append({ kind: "sign_in_failed", who: "password" });
      return "wrong";
    }
    this.tries.clear();
    audit?.append({ kind: "signed_in", who: "password" });
    return { cookie: await this.begin(host) };
  }

  /** The path of a new one-time link; null unless people sign in by links. */
  newLink(): string | null {
    if (this.signInMode !== "link") return null;
    const token = randomBytes(24).toString("base64url");
    this.linkHash = hashOf(token);
    return `/login?link=${token}`;
  }

  /** Whether this is the token of the unused link, which is then used. */
  useLink(token: string): boolean {
    const { audit } = this.needs;
    if (this.linkHash !== null && hashOf(token) === this.linkHash) {
      this.linkHash = null;
      audit?.append({ kind: "signed_in", who: "link" });
      return true;
    }
    if (takeFromRateLimit("audit:link", LIMITS.auditedLinks) === 0)
      audit?.append({ kind: "sign_in_failed", who: "link" });
    return false;
  }

  /** Ends sessions that began under other rules; returns the hash of the password, if there is one. */
  private async settle(): Promise<string | null> {
    const { store, settings } = this.needs;
    const { password } = this;
    const before = settings.find(MADE_UNDER);
    if (password && before?.startsWith("scrypt:") && (await isPassword(password, before))) return before;
    const after = password ? await hashPassword(password) : this.signInMode;
    if (before !== after) {
      store.removeAll();
      settings.set(MADE_UNDER, after);
    }
    return password ? after : null;
  }

  private nameFor(host: string | null): string {
    return isHttpsHost(host, this.needs.env) ? `__Host-${this.plainName}` : this.plainName;
  }

  private cookie(host: string | null, value: string, maxAgeMs: number): string {
    const secure = isHttpsHost(host, this.needs.env) ? "; Secure" : "";
    return `${this.nameFor(host)}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeMs / 1_000}${secure}`;
  }

  private hashIn(request: Request): string | null {
    const value = cookieOf(request.headers.get("cookie"), this.nameFor(request.headers.get("host")));
    return value && /^[\w-]{43}$/.test(value) ? hashOf(value) : null;
  }
}

/** A session's name for people and records: too little of the hash to be misused. */
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
