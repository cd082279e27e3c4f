import { expect, test } from "vitest";
import { isApproval, isRejection } from "../base/yes-no";
import { isOtherClient, type McpBefore, mcpErrors } from "./mcp-form";
import { findRouterFunction, routerFunctions } from "./router-functions";
import { isGranted, resourcesOf, succeeded, ToolSpec } from "./tool";

test.each([
  [["look"], "look", true],
  [["look"], "looks", false],
  [["mcp:desk/*"], "mcp:desk/pen", true],
  [["mcp:desk/*"], "mcp:desktop/pen", false],
  [["mcp:desk/pen"], "mcp:desk/pens", false],
  [["files/*"], "files/read", false],
  [["*"], "look", false],
  [[], "look", false],
])("a list of tools %j grants %s: %s", (tools, name, is) => {
  expect(isGranted(tools, name)).toBe(is);
});

test("tool calls share the resources in their arguments and defaults, written as text or JSON", () => {
  const spec = ToolSpec.parse({
    name: "t",
    description: "d",
    source: "builtin",
    risk: "LOW",
    input_schema: { type: "object", properties: { path: { type: "string", default: "home" }, n: {} } },
    resources: ["file:{path}", "fixed", "{n}:{none}", "{toString}"],
  });
  expect(resourcesOf(spec, { path: "a", n: [1] })).toEqual(["file:a", "fixed", "[1]:null", "null"]);
  expect(resourcesOf(spec, { n: null })).toEqual(["file:home", "fixed", "null:null", "null"]);
  const { resources: _none, ...free } = spec;
  expect(resourcesOf(free, { path: "a" })).toEqual([]);
});

test("a tool call succeeds only with status 200", () => {
  const output = (status_code: number) => ({ status_code }) as Parameters<typeof succeeded>[0];
  expect(succeeded(output(200))).toBe(true);
  expect(succeeded(output(201))).toBe(false);
  expect(succeeded(output(500))).toBe(false);
});

test("a built-in router function is found only by its exact name", () => {
  const [rule, ...others] = routerFunctions();
  expect(rule?.name).toBe("approval_status_router");
  expect(rule?.labels).toEqual(["approved", "rejected"]);
  expect(rule?.reads).toEqual(["approval_status"]);
  expect(others).toEqual([]);
  expect(findRouterFunction("approval_status_router")).toEqual(rule);
  expect(findRouterFunction("toString")).toBeUndefined();
  expect(findRouterFunction(undefined)).toBeUndefined();
});

test.each([
  [" Approved ", true, false],
  ["YES", true, false],
  ["no", false, true],
  [" Declined", false, true],
  ["maybe", false, false],
])("%j is an approval: %s, a rejection: %s", (name, yes, no) => {
  expect([isApproval(name), isRejection(name)]).toEqual([yes, no]);
});

const DRAFT = {
  name: "notes",
  url: "https://a.example",
  authorization: "",
  drops: false,
  client_id: "",
  client_secret: "",
  as_program: false,
  private_key: "",
};
const saved = (sign_in: McpBefore["sign_in"], where = "https://a.example"): McpBefore => ({ where, sign_in });
const own = { client_id: "c", as_program: false };

test.each<[object, McpBefore | null, boolean]>([
  [{}, null, false],
  [{ client_id: "c" }, null, true],
  [{ client_secret: " " }, null, false],
  [{ client_secret: "s" }, null, true],
  [{ private_key: "k" }, null, true],
  [{ as_program: true }, null, false],
  [{ client_id: " c ", url: " https://a.example " }, saved(own), false],
  [{ client_id: "d" }, saved(own), true],
  [{ client_id: "c", as_program: true }, saved(own), true],
  [{ client_id: "c", as_program: true }, saved({ ...own, as_program: true }), false],
  [{ client_id: "c" }, saved({ ...own, as_program: true }), true],
  [{ client_id: "c" }, saved(own, "https://b.example"), true],
  [{ as_program: true }, saved({ client_id: null, as_program: false }), false],
  [{}, saved(null), false],
  [{}, saved(undefined), false],
])("a form with %j has another client than %j: %s", (more, before, is) => {
  expect(isOtherClient({ ...DRAFT, ...more }, before)).toBe(is);
});

test.each<[object, McpBefore | null, string[]]>([
  [{}, null, []],
  [{ name: " notes ", url: " http://a " }, null, []],
  [{ name: "1notes" }, null, ["name"]],
  [{ name: "n".repeat(64) }, null, []],
  [{ name: "n".repeat(65) }, null, ["name"]],
  [{ name: "no/tes" }, null, ["name"]],
  [{ url: "a.example" }, null, ["url"]],
  [{ url: "https://a b" }, null, ["url"]],
  [{ client_secret: "s" }, null, ["client_id"]],
  [{ client_secret: "s", client_id: "c" }, null, []],
  [{ as_program: true, client_id: "c" }, null, ["client_secret"]],
  [{ as_program: true, client_id: "c", private_key: "k" }, null, []],
  [{ as_program: true }, null, []],
  [{ client_id: "c" }, null, []],
  [{ as_program: true, client_id: "c" }, saved({ ...own, as_program: true }), []],
  [{ as_program: true, client_id: "c" }, saved(own), ["client_secret"]],
])("a form with %j, saved as %j, has errors in %j", (more, before, fields) => {
  expect(Object.keys(mcpErrors({ ...DRAFT, ...more }, before))).toEqual(fields);
});
