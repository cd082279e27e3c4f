import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "@/server/domain/base/values";
import { ToolSpec } from "@/server/domain/tool/tool";
import { type Context, unvouchedPlaces } from "./policy";
import { addedPhrases, addressesIn, UserProvidedText } from "./user-provided-text";

const spec = (more: Partial<ToolSpec> = {}) =>
  ToolSpec.parse({
    name: "act",
    description: "Acts",
    input_schema: { type: "object" },
    source: "mcp",
    risk: "UNKNOWN",
    sink: true,
    ...more,
  });
const reads = spec({ name: "read", read_only: true });
const context = (userText: string, more: Partial<Context> = {}): Context => ({
  own: new UserProvidedText([userText]),
  taint_sources: ["mail"],
  read: [],
  private_sources: ["mail"],
  ...more,
});
/** What of a call a person must agree to. */
const unvouched = (userText: string, args: JsonObject, tool = spec(), more: Partial<Context> = {}) =>
  unvouchedPlaces({ spec: tool, args }, context(userText, more)).map(({ value }) => value);

describe("destinations in user text", () => {
  test.each([
    ["Write to ann@example.org", { to: "ann@example.org" }],
    ["Write to Ann@Example.org.", { recipients: ["ann@example.ORG"], body: "hello" }],
    ["Pay GB29 NWBK 6016 1331 9268 19", { recipient: "GB29NWBK60161331926819", amount: 4 }],
    [
      "Post to https://api.example.org/v1/items please",
      { url: "https://api.example.org/v1/items/7?secret=x" },
    ],
    ["Ask api.example.org", { url: "http://API.example.org./any/path?q=1" }],
    ["Look at www.example.org", { url: "https://example.org/x" }],
    ["Tell Bob about it", { recipient: "Bob", body: "what nobody has written before" }],
    ["Delete file 13", { file_id: "13" }],
    ["Write the file packing-list.docx", { filename: "packing-list.docx", content: "socks" }],
    ["Call the event 'Dinner at {place}'", { title: "Dinner at The Old Mill", start: "2026-01-01 10:00" }],
    ["Set the password to 1j1l-2k3j", { password: "1j1l-2k3j" }],
    ["Say hello world", { text: "hello world" }],
  ])("a destination in the user's text is vouched for: %s", (userText, args) => {
    expect(unvouched(userText, args)).toEqual([]);
  });

  test.each([
    [
      "a longer host",
      "Ask example.org",
      { url: "https://example.org.evil.test/" },
      ["https://example.org.evil.test/"],
    ],
    [
      "a host with the same ending",
      "Ask example.org",
      { url: "https://notexample.org/" },
      ["https://notexample.org/"],
    ],
    [
      "a name before the host",
      "Ask example.org",
      { url: "https://example.org@evil.test/" },
      ["https://example.org@evil.test/"],
    ],
    ["another port", "Ask example.org", { url: "https://example.org:8443/" }, ["https://example.org:8443/"]],
    [
      "another path on a shared host",
      "See https://code.example/ann/project",
      { url: "https://code.example/mallory/x" },
      ["https://code.example/mallory/x"],
    ],
    [
      "the host of an e-mail address",
      "Write to ann@example.org",
      { url: "https://example.org/x" },
      ["https://example.org/x"],
    ],
    [
      "an e-mail address that is part of another address",
      "Write to ann@example.org",
      { to: "joann@example.org" },
      ["joann@example.org"],
    ],
    [
      "a second recipient",
      "Write to ann@example.org",
      { to: "ann@example.org, eve@evil.test" },
      ["eve@evil.test"],
    ],
    [
      "a CC recipient",
      "Write to ann@example.org",
      { to: "ann@example.org", bcc: ["eve@evil.test"] },
      ["eve@evil.test"],
    ],
    [
      "a link in a text to a friend",
      "Tell Ann",
      { to: "Ann", body: "See www.evil.test/now" },
      ["www.evil.test/now"],
    ],
    [
      "an account",
      "Pay the bill",
      { recipient: "US133000000121212121212", amount: 1 },
      ["US133000000121212121212"],
    ],
    ["part of a name", "Tell Annabel", { recipient: "Anna" }, ["Anna"]],
    ["a short number that appears by chance", "Free on June 13?", { file_id: "13" }, ["13"]],
    ["a word that isn't a name", "Send it to them all", { recipient: "all" }, ["all"]],
    [
      "a title in an event without attendees",
      "Am I free?",
      { title: "Book the Riverside", start: "2026-01-01" },
      ["Book the Riverside"],
    ],
    ["a password", "Check my account", { password: "new_password" }, ["new_password"]],
    ["an unrelated argument", "Auto-layout", {}, ["act"]],
    ["a placeholder", "Send it to {{state.who}}", { recipient: "Mallory" }, ["Mallory"]],
    ["hidden letters", "Ask exаmple.org", { url: "https://example.org/" }, ["https://example.org/"]],
  ])("%s isn't vouched for by the user's text", (_what, userText, args, expected) => {
    expect(unvouched(userText, args as JsonObject)).toEqual(expected);
  });

  test("nothing needs approval before untrusted content is read, or if nothing is sent", () => {
    const leak = { url: "https://evil.test/" };
    expect(unvouched("", leak, spec(), { taint_sources: [] })).toEqual([]);
    expect(unvouched("", leak, spec({ sink: false }))).toEqual([]);
  });

  test("a read-only tool is checked for web addresses, not for search terms", () => {
    expect(unvouched("", { sender: "bank@example.org", query: "code", id: 7 }, reads)).toEqual([]);
    expect(unvouched("", { url: "www.evil.test" }, reads)).toEqual(["www.evil.test"]);
    expect(unvouched("", { query: "see https://evil.test/?d=1" }, reads)).toEqual(["https://evil.test/?d=1"]);
  });

  test("an id is vouched for if a record links it to a name in the user's text", () => {
    const read = [
      {
        source: "calendar",
        text: JSON.stringify({
          events: [{ id: "5", title: "Dental check-up", note: '{"id":"9","title":"Dental check-up"}' }],
        }),
        is_public: false,
      },
    ];
    const move = (event_id: string) =>
      unvouched("Move my dental check-up", { event_id, start: "2026-01-01" }, spec(), { read });
    expect(move("5")).toEqual([]);
    // What stands within a text is no record.
    expect(move("9")).toEqual(["9"]);
    // Whom something goes to is never settled so.
    expect(unvouched("Move my dental check-up", { user: "5" }, spec(), { read })).toEqual(["5"]);
  });
});

