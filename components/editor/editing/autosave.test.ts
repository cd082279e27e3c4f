import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { newAutosave, type SaveResult, type SaveState } from "./autosave";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** A document, a server that answers as told, and what the editor says about saving. */
function setUp(answer: (doc: string, revision: number) => SaveResult<string> | Promise<SaveResult<string>>) {
  const it = {
    doc: "a",
    saved: "a",
    revision: 1,
    sent: [] as string[],
    states: [] as string[],
    last: null as SaveState<string> | null,
  };
  const autosave = newAutosave<string>({
    read: () => ({ doc: it.doc, revision: it.revision }),
    isDirty: () => it.doc !== it.saved,
    async save(doc, revision) {
      it.sent.push(`${doc}@${revision}`);
      return answer(doc, revision);
    },
    onSaved(doc, revision) {
      it.saved = doc;
      it.revision = revision;
    },
    onState(state) {
      it.states.push(state.state);
      it.last = state;
    },
  });
  const write = (doc: string, atOnce = false) => {
    it.doc = doc;
    autosave.changed(atOnce);
  };
  return { it, autosave, write };
}

const fine = (_doc: string, revision: number): SaveResult<string> => ({ ok: true, revision: revision + 1 });

describe("autosave", () => {
  test("autosave waits for a pause in typing, then saves once", async () => {
    const { it, write } = setUp(fine);
    for (const doc of ["ab", "abc", "abcd"]) {
      write(doc);
      await vi.advanceTimersByTimeAsync(300);
    }
    expect(it.sent).toEqual([]);
    await vi.advanceTimersByTimeAsync(800);
    expect(it.sent).toEqual(["abcd@1"]);
    expect(it.last?.state).toBe("saved");
    expect(it.revision).toBe(2);
  });

  test("autosave saves at once when a node is added or removed", async () => {
    const { it, write } = setUp(fine);
    write("b", true);
    await vi.advanceTimersByTimeAsync(0);
    expect(it.sent).toEqual(["b@1"]);
  });

  test("autosave never runs two saves at a time, and saves later edits on top of the new revision", async () => {
    let finish = (_: SaveResult<string>) => {};
    const { it, write } = setUp((doc, revision) =>
      doc === "b" ? new Promise((resolve) => (finish = resolve)) : fine(doc, revision),
    );
    write("b", true);
    await vi.advanceTimersByTimeAsync(0);
    write("c", true);
    await vi.advanceTimersByTimeAsync(2000);
    expect(it.sent).toEqual(["b@1"]);
    finish({ ok: true, revision: 2 });
    await vi.advanceTimersByTimeAsync(2000);
    expect(it.sent).toEqual(["b@1", "c@2"]);
    expect(it.last?.state).toBe("saved");
  });

  test("flushing saves immediately and reports whether all changes are saved", async () => {
    const { it, autosave, write } = setUp(fine);
    expect(await autosave.flush()).toBe(true);
    expect(it.sent).toEqual([]);
    write("b");
    expect(await autosave.flush()).toBe(true);
    expect(it.sent).toEqual(["b@1"]);
  });

  test("autosave reports a failure and retries automatically", async () => {
    let isDown = true;
    const { it, write } = setUp((doc, revision) =>
      isDown ? { ok: false, reason: "No answer" } : fine(doc, revision),
    );
    write("b", true);
    await vi.advanceTimersByTimeAsync(0);
    expect(it.last).toEqual({ state: "failed", reason: "No answer" });
    isDown = false;
    await vi.advanceTimersByTimeAsync(5000);
    expect(it.last?.state).toBe("saved");
  });

  test("autosave stops at a conflict until it is resolved, then saves on top of the newer version", async () => {
    const { it, autosave, write } = setUp((doc, revision) =>
      revision === 1 ? { ok: false, conflict: { theirs: "x", revision: 7 } } : fine(doc, revision),
    );
    write("b", true);
    await vi.advanceTimersByTimeAsync(0);
    expect(it.last).toEqual({ state: "conflict", theirs: "x", revision: 7 });
    write("c", true);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(it.sent).toEqual(["b@1"]);
    expect(await autosave.flush()).toBe(false);
    it.saved = "x";
    it.revision = 7;
    autosave.settled();
    await vi.advanceTimersByTimeAsync(1000);
    expect(it.sent).toEqual(["b@1", "c@7"]);
    expect(it.revision).toBe(8);
  });

  test("the editor has no unsaved changes after an edit is undone", async () => {
    const { it, write } = setUp(fine);
    write("b");
    write("a");
    await vi.advanceTimersByTimeAsync(2000);
    expect(it.sent).toEqual([]);
    expect(it.last?.state).toBe("clean");
  });
});
