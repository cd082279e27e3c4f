import { describe, expect, test, vi } from "vitest";
import { sessions as table } from "@/db/schema";
import { emptyDb } from "@/db/testing";
import type { Env } from "@/server/settings";
import { newSessionStore } from "@/server/store/sessions";
import { newSettingStore } from "@/server/store/settings";
import { LIMITS } from "../limits";
import { authorizePage, safeNext } from "./page-auth";
import { newTries } from "./password";
import { Sessions } from "./sessions";

const HOST = "127.0.0.1:3000";
const DAY = 24 * 3_600_000;
const PASSWORD = { TROUPE_PASSWORD: "correct horse" };

function install() {
  const db = emptyDb();
  let time = 1_800_000_000_000;
  return {
    db,
    wait: (ms: number) => {
      time += ms;
    },
    start: (env: Env = {}) =>
      new Sessions({ store: newSessionStore(db), settings: newSettingStore(db), env, now: () => time }),
  };
}

const page = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  new Request(`http://${HOST}${path}`, {
    method,
    headers: { host: HOST, "sec-fetch-dest": "document", "sec-fetch-site": "none", ...headers },
  });

/** The Cookie header that a browser sends back for a Set-Cookie header. */
const back = (setCookie: string) => ({ cookie: `other=1; ${setCookie.split(";")[0]}` });

/** What a visitor gets, in a word. */
async function visit(sessions: Sessions, path: string, headers: Record<string, string> = {}, method = "GET") {
  const entry = await authorizePage(page(path, headers, method), sessions);
  if (entry.go) return entry.cookie ? "page and session" : "page";
  const { status, headers: sent } = entry.answer;
  return status === 307 ? `${sent.get("location")}${sent.has("set-cookie") ? " and session" : ""}` : status;
}

describe("sessions without a password", () => {
  test("the first page creates a session, and the next page keeps it", async () => {
    const sessions = install().start();
    const first = await authorizePage(page("/"), sessions);
    const cookie = first.go ? (first.cookie ?? "") : "";
    expect(cookie).toMatch(
      /^troupe_[0-9a-f]{8}=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=2592000$/,
    );
    expect(await visit(sessions, "/roles", back(cookie))).toBe("page");
    expect(await sessions.find(page("/", back(cookie)))).toMatchObject({ kind: "session" });
  });

  test("cross-site requests, foreign hosts and non-navigations get no session", async () => {
    const sessions = install().start();
    expect(await visit(sessions, "/", { host: "evil.example:3000" })).toBe(421);
    expect(await visit(sessions, "/", {}, "POST")).toBe(405);
    expect(await visit(sessions, "/", { "next-action": "x" })).toBe(405);
    expect(await visit(sessions, "/", { "sec-fetch-site": "cross-site", "sec-fetch-dest": "image" })).toBe(
      403,
    );
    expect(await visit(sessions, "/", { origin: "null" })).toBe(200);
    expect(await visit(sessions, "/", { "sec-fetch-dest": "empty", "sec-fetch-site": "same-origin" })).toBe(
      "page",
    );
    expect(await visit(sessions, "/login?next=%2Froles")).toBe("/roles");
  });

  test("a navigation from another site reloads from this origin, so that the cookie is sent", async () => {
    const entry = await authorizePage(page("/", { "sec-fetch-site": "cross-site" }), install().start());
    expect(entry.go ? "" : await entry.answer.text()).toContain('http-equiv="refresh"');
    expect(entry.go ? "" : entry.answer.headers.has("set-cookie")).toBe(false);
  });

  test("a session ends when idle, and after thirty days at the latest", async () => {
    const { start, wait } = install();
    const sessions = start();
    const unused = page("/", back(await sessions.begin(HOST)));
    wait(LIMITS.session.idleMs + 1);
    expect(await sessions.find(unused)).toBeNull();

    const used = page("/", back(await sessions.begin(HOST)));
    for (let day = 0; day < 30; day += 5) {
      expect(await sessions.find(used)).not.toBeNull();
      wait(5 * DAY);
    }
    wait(1);
    expect(await sessions.find(used)).toBeNull();
  });

  test("setting the clock back neither ends sessions nor makes them immortal", async () => {
    const { start, wait } = install();
    const sessions = start();
    const mine = page("/", back(await sessions.begin(HOST)));
    wait(-2 * 3_600_000);
    expect(await sessions.find(mine)).not.toBeNull();
    wait(40 * DAY);
    expect(await sessions.find(mine)).toBeNull();
  });

  test("the database stores no usable session token", async () => {
    const { db, start } = install();
    const sessions = start();
    const value = (await sessions.begin(HOST)).match(/=([\w-]{43});/)?.[1] ?? "";
    const rows = db.select().from(table).all();
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain(value);
    expect(await sessions.find(page("/", { cookie: `${rows[0]?.hash}` }))).toBeNull();
  });

  test("the number of stored sessions is limited", async () => {
    const { db, start, wait } = install();
    const sessions = start();
    const store = newSessionStore(db);
    for (let i = 0; i < LIMITS.session.kept + 20; i++) store.add(`h${i}`, 1_800_000_000_000 + i);
    wait(5_000);
    await sessions.begin(HOST);
    expect(db.select().from(table).all()).toHaveLength(LIMITS.session.kept);
  });

  test("the cookie is Secure behind https", async () => {
    const sessions = install().start({ TROUPE_PUBLIC_URL: "https://troupe.example.org" });
    expect(await sessions.begin("troupe.example.org")).toMatch(/^__Host-troupe_.*; Secure$/);
    expect(await sessions.begin(HOST)).not.toContain("Secure");
  });
});

