import { expect, test } from "vitest";
import { emptyDb } from "@/db/testing";
import type { Env } from "@/server/settings";
import { newAccess } from "./current";
import { authorizeFormPage, authorizePage, isFormPage, safeNext } from "./page-auth";

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
    "a foreign host name is rejected",
    page("/", { host: "evil.example" }),
    plain(421, "Unknown host name. Behind a proxy, set TROUPE_PUBLIC_URL."),
  ],
  ["a page rejects PUT", page("/", {}, "PUT"), readOnly],
  ["a page rejects server actions", page("/", { "next-action": "a" }), readOnly],
  [
    "a HEAD request for a page creates a session",
    page("/", { "sec-fetch-dest": "document" }, "HEAD"),
    "goes on with a session",
  ],
  [
    "a browser navigation creates a session",
    page("/", { "sec-fetch-dest": "document" }),
    "goes on with a session",
  ],
  [
    "an old browser's Accept header creates a session",
    page("/", { accept: "text/html,*/*" }),
    "goes on with a session",
  ],
  ["a request that accepts JSON creates no session", page("/", { accept: "application/json" }), "continued"],
  ["a request without an Accept header creates no session", page("/"), "continued"],
  [
    "an image request creates no session",
    page("/", { "sec-fetch-dest": "image", accept: "text/html" }),
    "continued",
  ],
  [
    "a typed address creates a session",
    page("/", { "sec-fetch-dest": "document", "sec-fetch-site": "none" }),
    "goes on with a session",
  ],
  [
    "a link from this origin creates a session",
    page("/", { "sec-fetch-dest": "document", "sec-fetch-site": "same-origin", origin: `http://${HOST}` }),
    "goes on with a session",
  ],
  [
    "a link from another site is reloaded from this origin",
    page("/", { "sec-fetch-dest": "document", "sec-fetch-site": "same-site" }),
    asksAgain,
  ],
  [
    "a navigation with a foreign Origin is reloaded from this origin",
    page("/", { "sec-fetch-dest": "document", origin: "https://evil.example" }),
    asksAgain,
  ],
  [
    "a cross-site subresource request is rejected",
    page("/", { "sec-fetch-dest": "script", "sec-fetch-site": "cross-site" }),
    crossSite,
  ],
  ["a request with a foreign Origin is rejected", page("/", { origin: "https://evil.example" }), crossSite],
  ["without a password, the sign-in page redirects on", page("/login?next=/roles"), leadsTo("/roles")],
  ["without a password, it redirects home by default", page("/login"), leadsTo("/")],
])("%s", async (_name, request, expected) => {
  expect(await visit(request)).toEqual(expected);
});

const LINK = { TROUPE_START_LINK: "yes" };

test.each<[string, Env, unknown]>([
  ["/runs?a=1&b", LINK, leadsTo("/login?next=%2Fruns%3Fa%3D1%26b")],
  ["/login", LINK, "continued"],
  ["/login?link=guess", LINK, "continued"],
  ["/runs?link=guess", LINK, leadsTo("/login?next=%2Fruns%3Flink%3Dguess")],
])("a request without a session for %s continues or leads to sign-in", async (path, env, expected) => {
  expect(await visit(page(path), env)).toEqual(expected);
});

test("a signed-in request passes, and the sign-in page redirects it to its next page", async () => {
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
])("signing in with the next page %j leads to %s", (next, place) => {
  expect(safeNext(next)).toBe(place);
});

test("form pages are public, also in frames of other sites, and start no session", () => {
  const inFrame = { "sec-fetch-site": "cross-site", "sec-fetch-dest": "iframe" };
  expect(authorizeFormPage(page("/p/key", inFrame))).toEqual({ go: true });
  for (const request of [
    page("/p/key", { host: "evil.example" }),
    page("/p/key", {}, "POST"),
    page("/p/key", { "next-action": "a" }),
  ])
    expect(authorizeFormPage(request).go).toBe(false);
  expect(["/p/key", "/p", "/prices", "/workflows/p/key"].map(isFormPage)).toEqual([
    true,
    false,
    false,
    false,
  ]);
});
