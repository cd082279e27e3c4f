import { expect, test } from "vitest";
import { emptyDb } from "@/db/testing";
import { newAccess } from "./current";
import type { Sessions } from "./sessions";
import { signIn, signOut } from "./sign-in";

const HOST = "127.0.0.1:3000";

function ask(body: string, headers: Record<string, string> = {}) {
  return new Request(`http://${HOST}/api/session`, {
    method: "POST",
    headers: {
      host: HOST,
      origin: `http://${HOST}`,
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(body)),
      ...headers,
    },
    ...(body === "" ? {} : { body }),
  });
}
const open = () => newAccess(emptyDb(), {});
/** A door at which any password has this outcome. */
function doorWhere(outcome: Awaited<ReturnType<Sessions["tryPassword"]>>) {
  const door = open();
  return { ...door, sessions: { ...door.sessions, tryPassword: async () => outcome } };
}
const statusAndBody = async (response: Response) => [response.status, await response.json()] as const;

test.each([
  ["no JSON", "nothing"],
  ["nothing", ""],
  ["no password", "{}"],
  ["an empty password", '{"password":""}'],
  ["a password that is too long", JSON.stringify({ password: "x".repeat(1_001) })],
])("a sign-in with %s is rejected and doesn't count as an attempt", async (_what, body) => {
  const door = { ...open(), sessions: { ...open().sessions, tryPassword: () => expect.fail("tried") } };
  expect(await statusAndBody(await signIn(ask(body), door))).toEqual([
    400,
    { error: { code: "bad_request", message: "Enter the password." } },
  ]);
});

test.each([
  ['{"password":"x"}', "/"],
  ['{"password":"x","next":null}', "/"],
  ['{"password":"x","next":"//evil.example"}', "/"],
  [JSON.stringify({ password: "x".repeat(1_000), next: `/${"r".repeat(1_999)}` }), `/${"r".repeat(1_999)}`],
])("a successful sign-in continues inside the app (%#)", async (body, next) => {
  const response = await signIn(ask(body), doorWhere({ cookie: "c=1" }));
  expect([...(await statusAndBody(response)), response.headers.get("set-cookie")]).toEqual([
    200,
    { next },
    "c=1",
  ]);
  expect(response.headers.get("cache-control")).toBe("no-store");
});

test("a wrong password creates no session", async () => {
  const response = await signIn(ask('{"password":"x"}'), doorWhere("wrong"));
  expect([...(await statusAndBody(response)), response.headers.get("set-cookie")]).toEqual([
    401,
    { error: { code: "wrong_password", message: "Wrong password." } },
    null,
  ]);
});

test.each([
  [60, "60 seconds"],
  [90, "90 seconds"],
  [91, "2 minutes"],
  [900, "15 minutes"],
])("a wait of %i s is reported as %s", async (waitS, duration) => {
  const response = await signIn(ask('{"password":"x"}'), doorWhere({ waitS }));
  expect([...(await statusAndBody(response)), response.headers.get("retry-after")]).toEqual([
    429,
    { error: { code: "too_many_tries", message: `Too many attempts. Try again in ${duration}.` } },
    String(waitS),
  ]);
});

test.each([
  ["this browser", "{}", false],
  ["this browser, given no JSON", "nothing", false],
  ["this browser, given an invalid value", '{"everywhere":"yes"}', false],
  ["every browser", '{"everywhere":true}', true],
])("signing out ends the session of %s", async (_what, body, everywhere) => {
  const door = open();
  const [mine, other] = await Promise.all(
    [0, 1].map(async () => ({ cookie: (await door.sessions.begin(HOST)).split(";")[0] ?? "" })),
  );
  const response = await signOut(ask(body, mine), door);
  expect(await statusAndBody(response)).toEqual([200, { next: "/login" }]);
  expect(response.headers.get("set-cookie")).toMatch(/^troupe_\w+=; .*Max-Age=0$/);
  const left = await Promise.all([mine, other].map(async (cookie) => door.sessionOf(ask("{}", cookie))));
  expect(left.map((session) => session === null)).toEqual([true, everywhere]);
});

test("signing out other browsers requires a session", async () => {
  const door = open();
  const cookie = (await door.sessions.begin(HOST)).split(";")[0] ?? "";
  expect((await signOut(ask('{"everywhere":true}'), door)).status).toBe(401);
  expect(await door.sessionOf(ask("{}", { cookie }))).not.toBeNull();
});
