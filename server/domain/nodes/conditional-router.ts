import type { z } from "zod";
import { defined } from "@/server/domain/base/defined";
import type { Flow } from "@/server/domain/base/durable";
import { isList, isText } from "@/server/domain/base/guards";
import type { Json } from "@/server/domain/base/values";
import { findRouterFunction } from "@/server/domain/tool/router-functions";
import {
  defineNode,
  type NodeContext,
  type NodeDiagnostic,
  NodeFailure,
  type RouterSettings,
  type SchemaParts,
} from "./define";

/** A value as a label: text as it is, anything else as JSON writes it. */
const labelOf = (value: Json) => (typeof value === "string" ? value : JSON.stringify(value));

const DEFAULT_LABELS = new Set(["else", "default", "*"]);

/** Whether a label stands for "anything else", in large or small letters. */
export const isDefaultLabel = (label: string) => DEFAULT_LABELS.has(label.toLowerCase());

const RouterConfig = ({ z, Expr, LlmConfig, OwnRule, Template }: SchemaParts) =>
  z.object({
    kind: z.enum(["function", "expression", "llm", "value"]).default("function"),
    router_function_name: z.string().max(80).optional(),
    /** What stands behind that name, where it is not built in and no other router of the workflow says it. */
    router_function: OwnRule.optional(),
    conditions: z.array(z.object({ label: z.string().min(1).max(200), when: Expr })).default([]),
    /** Where a value, a model or a rule of one's own decides: the names of the ways, in the order in which people see them. */
    ways: z.array(z.string().min(1).max(200)).max(100).optional(),
    value: Expr.optional(),
    instruction: Template.optional(),
    llm_config: LlmConfig.optional(),
    mode: z.enum(["first", "all"]).default("first"),
    default_label: z.string().max(200).optional(),
  });
type Config = z.output<ReturnType<typeof RouterConfig>>;

/** Whether a built-in rule decides, which has ways of its own. */
export const followsBuiltIn = ({
  kind,
  router_function_name,
}: Pick<RouterSettings, "kind" | "router_function_name">): boolean =>
  kind === "function" && findRouterFunction(router_function_name) !== undefined;

/** The settings for another way of deciding, with all the ways that there were. `labels`: their names. */
function translated(before: Config, after: Config, labels: readonly string[]): Config {
  if (followsBuiltIn(after)) return after;
  if (after.kind !== "expression") {
    // A built-in rule has ways of its own; those of the time before it come back.
    const known = after.ways ?? after.conditions.map(({ label }) => label);
    const routes = followsBuiltIn(before) && known.length > 0 ? known : labels;
    return { ...after, ways: [...routes] };
  }
  if (followsBuiltIn(before) && after.conditions.length > 0) return after;
  const when = (label: string) =>
    before.kind === "value" && before.value ? `${before.value} == ${JSON.stringify(label)}` : "";
  const known = new Map(after.conditions.map((condition) => [condition.label, condition]));
  return { ...after, conditions: labels.map((label) => known.get(label) ?? { label, when: when(label) }) };
}