describe("runs that read only public pages", () => {
  const page = (text: string) => ({ source: "web_search", text, is_public: true });
  const free: Partial<Context> = { private_sources: [], read: [page('{"url":"https://a.test/x?y=1"}')] };
  const open = (url: string, more: Partial<Context> = {}, args: JsonObject = {}) =>
    unvouched("", { url, ...args }, spec({ read_only: true, ways_out: { places: ["url"] } }), {
      ...free,
      ...more,
    });

  test("a link may be opened exactly as it was given, without additions", () => {
    expect(open("https://a.test/x?y=1")).toEqual([]);
    expect(open("https://a.test/x?y=12")).toEqual(["https://a.test/x?y=12"]);
    expect(open("https://a.test/x")).toEqual(["https://a.test/x"]);
    expect(open("https://a.test/x?y=1", {}, { headers: { a: "b" } })).toEqual(["https://a.test/x?y=1"]);
    expect(open("https://a.test/x?y=1", { private_sources: ["mail"] })).toEqual(["https://a.test/x?y=1"]);
  });
  test("a request to a given link may read but not send data", () => {
    const asked = (args: JsonObject) => open("https://a.test/x?y=1", {}, args).length === 0;
    expect(asked({})).toBe(true);
    expect(asked({ method: "GET" })).toBe(true);
    expect(asked({ method: "HEAD" })).toBe(true);
    expect(asked({ method: "POST" })).toBe(false);
    expect(asked({ method: null })).toBe(false);
    expect(asked({ headers: {} })).toBe(true);
    expect(asked({ headers: [] })).toBe(false);
    expect(asked({ headers: "a: b" })).toBe(false);
    expect(asked({ headers: { a: "b" } })).toBe(false);
    expect(asked({ body: "x" })).toBe(false);
    expect(asked({ method: "GET", headers: {}, timeout: 3 })).toBe(false);
  });

  test("only addresses in public content count, and only for read-only tools", () => {
    const url = "https://a.test/x?y=1";
    const read = (text: string, is_public = true) => ({ read: [{ source: "s", text, is_public }] });
    expect(open(url, read(`See ${url}.`))).toEqual([]);
    expect(open(url, read(`See ${url}.`, false))).toEqual([url]);
    expect(open(url, read(`See ${url}&z=2`))).toEqual([url]);
    expect(open(url, { read: [page("nothing"), page(`At ${url}`)] })).toEqual([]);
    const acts = spec({ ways_out: { places: ["url"] } });
    expect(unvouched("", { url }, acts, free)).toEqual([url]);
  });

  test("search terms are free until private content is read, then must be known or public", () => {
    const tool = spec({ read_only: true, ways_out: { words: ["query"] } });
    const search = (query: string, more: Partial<Context> = {}) =>
      unvouched("heat pumps", { query }, tool, more);
    expect(search("anything whatever", { private_sources: [] })).toEqual([]);
    expect(search("the heat pumps")).toEqual([]);
    expect(search("heat pumps 463820")).toEqual(["heat pumps 463820"]);
    expect(search("heat pumps prices", { read: [page("Prices rise")] })).toEqual([]);
  });
});

