import { expect, test } from "vitest";
import { memoryProviders, offlineProvider } from "@/server/llm/testing";
import { cheaperThan } from "./cheaper";

const price = (input_per_mtok: number, output_per_mtok: number) => ({ input_per_mtok, output_per_mtok });
const provider = (id: string, default_model: string, prices: object) => ({
  ...offlineProvider,
  id,
  name: id,
  kind: "openai-compatible" as const,
  base_url: `https://${id}.example.org/v1`,
  default_model,
  simulated: false,
  is_default: id === "one",
  settings: { prices: prices as Record<string, ReturnType<typeof price>> },
});

const shop = memoryProviders([
  offlineProvider,
  provider("one", "large", {
    large: price(10, 30),
    middle: price(3, 12),
    lopsided: price(1, 90),
  }),
  provider("two", "small", { small: price(1, 4) }),
  provider("three", "nobody-knows", {}),
]);

test("the cheapest model with known lower prices is suggested, never a simulated model", () => {
  expect(cheaperThan(shop, { provider_id: "one", model: "large" })).toEqual({
    provider_id: "two",
    model: "small",
    name: "small",
  });
});

test("the agent's first cheaper fallback takes precedence over all other models", () => {
  const fallback_models = [
    { provider_id: "three", model: "nobody-knows" },
    { provider_id: "one", model: "lopsided" },
    { provider_id: "one", model: "middle" },
  ];
  expect(cheaperThan(shop, { provider_id: "one", model: "large", fallback_models })).toMatchObject({
    model: "middle",
  });
});

test.each([
  ["the cheapest model", { provider_id: "two", model: "small" }],
  ["a model without a known price", { provider_id: "three", model: "nobody-knows" }],
  ["a simulated model", { provider_id: offlineProvider.id }],
  ["a model of a deleted provider", { provider_id: "gone" }],
])("no cheaper model is suggested for %s", (_which, config) => {
  expect(cheaperThan(shop, config)).toBeNull();
});
