import { PassThrough } from "node:stream";
import { afterEach, describe, expect, test, vi } from "vitest";
import { draw } from "@/server/domain/testing/drawing";
import { newScriptedModels } from "@/server/llm/scripted";
import { log } from "@/server/log";
import { newStage, role } from "@/server/runner/testing";
import { printable, printableJson, printableLine } from "./printable";
import { watchRun } from "./progress";

/** What a terminal would act on: clearing, moving up, the window's title, a line of our own look, hidden and turned words. */
const HOSTILE = "a\u001b[2J\u001b[3A\u001b]0;title\u0007\r\n✓ approved\u009b1m\u001b[8mhidden\u202eb";
const ACTS = /\u001b(?!\[(?:0|1|2|22|3[1-9])m)|[\u0007\r\u007f-\u009f\u202e]/;

afterEach(() => vi.restoreAllMocks());

describe("A37: control characters in untrusted text", () => {
  test("untrusted text is printed with its control characters escaped", () => {
    expect(printableLine(HOSTILE)).toBe(
      "a\\u{1b}[2J\\u{1b}[3A\\u{1b}]0;title\\u{7} ✓ approved\\u{9b}1m\\u{1b}[8mhidden\\u{202e}b",
    );
    expect(printable("one\n\u001b[31mtwo\u001b[39m")).toBe("one\n\u001b[31mtwo\u001b[39m");
    expect(printable("größe 👩\u200d💻 日本")).toBe("größe 👩\u200d💻 日本");
    const json = printableJson({ [HOSTILE]: HOSTILE });
    expect(json).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(JSON.parse(json)).toEqual({ [HOSTILE]: HOSTILE });
  });

  test.each([true, false])("untrusted text is escaped in a live view (in place: %s)", async (isTerminal) => {
    const graph = draw("start > work > end", {
      work: {
        node_type: "agent_task",
        name: HOSTILE,
        output_keys: ["answer"],
        config: { required_role: "Worker", task_description_template: "do it" },
      },
    });
    const stage = newStage({ models: newScriptedModels([{ text: HOSTILE }]) });
    const { events } = await stage.run(graph, { roles: [role("Worker")] });
    const screen = new PassThrough();
    const progress = watchRun({
      write: (text) => void screen.write(text),
      colours: true,
      ...(isTerminal ? { size: () => ({ columns: 200, rows: 40 }) } : {}),
    });
    progress.events(events);
    progress.done();
    const shown = String(screen.read());
    expect(shown).toContain("\\u{1b}[2J");
    // Our own moves, which draw in place.
    const own = shown.replace(/\u001b\[\?25[lh]|(?:\u001b\[\d+A\r)?\u001b\[J/g, "");
    expect(own).not.toMatch(ACTS);
    expect(own.split("\n").filter((line) => line.startsWith("✓"))).toEqual([]);
    // What programs read is whole.
    expect(progress.state.run.output).toEqual({ answer: HOSTILE });
  });

  test("untrusted text stays on one line of the log", () => {
    const written: string[] = [];
    vi.spyOn(process.stderr, "write").mockImplementation((text) => written.push(String(text)) > 0);
    log("warn", HOSTILE, { name: HOSTILE });
    expect(written).toHaveLength(1);
    expect(written[0]!.split("\n")).toHaveLength(2);
    expect(written[0]).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029]/);
    expect(JSON.parse(written[0]!)).toMatchObject({ message: HOSTILE, name: HOSTILE });
  });
});
