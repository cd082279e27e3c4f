import { expect, test } from "vitest";
import { of } from "@/server/conformance/stage";
import { draw } from "@/server/domain/testing/drawing";
import { newStage } from "../testing";

/** A router that decides by the rule "ours"; `source`: how it defines that rule itself. */
const router = (source?: string) => ({
  config: {
    kind: "function",
    router_function_name: "ours",
    ways: ["left", "right"],
    ...(source === undefined ? {} : { router_function: { language: "cel", source } }),
  },
});

// A launch refuses two definitions of one name. A run that has them all the same does what each router says.
test("of two rules of the same name, a router uses its own, and one without a rule the first", async () => {
  const graph = draw(
    "start > ra; ra left> rb; ra right> rb; rb left> rc; rb right> rc; rc left> end; rc right> end",
    { ra: router('"left"'), rb: router('"right"'), rc: router() },
  );
  const { state, events } = await newStage().run(graph);
  expect(state.run.final_status).toBe("COMPLETED");
  expect(of(events, "router_decided").map(({ labels }) => labels)).toEqual([["left"], ["right"], ["left"]]);
});
