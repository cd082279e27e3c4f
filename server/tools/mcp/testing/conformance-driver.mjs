// What the conformance suite starts as "the client": it hands the scenario to the test, which has the real one.
const [, , test, url] = process.argv;
const { MCP_CONFORMANCE_SCENARIO: scenario, MCP_CONFORMANCE_CONTEXT: context } = process.env;
const response = await fetch(test, {
  method: "POST",
  body: JSON.stringify({ url, scenario, context: context ?? null }),
});
if (!response.ok) {
  console.error(await response.text());
  process.exit(1);
}
