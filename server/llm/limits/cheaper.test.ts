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

test("the cheapest model whose price is known and lower in both ways is named; simulated ones are no way to go on", () => {
  expect(cheaperThan(shop, { provider_id: "one", model: "large" })).toEqual({
    provider_id: "two",
    model: "small",
    name: "small",
  });
});

test("of the agent's own fallbacks the first that costs less comes before all others", () => {
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
  ["the cheapest itself", { provider_id: "two", model: "small" }],
  ["one whose own price nobody knows", { provider_id: "three", model: "nobody-knows" }],
  ["one that is simulated", { provider_id: offlineProvider.id }],
  ["one of a provider that is gone", { provider_id: "gone" }],
])("nothing is called cheaper than %s", (_which, config) => {
  expect(cheaperThan(shop, config)).toBeNull();
});
