import { describe, expect, test } from "vitest";
import { RunConfig } from "@/server/domain/agent/outcome";
import type { ConfirmationPolicy } from "@/server/domain/agent/role";
import { ToolSpec } from "@/server/domain/tool/tool";
import { confirmationReason, grantTools } from "./policy";

const spec = (name: string, more: Partial<ToolSpec> = {}) =>
  ToolSpec.parse({
    name,
    description: "Does it",
    input_schema: { type: "object" },
    source: "builtin",
    risk: "LOW",
    ...more,
  });
const known = ["look", "write", "mcp:notes/find", "mcp:notes/add", "mcp:post/send"].map((name) => spec(name));
/** What an agent gets, and what it does not get and why. */
const granted = (role_tools: string[], more: Partial<Parameters<typeof grantTools>[0]> = {}) => {
  const grants = grantTools({ role_tools, known, denied: [], ...more });
  return {
    gets: grants.granted.map(({ name }) => name),
    without: Object.fromEntries(grants.withheld.map(({ tool_name, reason }) => [tool_name, reason])),
  };
};

describe("granted tools", () => {
  test("an agent gets its role's available tools and is informed of missing tools", () => {
    expect(granted([])).toEqual({ gets: [], without: {} });
    expect(granted(["look", "hammer", "mcp:notes/*", "mcp:gone/*"])).toEqual({
      gets: ["look", "mcp:notes/find", "mcp:notes/add"],
      without: {
        hammer: "There is no such tool here.",
        "mcp:gone/*": "There is no such tool here.",
      },
    });
  });

  test("a task narrows its role's tools and grants nothing on its own", () => {
    const reason = "The task lists it, but its role may not use it.";
    expect(granted(["look", "write"], { only: ["look"] })).toEqual({
      gets: ["look"],
      without: { write: "The task doesn't use it." },
    });
    expect(granted(["look"], { only: ["look", "write"] })).toEqual({
      gets: ["look"],
      without: { write: reason },
    });
    // A role that names a whole server has each tool of it, and whoever names the server means the role's own words.
    expect(granted(["mcp:notes/*"], { only: ["mcp:notes/find"] })).toEqual({
      gets: ["mcp:notes/find"],
      without: { "mcp:notes/add": "The task doesn't use it." },
    });
    expect(granted(["mcp:notes/*"], { only: ["mcp:notes/*"] }).without).toEqual({});
    expect(granted(["mcp:notes/find"], { only: ["mcp:notes/*"] })).toEqual({
      gets: ["mcp:notes/find"],
      without: { "mcp:notes/*": reason },
    });
    expect(granted(["look"], { only: [] })).toEqual({
      gets: [],
      without: { look: "The task doesn't use it." },
    });
  });

  test("a tool denied for the run is never granted", () => {
    expect(
      granted(["look", "mcp:notes/*"], { denied: ["mcp:notes/*"], only: ["look", "mcp:notes/find"] }),
    ).toEqual({
      gets: ["look"],
      without: {
        "mcp:notes/find": "It is denied in this run.",
        "mcp:notes/add": "It is denied in this run.",
      },
    });
  });

  test("an agent gets no tools that its crew, delegating agent or installation excludes", () => {
    const reason = "The crew writes nothing.";
    expect(granted(["look", "write"], { without: { tools: ["write"], reason } })).toEqual({
      gets: ["look"],
      without: { write: reason },
    });
    expect(granted(["look", "write"], { parent: ["look"] })).toEqual({
      gets: ["look"],
      without: { write: "The agent that delegated this task may not use it." },
    });
    expect(granted(["look"], { parent: [] }).gets).toEqual([]);
    expect(granted(["code"], { known: [spec("code", { unavailable: "Code is disabled." })] })).toEqual({
      gets: [],
      without: { code: "Code is disabled." },
    });
  });
});

describe("tool call approval", () => {
  const reason = (
    policies: ConfirmationPolicy[],
    more: Partial<Parameters<typeof confirmationReason>[0]> = {},
  ) =>
    confirmationReason({
      spec: spec("write", { risk: "MEDIUM" }),
      args: { path: "a.txt" },
      policies,
      taint_sources: [],
      unvouched: [],
      approved_always: false,
      ...more,
    });
  const risky = (threshold: "LOW" | "MEDIUM" | "HIGH", confirm_unknown = false): ConfirmationPolicy => ({
    kind: "risky",
    threshold,
    confirm_unknown,
  });

  test("a call needs approval if any policy requires it", () => {
    expect(reason([])).toBeNull();
    expect(reason([{ kind: "never" }])).toBeNull();
    expect(reason([{ kind: "never" }, { kind: "always" }])).toBe("Every tool call needs approval.");
    expect(reason([{ kind: "tools", tools: ["write"] }])).toBe("write needs approval.");
    expect(reason([{ kind: "tools", tools: ["look"] }])).toBeNull();
  });

  test("a call needs approval from the set risk on, and at unknown risk if configured", () => {
    expect(["LOW", "MEDIUM", "HIGH"].map((level) => reason([risky(level as "LOW")]))).toEqual([
      "Its risk is medium.",
      "Its risk is medium.",
      null,
    ]);
    const unknown = { spec: spec("write", { risk: "UNKNOWN" }) };
    expect(reason([risky("LOW")], unknown)).toBeNull();
    expect(reason([risky("HIGH", true)], unknown)).toBe("The risk of this tool is unknown.");
    expect(reason([RunConfig.parse({}).confirmation], unknown)).not.toBeNull();
  });

  test("a call needs approval if the condition about tool, arguments and risk is true", () => {
    const when = (text: string) => reason([{ kind: "when", when: text }]);
    const asked = "The approval condition is true.";
    expect(when("input.tool == 'write' && input.args.path == 'a.txt' && input.risk == 'MEDIUM'")).toBe(asked);
    expect(when("input.args.path == 'b.txt'")).toBeNull();
  });

  test("approval for the rest of the run doesn't cover unvouched destinations", () => {
    expect(reason([{ kind: "always" }], { approved_always: true })).toBeNull();
    const place = (kind: string, value: string) =>
      ({ key: "to", kind, value, from: null }) as unknown as Parameters<
        typeof confirmationReason
      >[0]["unvouched"][0];
    const led = (...unvouched: ReturnType<typeof place>[]) =>
      reason([{ kind: "never" }], { approved_always: true, taint_sources: ["mail", "web"], unvouched });
    expect(led(place("email", "eve@evil.test"))).toBe(
      "It sends to eve@evil.test, which you didn't specify, and the agent has read untrusted content from mail, web.",
    );
    expect(led(place("email", "eve@evil.test"), place("web", "x"))).toContain(
      "eve@evil.test and 1 more, which",
    );
    expect(led(place("web", "w".repeat(80)))).toContain(`${"w".repeat(80)}, which`);
    expect(led(place("web", "w".repeat(81)))).toContain(`${"w".repeat(79)}…, which`);
    expect(led(place("call", ""))).toContain("It acts outside Troupe, at a destination you didn't specify");
    expect(led(place("words", "a"))).toContain("It sends words you didn't write to a search service");
  });
});
