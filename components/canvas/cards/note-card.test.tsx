import { act, fireEvent, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { ReactFlowProvider } from "@xyflow/react";
import { expect, test, vi } from "vitest";
import { WorkflowNode } from "@/server/domain/graph/graph";
import { CanvasContext, type CanvasEditing } from "../canvas-context";
import { NoteCard } from "./note-card";
import { noteSize } from "./note-size";

/** A note on the drawing; `editing` hears what is done to it. */
function show(text: string, ui: Record<string, number> = {}) {
  const node = WorkflowNode.parse({
    id: "note",
    node_type: "note",
    name: "Note",
    config: { text, color: "blue" },
    ui: { x: 0, y: 0, ...ui },
  });
  const onWriteNote = vi.fn();
  const editing = { onWriteNote } as unknown as CanvasEditing;
  const props = { id: "note", data: { node, ports: [], mark: undefined } } as unknown as Parameters<
    typeof NoteCard
  >[0];
  render(
    <ReactFlowProvider>
      <CanvasContext.Provider value={{ editing, roles: new Map(), agents: new Map() }}>
        <NoteCard {...props} />
      </CanvasContext.Provider>
    </ReactFlowProvider>,
  );
  return { onWriteNote, person: userEvent.setup() };
}

test("a note renders Markdown without interactive elements", async () => {
  show("# Plan\n\n- **first** <img src=x>\n- [a page](https://example.org)");
  expect((await screen.findByRole("heading", { name: "Plan" })).textContent).toBe("Plan");
  expect(screen.getByText("first").tagName).toBe("STRONG");
  expect(screen.queryByRole("link")).toBeNull();
  expect(screen.queryByRole("img")).toBeNull();
  expect(screen.getByRole("article").textContent).toContain("<img src=x>");
});

test("a double click edits a note in place, and Escape discards the edit", async () => {
  const { person, onWriteNote } = show("Old words");
  await person.dblClick(screen.getByText("Old words"));
  const field = screen.getByRole("textbox", { name: "Note text" });
  await person.clear(field);
  await person.type(field, "New words{Control>}{Enter}{/Control}");
  expect(onWriteNote).toHaveBeenCalledWith("note", "New words");
  await person.dblClick(screen.getByText("Old words"));
  await person.type(screen.getByRole("textbox"), "x{Escape}");
  expect(onWriteNote).toHaveBeenCalledTimes(1);
});

test("a note keeps its size and color", () => {
  show("Words", { width: 400, height: 200 });
  const note = screen.getByRole("article");
  expect([note.style.width, note.style.height, note.dataset.color]).toEqual(["400px", "200px", "blue"]);
  expect(noteSize({ width: 3, height: 100_000 })).toEqual({ width: 160, height: 960 });
});

test("a note marks clipped text until its end is scrolled into view", async () => {
  const seen = vi.fn<() => void>();
  vi.stubGlobal(
    "ResizeObserver",
    class {
      constructor(callback: () => void) {
        seen.mockImplementation(callback);
      }
      observe() {}
      disconnect() {}
    },
  );
  try {
    show("One line\nand many more", { width: 240, height: 80 });
    const note = screen.getByRole("article");
    Object.defineProperty(note, "scrollHeight", { value: 300 });
    Object.defineProperty(note, "clientHeight", { value: 80 });
    act(seen);
    expect(screen.getByText("More below")).toBeTruthy();
    note.scrollTop = 220;
    fireEvent.scroll(note);
    expect(screen.queryByText("More below")).toBeNull();
  } finally {
    vi.unstubAllGlobals();
  }
});
