import { createHash } from "node:crypto";
import { runInNewContext } from "node:vm";
import { Window } from "happy-dom";
import { expect, test } from "vitest";
import { approvalRun } from "@/components/run/run-example";
import { foldRun } from "@/server/domain/run";
import type { RunEvent } from "@/server/domain/run/events";
import { type ShareChoice, type SharedRun, sharedRun } from "@/server/domain/run/share/shared-run";
import { redact, registerSecret } from "@/server/secrets/redact";
import { SHARE_POLICY, sharePage } from "./page";
import { VIEWER_SCRIPT } from "./viewer";

const ALL: ShareChoice = { prompts: true, tool_results: true, files: true, state: true };
const NOTHING: ShareChoice = { prompts: false, tool_results: false, files: false, state: false };
const pageOf = (events: readonly RunEvent[], choice = ALL) =>
  sharePage(JSON.stringify(sharedRun(events, choice)));

/** Opens a file as a browser would, without a network: its scripts run here by hand, each that its policy allows. */
function open(html: string) {
  const { document } = new Window({ settings: { disableJavaScriptEvaluation: true } });
  document.write(html);
  for (const script of document.querySelectorAll("script:not([type])"))
    runInNewContext(script.textContent, { document, setInterval, clearInterval });
  const slider = document.querySelector("#at") as unknown as HTMLInputElement;
  return {
    document,
    at(index: number) {
      slider.value = String(index);
      document.querySelector("#at")?.dispatchEvent(new document.defaultView!.Event("input"));
      return document.querySelector("aside")?.textContent ?? "";
    },
    cards: () => [...document.querySelectorAll("g")].map((card) => card.getAttribute("class")),
  };
}

test("a shared run shows the nodes and values of the run at every step", () => {
  const shared = sharedRun(approvalRun, ALL);
  const page = open(pageOf(approvalRun));
  shared.steps.forEach(({ seq }, index) => {
    const state = foldRun("r", approvalRun.slice(0, seq));
    const text = page.at(index);
    const ran = shared.nodes.map(({ id }) => state.nodes[id]?.status ?? "idle");
    // What nobody needs to see happen comes with the next step: a card may still be idle that is ready.
    expect(page.cards().map((status, at) => (ran[at] === "ready" ? "ready" : status))).toEqual(ran);
    for (const [key, value] of Object.entries(state.state)) {
      expect(text).toContain(key);
      expect(text).toContain(typeof value === "string" ? value : JSON.stringify(value));
    }
  });
});

test("a shared demo run says that no AI answered", () => {
  const { document } = open(pageOf(approvalRun));
  expect(document.querySelector("#status")?.textContent).toContain("offline demo, not by an AI");
});

test("a shared fork shows the patched values from the fork on", () => {
  const at = approvalRun.findIndex(({ type }) => type === "state_initialized") + 1;
  const fork: RunEvent = {
    type: "run_forked",
    seq: at + 1,
    ts: approvalRun[at]?.ts ?? 0,
    payload: {
      from_run: "r0",
      from_seq: at,
      patches: { state: { set: { tone: "a gentle one" }, remove: ["user_request"] } },
      graph: "original",
      by: "ann",
    },
  };
  const events = [
    ...approvalRun.slice(0, at),
    fork,
    ...approvalRun.slice(at).map((event) => ({ ...event, seq: event.seq + 1 })),
  ];
  const { steps } = sharedRun(events, ALL);
  const place = steps.findIndex(({ seq }) => seq === fork.seq);
  expect([steps[place]?.set, steps[place]?.gone]).toEqual([{ tone: "a gentle one" }, ["user_request"]]);
  const page = open(pageOf(events));
  const hasValues = (text: string) =>
    ["a gentle one", "Please approve my vacation"].map((v) => text.includes(v));
  expect([place - 1, place].map((index) => hasValues(page.at(index)))).toEqual([
    [false, true],
    [true, false],
  ]);
  expect(pageOf(events, { ...ALL, state: false })).not.toContain("a gentle one");
});

