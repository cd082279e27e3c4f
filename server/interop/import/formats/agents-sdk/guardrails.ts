import { calledName, entryOf, textOf } from "../../code/literals";
import type { CallExpr, Expr } from "../../code/program";
import { itemsOf } from "../../code/walk";
import type { Names } from "./evaluate";
import type { Ground } from "./ground";
import type { State } from "./state";
import { json, type Value } from "./values";

type GuardrailsGround = Ground & { readonly state: State };

/** Draws a check by guardrails as a step to fill; a check of nothing is none. */
export function drawGuardrails(call: CallExpr, names: Names, flow: GuardrailsGround): Value {
  const config = call.args
    .map(({ value }) => flow.declarations.resolved(configIn(value)))
    .find((one) => one?.is === "record" && entryOf(one, "guardrails"));
  const list = config?.is === "record" ? entryOf(config, "guardrails") : null;
  const checks = list ? itemsOf(list) : [];
  const titles = checks.map(
    (check) => (check.is === "record" ? textOf(entryOf(check, "name")) : null) ?? "a check",
  );
  const at = call.args.findIndex(({ value }) => value.is === "name" && /text|input/i.test(value.name));
  const subject = at < 0 ? undefined : call.args[at]?.value;
  const text = subject ? flow.evaluator.value(subject, names, "text") : json("");
  const isEmpty = list !== null && checks.length === 0;
  let tripped: Value = json(false);
  if (!isEmpty) {
    const key = flow.state.keys.of(`guardrails ${call.from}`, "guardrails_tripped");
    flow.trail.placeholder("guardrails", {
      name: `Check: ${titles.join(", ") || "guardrails"}`.slice(0, 120),
      original: list ? flow.source(list, 3000) : flow.source(call, 1000),
      why: "The guardrails of the file are a program of OpenAI's.",
      at: "",
      findings: flow.findings(call),
      node: { output_keys: [key], input_keys: [...new Set(text.is === "path" ? [text.key] : [])] },
    });
    tripped = { is: "path", key, path: [], schema: { type: "boolean" } };
  }
  const failed = json({ failed: true, guardrails: titles });
  return {
    is: "record",
    fields: new Map<string, Value>([
      ...["hasTripwire", "tripwire", "has_tripwire"].map((name) => [name, tripped] as const),
      ...["safeText", "safe_text", "checked_text"].map((name) => [name, text] as const),
      ...["failOutput", "fail_output"].map((name) => [name, failed] as const),
      ...["passOutput", "pass_output"].map(
        (name) => [name, { is: "record", fields: new Map([["safe_text", text]]) } satisfies Value] as const,
      ),
    ]),
  };
}

/** What the functions around guardrails tell of their result; null where a call is none of them. */
export function ofGuardrails(call: CallExpr, names: Names, flow: GuardrailsGround): Value | null {
  const field = /has_?tripwire/i.test(calledName(call) ?? "")
    ? "hasTripwire"
    : /^(get_?guardrail)?.*(safe|checked)_?text$/i.test(calledName(call) ?? "")
      ? "safeText"
      : /guardrail_?fail/i.test(calledName(call) ?? "")
        ? "failOutput"
        : null;
  const first = field ? call.args[0]?.value : undefined;
  const subject = first?.is === "binary" ? first.left : first;
  const results = subject ? flow.evaluator.value(subject, names) : null;
  return field && results?.is === "record" ? (results.fields.get(field) ?? null) : null;
}

/** The configuration of guardrails may be wrapped: `instantiate_guardrails(load_config_bundle(config))`. */
function configIn(expr: Expr): Expr {
  let current = expr;
  while (current.is === "call" && current.args[0]) current = current.args[0].value;
  return current;
}
