import { renderHook } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { sampleGraph } from "@/components/editor/testing";
import { openEditor } from "@/components/editor/testing-editor";
import { subjectOf, useViewBeside } from "./use-view-beside";

const picked = (nodes: string[], edges: string[] = []) => ({ nodes: new Set(nodes), edges: new Set(edges) });

test("a form concerns a card and its neighbors, both ends of a connection, or the whole workflow", () => {
  const about = (...selected: Parameters<typeof picked>) => {
    const { cards, around } = subjectOf(sampleGraph(), picked(...selected));
    return [cards, around.toSorted()];
  };
  expect(about(["done"])).toEqual([["done"], ["done", "route"]]);
  expect(about(["start", "done"])).toEqual([
    ["start", "done"],
    ["done", "start"],
  ]);
  expect(about([], ["edge_4"])).toEqual([[], ["ask", "route"]]);
  expect(about([])).toEqual([[], ["ask", "done", "route", "start"]]);
});

test("opening a form shifts the viewport, and closing it restores it unless the user moved it", () => {
  vi.useFakeTimers();
  const { view } = openEditor();
  let now = { x: 0, y: 0, zoom: 1 };
  view.getView = () => now;
  view.setView = (next) => {
    now = next;
  };
  view.beside = () => (now.x === -100 ? null : { ...now, x: -100 });
  const hook = renderHook(
    ({ isOpen, id }) => useViewBeside(view, isOpen ? { cards: [id], around: [id] } : null, 0),
    {
      initialProps: { isOpen: false, id: "ask" },
    },
  );
  const show = (isOpen: boolean, id = "ask") => {
    hook.rerender({ isOpen, id });
    vi.runAllTimers();
    return now.x;
  };
  expect(show(true)).toBe(-100);
  expect(show(true, "done")).toBe(-100);
  expect(show(false)).toBe(0);
  expect(show(true)).toBe(-100);
  now = { x: -300, y: 40, zoom: 1 };
  expect(show(false)).toBe(-300);
  vi.useRealTimers();
});
