import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";
import { type BreakpointMark, BreakpointsContext } from "../breakpoint-context";
import { CardTools } from "./node-card";
import { TriesContext } from "./tried-context";

const never = () => () => undefined;

function showTools({ canTry, mark }: { canTry: boolean; mark?: BreakpointMark }) {
  const [toggle, tryNode] = [vi.fn(), vi.fn()];
  const tries = { subscribe: never, node: () => undefined, canTry: () => canTry, tryNode };
  const breakpoints = {
    subscribe: never,
    node: () => mark,
    edge: () => undefined,
    canHold: () => true,
    toggle,
  };
  render(
    <BreakpointsContext value={breakpoints}>
      <TriesContext value={tries}>
        <CardTools nodeId="ask" name="Ask" />
      </TriesContext>
    </BreakpointsContext>,
  );
  return { toggle, tryNode, person: userEvent.setup() };
}

test("a hovered card offers to try its node and to add a breakpoint", async () => {
  const { person, toggle, tryNode } = showTools({ canTry: true });
  await person.click(screen.getByRole("button", { name: "Try Ask" }));
  expect(tryNode).toHaveBeenCalledWith("ask");
  await person.click(screen.getByRole("button", { name: "Add breakpoint at Ask" }));
  expect(toggle).toHaveBeenCalledWith({ kind: "node", id: "ask" });
});

test("a card hides both tools if its node can't run alone and already has a breakpoint", () => {
  showTools({ canTry: false, mark: { variant: "plain", text: "Before Ask" } });
  expect(screen.queryAllByRole("button")).toEqual([]);
});
