import { expect, test } from "vitest";
import { emptyDb } from "@/db/testing";
import type { Env } from "@/server/settings";
import { newAccess } from "./current";
import { authorizePage, safeNext } from "./page-auth";

const HOST = "127.0.0.1:3000";
const sessions = (env: Env = {}) => newAccess(emptyDb(), env).sessions;
const page = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  new Request(`http://${HOST}${path}`, { method, headers: { host: HOST, ...headers } });

/** All that a visitor is answered, or what kind of going on it is. */
async function visit(request: Request, env: Env = {}) {
  const decision = await authorizePage(request, sessions(env));
  if (decision.go) return decision.cookie === undefined ? "continued" : "goes on with a session";
  const { status, headers } = decision.answer;
  return { status, headers: Object.fromEntries(headers), body: await decision.answer.text() };
}
const CLOSED = { "content-security-policy": "default-src 'none'; frame-ancestors 'none'" };
const plain = (status: number, text: string, more: Record<string, string> = {}) => ({
  status,
  headers: { ...CLOSED, "content-type": "text/plain; charset=utf-8", ...more },
  body: `${text}\n`,
});
const readOnly = plain(405, "Pages accept GET and HEAD only.", { allow: "GET, HEAD" });
const crossSite = plain(403, "Cross-site request blocked.");
const asksAgain = {
  status: 200,
  headers: { ...CLOSED, "cache-control": "no-store", "content-type": "text/html; charset=utf-8" },
  body: '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0"><title>Troupe</title>',
};
const leadsTo = (location: string) => ({
  status: 307,
  headers: { location, "cache-control": "no-store" },
  body: "",
});

test.each<[string, Request, unknown]>([
  [
    "a foreign name is told so",
    page("/", { host: "evil.example" }),
    plain(421, "Unknown host name. Behind a proxy, set TROUPE_PUBLIC_URL."),
  ],
  ["a page is not written to", page("/", {}, "PUT"), readOnly],
  ["a page has no server actions", page("/", { "next-action": "a" }), readOnly],
  [
    "a page may be asked for without its body",
    page("/", { "sec-fetch-dest": "document" }, "HEAD"),
    "goes on with a session",
  ],
  [
    "a browser that goes to a page gets a session",
    page("/", { "sec-fetch-dest": "document" }),
    "goes on with a session",
  ],
  [
    "an old browser gets one by what it accepts",
    page("/", { accept: "text/html,*/*" }),
    "goes on with a session",
  ],
  ["who accepts something else gets none", page("/", { accept: "application/json" }), "continued"],
  ["who accepts anything gets none", page("/"), "continued"],
  [
    "a picture gets none, whatever it accepts",
    page("/", { "sec-fetch-dest": "image", accept: "text/html" }),
    "continued",
  ],
  [
    "a person who types the address gets one",
    page("/", { "sec-fetch-dest": "document", "sec-fetch-site": "none" }),
    "goes on with a session",
  ],
  [
    "a link from here gets one",
    page("/", { "sec-fetch-dest": "document", "sec-fetch-site": "same-origin", origin: `http://${HOST}` }),
    "goes on with a session",
  ],
  [
    "a link from elsewhere is asked again from here",
    page("/", { "sec-fetch-dest": "document", "sec-fetch-site": "same-site" }),
    asksAgain,
  ],
  [
    "another site's origin is asked again from here",
    page("/", { "sec-fetch-dest": "document", origin: "https://evil.example" }),
    asksAgain,
  ],
  [
    "another site loads nothing",
    page("/", { "sec-fetch-dest": "script", "sec-fetch-site": "cross-site" }),
    crossSite,
  ],
  ["another origin loads nothing", page("/", { origin: "https://evil.example" }), crossSite],
  ["who needs no password has no sign-in page", page("/login?next=/roles"), leadsTo("/roles")],
  ["who needs no password goes to the first page from there", page("/login"), leadsTo("/")],
])("%s", async (_name, request, expected) => {
  expect(await visit(request)).toEqual(expected);
});

const LINK = { TROUPE_START_LINK: "yes" };

test.each<[string, Env, unknown]>([
  ["/runs?a=1&b", LINK, leadsTo("/login?next=%2Fruns%3Fa%3D1%26b")],
  ["/login", LINK, "continued"],
  ["/login?link=guess", LINK, "continued"],
  ["/runs?link=guess", LINK, leadsTo("/login?next=%2Fruns%3Flink%3Dguess")],
])("without a session, %s", async (path, env, expected) => {
  expect(await visit(page(path), env)).toEqual(expected);
});

test("who is signed in goes on, and leaves the sign-in page for where they wanted to go", async () => {
  const door = sessions(LINK);
  const cookie = (await door.begin(HOST)).split(";")[0] ?? "";
  expect(await authorizePage(page("/runs", { cookie }), door)).toEqual({ go: true });
  const decision = await authorizePage(page("/login?next=/roles", { cookie }), door);
  expect(decision.go ? "continued" : decision.answer.headers.get("location")).toBe("/roles");
});

test.each([
  [null, "/"],
  ["", "/"],
  ["/", "/"],
  ["/a?b=c#d", "/a?b=c"],
  ["/a/../b", "/b"],
  ["/a/..//evil.example", "/"],
  ["/\\evil.example", "/"],
  ["/a\\b", "/"],
  ["/a\u0007b", "/"],
  ["//evil.example", "/"],
  ["a", "/"],
  ["http://troupe.invalid/a", "/"],
])("after signing in with the way on %j, one is at %s", (next, place) => {
  expect(safeNext(next)).toBe(place);
});