/** Chooses which ways to go on: by a registered function, by conditions, by a value, or by asking a model. */
export const conditionalRouter = defineNode({
  type: "conditional_router",
  title: "Router",
  hint: "Chooses one or more routes",
  icon: "split",
  group: "flow",
  routes: true,
  config: RouterConfig,
  fields: [
    {
      key: "kind",
      label: "Route by",
      as: "choice",
      options: [
        { value: "expression", label: "Conditions", hint: "First match" },
        { value: "value", label: "Value", hint: "Takes the route with the same name" },
        { value: "function", label: "Rule", hint: "Built-in or custom" },
        { value: "llm", label: "Model", hint: "A model chooses a route based on your instruction" },
      ],
    },
    {
      key: "router_function_name",
      label: "Rule",
      as: "router_function",
      hint: "A built-in rule, or a name for a custom one",
      showIf: (c) => c.kind === "function",
    },
    {
      key: "router_function",
      label: "Behavior",
      as: "own_rule",
      showIf: (c) => c.kind === "function" && !!c.router_function_name && !followsBuiltIn(c),
    },
    {
      key: "mode",
      label: "Match",
      as: "choice",
      options: [
        { value: "first", label: "First match" },
        { value: "all", label: "All matches" },
      ],
      showIf: (c) => c.kind === "expression",
    },
    {
      key: "value",
      label: "Value",
      as: "value",
      hint: "Takes the route whose name matches this value",
      showIf: (c) => c.kind === "value",
    },
    { key: "instruction", label: "Instruction", as: "template", showIf: (c) => c.kind === "llm" },
    { key: "conditions", label: "Routes", as: "ways" },
    { key: "llm_config", label: "Model", as: "llm", showIf: (c) => c.kind === "llm" },
  ],
  routerKind: (config) => config.kind,
  summary: (config) => {
    if (config.kind === "function") return config.router_function_name ?? "No rule yet";
    if (config.kind === "value")
      return config.value ? `By ${config.value.replace(/^state\.(?=\w+$)/, "")}` : "No value yet";
    if (config.kind === "llm") return "A model decides";
    const count = config.conditions.length;
    return count === 0 ? "No conditions yet" : `${count} ${count === 1 ? "condition" : "conditions"}`;
  },
  exits: (config) => {
    const labels =
      config.kind === "expression"
        ? config.conditions.map(({ label }) => label)
        : config.kind === "function"
          ? (findRouterFunction(config.router_function_name)?.labels ?? config.ways ?? [])
          : (config.ways ?? []);
    const all = [...new Set([...labels, ...(config.default_label ? [config.default_label] : [])])];
    return all.map((label) => ({ label, isDefault: label === config.default_label }));
  },
  follow: (before, after, labels) => (before.kind === after.kind ? after : translated(before, after, labels)),
  newConfig: () => ({ kind: "expression" as const, conditions: [], mode: "first" as const }),
  newNode: () => ({ name: "Router" }),
  validate: (config) => {
    if (config.kind === "function") return ruleDiagnostics(config);
    if (config.kind === "expression" && config.conditions.length === 0)
      return [
        {
          severity: "error",
          code: "E_ROUTER_NO_CONDITIONS",
          message: "Add at least one route.",
          field: "conditions",
        },
      ];
    const unsaid = config.kind === "expression" ? config.conditions.filter(({ when }) => !when.trim()) : [];
    if (unsaid.length > 0)
      return unsaid.map(({ label }) => ({
        severity: "error",
        code: "E_BAD_EXPRESSION",
        message: `Add a condition for “${label}”.`,
        field: "conditions",
      }));
    if (config.kind === "value" && !config.value)
      return [
        {
          severity: "error",
          code: "E_BAD_EXPRESSION",
          message: "Choose a key to route by.",
          field: "value",
        },
      ];
    return [];
  },
  uses: ({ kind, router_function: rule }) =>
    kind === "function" && rule?.language === "javascript" ? [{ kind: "code", source: rule.source }] : [],
  expressions: (config) => [
    ...(config.kind === "function" && config.router_function?.language === "cel"
      ? [{ field: "router_function.source", expression: config.router_function.source }]
      : []),
    ...(config.kind === "expression"
      ? config.conditions.flatMap(({ when }, at) =>
          // One that says nothing yet is told in words of its own.
          when.trim() ? [{ field: `conditions.${at}`, expression: when, result: "bool" as const }] : [],
        )
      : []),
    ...(config.kind === "value" && config.value
      ? [{ field: "value", expression: config.value, result: "any" as const }]
      : []),
  ],
  templates: (config) =>
    config.kind === "llm" && config.instruction
      ? [{ field: "instruction", template: config.instruction }]
      : [],
  *run(config, ctx) {
    const known = new Set(ctx.exits.flatMap(({ label }) => (label ? [label] : [])));
    switch (config.kind) {
      case "function": {
        const name = config.router_function_name ?? "";
        const builtIn = findRouterFunction(name);
        const answer = builtIn ? builtIn.choose(ctx.state) : yield* askOwnRule(name, ctx);
        return { output: {}, labels: typeof answer === "string" ? [answer] : [...answer] };
      }
      case "value": {
        const value = ctx.evaluate(config.value ?? "null");
        return {
          output: {},
          labels: (Array.isArray(value) ? value : [value]).filter((one) => one !== null).map(labelOf),
        };
      }
      case "expression": {
        const labels: string[] = [];
        const evaluations = [];
        for (const { label, when } of config.conditions) {
          const { value, note } = ctx.holds(when);
          evaluations.push({ label, when, value, ...defined({ note: note || undefined }) });
          if (value) labels.push(label);
          if (value && config.mode === "first") break;
        }
        return { output: {}, labels, why: { evaluations } };
      }
      case "llm": {
        const choices = ctx.exits.flatMap(({ label, description }) =>
          label === null ? [] : [{ label, description }],
        );
        const unique = choices.filter(
          ({ label }, at) => known.has(label) && choices.findIndex((c) => c.label === label) === at,
        );
        const { label, reason, confidence } = yield* ctx.choose({
          instruction: config.instruction ?? "",
          labels: unique.filter(({ label }) => !isDefaultLabel(label) || unique.length < 2),
          ...defined({ llm_config: config.llm_config }),
        });
        return { output: {}, labels: [label], why: { reason, confidence } };
      }
    }
  },
});

/** What is wrong with a named rule; whether a name is known at all is seen from the whole drawing. */
function ruleDiagnostics({
  router_function_name: name,
  router_function: rule,
}: Pick<RouterSettings, "router_function_name" | "router_function">): NodeDiagnostic[] {
  const diagnostic = (code: string, message: string, field: string): NodeDiagnostic[] => [
    { severity: "error", code, message, field },
  ];
  if (!name) return diagnostic("E_UNKNOWN_ROUTER_FUNCTION", "Choose a rule.", "router_function_name");
  if (!rule) return [];
  if (findRouterFunction(name))
    return diagnostic(
      "E_ROUTER_FUNCTION_TAKEN",
      `“${name}” is a built-in rule. Choose another name.`,
      "router_function_name",
    );
  if (rule.source.trim() === "")
    return diagnostic("E_ROUTER_FUNCTION_EMPTY", `Define the rule “${name}”.`, "router_function");
  return [];
}

/** Lets a rule of the workflow answer; throws NodeFailure where that is no label. JavaScript is a step of its own. */
function* askOwnRule(name: string, ctx: NodeContext): Flow<string | string[]> {
  const rule = ctx.ownRule(name);
  if (!rule) throw new NodeFailure("ROUTER_FAILED", `Unknown rule “${name}”. Define it or choose another.`);
  const value =
    rule.language === "cel"
      ? ctx.evaluate(rule.source)
      : yield* ctx.code(`const state = input; ${rule.source}`, { ...ctx.state });
  if (isText(value)) return value;
  if (!isList(value) || !value.every(isText))
    throw new NodeFailure(
      "ROUTER_FAILED",
      `Rule “${name}” returned ${JSON.stringify(value).slice(0, 200)}. It must return a route name or a list of route names.`,
    );
  return value;
}
