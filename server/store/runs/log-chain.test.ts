import { expect, test } from "vitest";
import { CHAIN_START, type ChainedTurn, chainTurn, firstBreak, lastOf } from "./log-chain";

const turn: ChainedTurn = { runId: "r", turn: 3, at: 17, key: "a#1/1", result: '{"ok":true}', inlined: 0 };
const texts = ['{"seq":4}', '{"seq":5}', '{"seq":6}'];
const { chain, last } = chainTurn(CHAIN_START, turn, texts);
const broken = (changed: Partial<ChainedTurn>, others = texts, before = CHAIN_START) =>
  firstBreak(before, { ...turn, ...changed }, others, chain);

test("an unchanged turn matches its chain, and the next turn continues it", () => {
  expect(broken({})).toBeNull();
  expect(lastOf(chain)).toBe(last);
  const next = chainTurn(last, { ...turn, turn: 4 }, []);
  expect(firstBreak(lastOf(chain), { ...turn, turn: 4 }, [], next.chain)).toBeNull();
});

test("an altered, removed or added event is located", () => {
  const altered = (at: number) => texts.map((text, k) => (k === at ? text.replace("seq", "sea") : text));
  expect([0, 1, 2].map((at) => broken({}, altered(at)))).toEqual([0, 1, 2]);
  expect([0, 1, 2].map((at) => broken({}, texts.toSpliced(at, 1)))).toEqual([0, 1, 2]);
  expect([0, 1, 2, 3].map((at) => broken({}, texts.toSpliced(at, 0, "{}")))).toEqual([0, 1, 2, 3]);
});

test("the chain also protects a turn's other fields and the chain before it", () => {
  const changes: Partial<ChainedTurn>[] = [
    { runId: "q" },
    { turn: 4 },
    { at: 18 },
    { key: null },
    { result: '{"ok":false}' },
    { inlined: 1 },
  ];
  for (const change of changes) expect(broken(change)).toBe("head");
  expect(broken({}, texts, last)).toBe("head");
  expect(firstBreak(CHAIN_START, turn, texts, chain.subarray(0, 8))).not.toBeNull();
});