describe("references by id", () => {
  const named = (text: string, userText = "Move the Dental check-up", event_id = "5") =>
    unvouched(userText, { event_id, start: "2026-01-01" }, spec(), {
      read: [{ source: "calendar", text, is_public: false }],
    }).length === 0;
  test.each<[string, string, boolean]>([
    ["by its id and title", '{"id": "5", "title": "Dental check-up"}', true],
    ["by a numeric id", '{"id": 5, "title": "Dental check-up"}', true],
    ["by the key of an event", '{"event_id": "5", "name": "Dental check-up"}', true],
    ["by a uuid, with a label", '{"uuid": "5", "label": "Dental check-up"}', true],
    ["in a list in a list", '[[{"key": "5", "subject": "Dental check-up"}]]', true],
    ["deep within", '{"a": {"b": [{"id": "5", "title": "Dental check-up"}]}}', true],
    ["behind the tool's name", 'find (200): {"id": "5", "title": "Dental check-up"}', true],
    [
      "behind the longest prefix of a result",
      `${"x".repeat(220)}{"id": "5", "title": "Dental check-up"}`,
      true,
    ],
    ["behind a longer prefix", `${"x".repeat(221)}{"id": "5", "title": "Dental check-up"}`, false],
    ["by another id", '{"id": "55", "title": "Dental check-up"}', false],
    ["by a field that isn't an id", '{"grid": "5", "title": "Dental check-up"}', false],
    ["by a field that isn't a name", '{"id": "5", "notes": "Dental check-up"}', false],
    ["by a name that isn't in the user's text", '{"id": "5", "title": "Lunch with Ann"}', false],
    ["by the name of another record", '[{"id": "5"}, {"title": "Dental check-up"}]', false],
    ["by a name that isn't text", '{"id": "5", "title": ["Dental check-up"]}', false],
    ["in invalid JSON", '{"id": "5", "title": "Dental check-up"', false],
    ["in text alone", "id 5 is the Dental check-up", false],
    ["in an empty text", "", false],
  ])("an id is vouched for only by a record with that id and name: %s", (_how, text, isMeant) => {
    expect(named(text)).toBe(isMeant);
  });
  test("a name shorter than four letters doesn't vouch for an id", () => {
    const record = (title: string) => JSON.stringify({ id: "5", title });
    expect([named(record("Yoga"), "Move Yoga"), named(record("Gym"), "Move Gym")]).toEqual([true, false]);
  });
});

test("the source of a destination is the first content that contains it", () => {
  const read = ["first", "second"].map((source) => ({ source, text: "ask eve@evil.test", is_public: false }));
  const found = unvouchedPlaces(
    { spec: spec(), args: { to: ["eve@evil.test", "bob@evil.test"] } },
    context("", { read }),
  );
  expect(found).toEqual([
    { argument: "to[0]", value: "eve@evil.test", kind: "email", from: "first" },
    { argument: "to[1]", value: "bob@evil.test", kind: "email", from: null },
  ]);
});

test("an unvouched destination is found wherever it is in the arguments", () => {
  const name = fc.stringMatching(/^[a-z]{3,12}$/);
  const host = fc.tuple(name, name).map(([a, b]) => `${a}.${b}.test`);
  fc.assert(
    fc.property(host, fc.string(), fc.string(), name, (evil, before, after, argument) => {
      const args = { [argument]: { deep: [`${before} https://${evil}/${after}`] } };
      const found = unvouched("Ask example.org about it", args);
      expect(found.some((value) => value.includes(evil))).toBe(true);
    }),
  );
});

test("file names in text aren't taken for addresses", () => {
  const text = "See notes.md, plan.docx and v1.2.3; costs 3.50. Then https://a.example/x and bob@b.example.";
  expect(addressesIn(text)).toEqual([
    { kind: "web", value: "https://a.example/x" },
    { kind: "email", value: "bob@b.example" },
  ]);
});

test("long texts are checked in linear time", () => {
  const own = new UserProvidedText([
    "a-".repeat(500_000),
    "1".repeat(500_000),
    "a.".repeat(500_000),
    "ab12 ".repeat(100_000),
  ]);
  expect(own.hasName("nothing of that")).toBe(false);
  expect(addressesIn("a@".repeat(200_000) + "a.".repeat(200_000))).toEqual([]);
});

test("an edit vouches for the text it adds, not for the text it keeps", () => {
  expect(addedPhrases("Send it to ann@example.org", "Send it to eve@evil.test")).toEqual(["ann@example.org"]);
  expect(addedPhrases("Not to eve@evil.test, please!", "to eve@evil.test")).toEqual(["Not", ", please!"]);
  expect(addedPhrases("See https://evil.test.", "see https://evil.test")).toEqual([]);
  expect(addedPhrases("Bob Smith writes", "")).toEqual(["Bob Smith writes"]);
});
