import { z } from "zod";
import { LlmConfig } from "@/server/domain/agent/role";
import { Expr, type Json, Template } from "@/server/domain/base/values";
import { findRouterFunction } from "@/server/domain/tool/router-functions";
import { defineNode, NodeFailure } from "./define";

/** A value as a label: text as it is, anything else as JSON writes it. */
const labelOf = (value: Json) => (typeof value === "string" ? value : JSON.stringify(value));

const DEFAULT_WORDS = new Set(["else", "default", "*"]);

/** Whether a label stands for "anything else", in large or small letters. */
export const isDefaultWord = (label: string) => DEFAULT_WORDS.has(label.toLowerCase());

/** Chooses which ways to go on: by a registered function, by conditions, by a value, or by asking a model. */
export const conditionalRouter = defineNode({
  type: "conditional_router",
  title: "Router",
  hint: "Chooses the way on",
  icon: "split",
  group: "flow",
  routes: true,
  config: z.object({
    kind: z.enum(["function", "expression", "llm", "value"]).default("function"),
    router_function_name: z.string().max(80).optional(),
    conditions: z.array(z.object({ label: z.string().min(1).max(200), when: Expr })).default([]),
    value: Expr.optional(),
    instruction: Template.optional(),
    llm_config: LlmConfig.optional(),
    mode: z.enum(["first", "all"]).default("first"),
    default_label: z.string().max(200).optional(),
  }),
  fields: [
    {
      key: "kind",
      label: "Decides by",
      as: "choice",
      options: [
        { value: "expression", label: "Conditions", hint: "The first that holds" },
        { value: "value", label: "A value", hint: "Its text is the label" },
        { value: "function", label: "A built-in rule" },
        { value: "llm", label: "A model", hint: "It reads an instruction and picks a label" },
      ],
    },
    {
      key: "router_function_name",
      label: "Rule",
      as: "router_function",
      showIf: (c) => c.kind === "function",
    },
    { key: "conditions", label: "Conditions", as: "conditions", showIf: (c) => c.kind === "expression" },
    {
      key: "mode",
      label: "Takes",
      as: "choice",
      options: [
        { value: "first", label: "The first that holds" },
        { value: "all", label: "All that hold" },
      ],
      showIf: (c) => c.kind === "expression",
    },
    {
      key: "value",
      label: "Value",
      as: "expression",
      hint: "For example state.approval_status",
      showIf: (c) => c.kind === "value",
    },
    { key: "instruction", label: "Instruction", as: "template", showIf: (c) => c.kind === "llm" },
    { key: "llm_config", label: "Model", as: "llm", showIf: (c) => c.kind === "llm" },
    { key: "default_label", label: "Otherwise", as: "label", hint: "The way taken when nothing matches" },
  ],
  routerKind: (config) => config.kind,
  summary: (config) => {
    if (config.kind === "function") return config.router_function_name ?? "No rule yet";
    if (config.kind === "value") return config.value ? `By ${config.value}` : "No value yet";
    if (config.kind === "llm") return "A model decides";
    const count = config.conditions.length;
    return count === 0 ? "No conditions yet" : `${count} ${count === 1 ? "condition" : "conditions"}`;
  },
  exits: (config) => {
    const labels =
      config.kind === "expression"
        ? config.conditions.map(({ label }) => label)
        : config.kind === "function"
          ? (findRouterFunction(config.router_function_name)?.labels ?? [])
          : [];
    const all = [...new Set([...labels, ...(config.default_label ? [config.default_label] : [])])];
    return all.map((label) => ({ label, isDefault: label === config.default_label }));
  },
  newConfig: () => ({ kind: "expression" as const, conditions: [] }),
  newNode: () => ({ name: "Router" }),
  faults: (config) => {
    if (config.kind === "function" && !findRouterFunction(config.router_function_name))
      return [
        {
          severity: "error",
          code: "E_UNKNOWN_ROUTER_FUNCTION",
          message: config.router_function_name
            ? `There is no rule called "${config.router_function_name}". Choose another, or decide by conditions.`
            : "Choose the rule that decides.",
          field: "router_function_name",
        },
      ];
    if (config.kind === "expression" && config.conditions.length === 0)
      return [
        {
          severity: "error",
          code: "E_ROUTER_NO_CONDITIONS",
          message: "Add at least one condition.",
          field: "conditions",
        },
      ];
    if (config.kind === "value" && !config.value)
      return [
        { severity: "error", code: "E_BAD_EXPRESSION", message: "Say which value decides.", field: "value" },
      ];
    return [];
  },
  expressions: (config) => [
    ...(config.kind === "expression"
      ? config.conditions.map(({ when }, at) => ({
          field: `conditions.${at}`,
          expression: when,
          result: "bool" as const,
        }))
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
        const rule = findRouterFunction(config.router_function_name);
        if (!rule)
          throw new NodeFailure("ROUTER_FAILED", `There is no rule called "${config.router_function_name}".`);
        const answer = rule.choose(ctx.state);
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
          evaluations.push({ label, when, value, ...(note ? { note } : {}) });
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
          labels: unique.filter(({ label }) => !isDefaultWord(label) || unique.length < 2),
          ...(config.llm_config ? { llm_config: config.llm_config } : {}),
        });
        return { output: {}, labels: [label], why: { reason, confidence } };
      }
    }
  },
});