describe("sessions with a password", () => {
  test("pages redirect to the sign-in page, and the password leads back", async () => {
    const sessions = install().start(PASSWORD);
    expect(await visit(sessions, "/runs?x=1")).toBe("/login?next=%2Fruns%3Fx%3D1");
    expect(await visit(sessions, "/login")).toBe("page");
    expect(await sessions.tryPassword("wrong", HOST)).toBe("wrong");
    const right = await sessions.tryPassword("correct horse", HOST);
    const cookie = typeof right === "object" && "cookie" in right ? right.cookie : "";
    expect(await visit(sessions, "/runs", back(cookie))).toBe("page");
    expect(await visit(sessions, "/login?next=//evil.example", back(cookie))).toBe("/");
    await sessions.end(page("/", back(cookie)));
    expect(await visit(sessions, "/runs", back(cookie))).toBe("/login?next=%2Fruns");
  });

  test("the sixth sign-in attempt in a minute waits, and the wait doubles after that", () => {
    const tries = newTries();
    expect([1, 2, 3, 4, 5].map((ms) => tries.take(ms))).toEqual([0, 0, 0, 0, 0]);
    expect(tries.take(6)).toBe(60);
    expect(tries.take(30_006)).toBe(30);
    expect(tries.take(60_007)).toBe(0);
    expect(tries.take(60_008)).toBe(120);
    tries.clear();
    expect(tries.take(60_009)).toBe(0);
  });

  test("a new or changed password ends all earlier sessions; a restart doesn't", async () => {
    const { start } = install();
    const before = page("/", back(await start().begin(HOST)));
    expect(await start().find(before)).not.toBeNull();
    const guarded = start(PASSWORD);
    expect(await guarded.find(before)).toBeNull();
    const signedIn = page("/", back(await guarded.begin(HOST)));
    expect(await start(PASSWORD).find(signedIn)).not.toBeNull();
    expect(await start({ TROUPE_PASSWORD: "another one" }).find(signedIn)).toBeNull();
  });
});

describe("sessions with a start link", () => {
  test("only the start link signs in, and it works once", async () => {
    const sessions = install().start({ TROUPE_START_LINK: "1" });
    const link = sessions.newLink() ?? "";
    expect(await visit(sessions, "/")).toBe("/login?next=%2F");
    expect(await visit(sessions, "/login?link=guess")).toBe("page");
    expect(await visit(sessions, link)).toBe("/ and session");
    expect(await visit(sessions, link)).toBe("page");
    expect(install().start().newLink()).toBeNull();
  });
});

test("signing in never redirects to another site", () => {
  expect(safeNext("/workflows/wf_1?tab=runs")).toBe("/workflows/wf_1?tab=runs");
  for (const next of [
    "//evil.example",
    "/\\evil.example",
    "\\/evil.example",
    "https://evil.example",
    "/\t/evil.example",
    "javascript:alert(1)",
    "evil",
    "",
    "/a/..//evil.example",
    "/.//evil.example",
  ])
    expect([next, safeNext(next)]).toEqual([next, "/"]);
});

test("a server without signed-in users keeps no timer running", () => {
  vi.useFakeTimers();
  install().start(PASSWORD);
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});