test("questions and answers are shared with the prompts, and tool arguments with the tools", () => {
  const place = { node_id: "start", activation_id: "start#1" };
  const at = approvalRun.findIndex(({ type }) => type === "node_started") + 1;
  const asked: RunEvent = {
    type: "interaction_requested",
    seq: at + 1,
    ts: 1_000,
    ...place,
    payload: {
      interaction_id: "q",
      kind: "tool_confirmation",
      title: "Send the letter?",
      why: "It leads out of the house",
      body: "Dear aunt",
      fingerprint: "f",
      tool_name: "mail",
      args: { to: "aunt" },
      options: [{ label: "Send it", value: "yes" }],
      expires_at: 9_000,
    },
  };
  const answered: RunEvent = {
    type: "interaction_answered",
    seq: at + 2,
    ts: 2_000,
    ...place,
    payload: {
      interaction_id: "q",
      answer: "chosen",
      option: "yes",
      value: "Dear uncle",
      message: "To him",
      by: "ann",
    },
  };
  const events = [
    ...approvalRun.slice(0, at),
    asked,
    answered,
    ...approvalRun.slice(at).map((event) => ({ ...event, seq: event.seq + 2 })),
  ];
  const detailsOf = (choice: ShareChoice) =>
    sharedRun(events, choice)
      .steps.filter(({ seq }) => seq === asked.seq || seq === answered.seq)
      .map(({ detail }) => detail ?? []);
  const expected = [{ title: "Asked", text: "Send the letter?\nIt leads out of the house\nDear aunt" }];
  const args = [{ title: "Arguments", text: '{\n  "to": "aunt"\n}' }];
  const answer = [{ title: "A person answered", text: "Send it\nDear uncle\nTo him" }];
  expect(
    [ALL, { ...NOTHING, prompts: true }, { ...NOTHING, tool_results: true }, NOTHING].map(detailsOf),
  ).toEqual([
    [[...expected, ...args], answer],
    [expected, answer],
    [args, []],
    [[], []],
  ]);
});

test("deselected content is nowhere in the shared file", () => {
  const phrases = ["vacation for next week", "You are ApprovalAgent", "Enjoy."];
  const whole = pageOf(approvalRun);
  const bare = pageOf(approvalRun, NOTHING);
  expect(phrases.map((word) => [whole.includes(word), bare.includes(word)])).toEqual(
    phrases.map(() => [true, false]),
  );
  const state = pageOf(approvalRun, { ...NOTHING, state: true });
  expect([state.includes("vacation"), state.includes("You are ApprovalAgent")]).toEqual([true, false]);
  const prompts = pageOf(approvalRun, { ...NOTHING, prompts: true });
  expect(prompts.includes("You are ApprovalAgent")).toBe(true);
});

test("the shared file's policy allows only its own script and style by hash", () => {
  const html = pageOf(approvalRun);
  const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
  const inside = (tag: string) => new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`).exec(html)?.[1] ?? "";
  expect(SHARE_POLICY).toBe(
    `default-src 'none'; script-src ${hashOf(inside("script"))}; style-src ${hashOf(inside("style"))}; base-uri 'none'; form-action 'none'`,
  );
  expect(html).toContain(`content="${SHARE_POLICY}"`);
  expect(html).not.toMatch(/(src|href)=|https?:\/\/(?!www\.w3\.org\/2000\/svg)/);
  expect(VIEWER_SCRIPT).not.toMatch(
    /innerHTML|outerHTML|insertAdjacent|eval|Function\(|fetch|XMLHttp|import\(/,
  );
});

test("nothing in a run becomes markup or a script in the shared file", () => {
  const evil = `</script><img src=x onerror="document.title='hacked'"><script>document.title='hacked'</script>`;
  const events = approvalRun.map((event): RunEvent => {
    if (event.type === "state_patched")
      return { ...event, payload: { ...event.payload, set: { ...event.payload.set, [evil]: evil } } };
    if (event.type !== "run_created") return event;
    const { graph } = event.payload;
    const nodes = Object.fromEntries(
      Object.entries(graph.nodes).map(([id, node]) => [id, { ...node, name: evil }]),
    );
    return { ...event, payload: { ...event.payload, workflow_name: evil, graph: { ...graph, nodes } } };
  });
  const page = open(pageOf(events));
  expect(page.at(1_000)).toContain("onerror");
  expect(page.document.querySelectorAll("img").length).toBe(0);
  expect(page.document.querySelectorAll("script").length).toBe(2);
  expect(page.document.title).toBe("Troupe run");
});

test("secrets are redacted in a shared file, even inside values", () => {
  registerSecret("a-password-of-the-house");
  const events = approvalRun.map((event) =>
    event.type === "state_patched"
      ? {
          ...event,
          payload: {
            ...event.payload,
            set: { key: "a-password-of-the-house", other: `sk-${"x".repeat(40)}` },
          },
        }
      : event,
  );
  const html = sharePage(redact(JSON.stringify(sharedRun(events, ALL))));
  expect(html).not.toContain("a-password-of-the-house");
  expect(html).not.toContain("sk-xxxx");
  const data = /<script type="application\/json" id="run">(.*?)<\/script>/s.exec(html)?.[1] ?? "";
  expect((JSON.parse(data) as SharedRun).steps.length).toBeGreaterThan(10);
});
