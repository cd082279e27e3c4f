import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { expect, test } from "vitest";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { draw } from "@/server/domain/testing/drawing";
import { FormScopeContext } from "../form-scope";
import { OwnRuleField } from "./rule-fields";

const router = (more: object) => ({
  node_type: "conditional_router",
  config: { kind: "function", router_function_name: "by_amount", ...more },
});
const rule = { language: "cel", source: '"a"' };

function showAt(graph: WorkflowGraph, id: string) {
  const given: unknown[] = [];
  function Form() {
    const [value, setValue] = useState<unknown>(undefined);
    return (
      <FormScopeContext value={{ graph, node: graph.nodes[id] ?? null, keys: [], roles: [] }}>
        <OwnRuleField
          label="What it does"
          value={value}
          onChange={(next) => {
            given.push(next);
            setValue(next);
          }}
        />
      </FormScopeContext>
    );
  }
  render(<Form />);
  return given;
}

test("a named rule can be written at its router and removed", async () => {
  const given = showAt(draw("start > ra; ra a> end", { ra: router({}) }), "ra");
  const person = userEvent.setup();
  await person.click(screen.getByRole("button", { name: "Write rule" }));
  await person.click(screen.getByRole("radio", { name: "JavaScript" }));
  expect(given.at(-1)).toEqual({ description: "", language: "javascript", source: "" });
  await person.click(screen.getByRole("button", { name: "Remove rule" }));
  expect(given.at(-1)).toBeUndefined();
});

test("a router with a rule of another router shows where that rule is defined", () => {
  const graph = draw("start > ra; ra a> rb; rb a> end", {
    ra: { ...router({ router_function: rule }), name: "By amount" },
    rb: router({}),
  });
  showAt(graph, "rb");
  expect(screen.getByText("Defined in “By amount”.")).toBeTruthy();
});
