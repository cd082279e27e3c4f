// A server with resources and prompts and no tools, in plain JSON-RPC, for the tests.
import { createInterface } from "node:readline";

const resources = [
  {
    uri: "memo://one",
    name: "one",
    title: "First memo",
    description: "Read \u202eme",
    mimeType: "text/plain",
    size: 12,
  },
  { uri: "memo://huge", name: "huge", size: 9_000_000 },
  { uri: "memo://picture", name: "picture", mimeType: "image/png" },
  { uri: "memo://hid\u200bden", name: "hidden" },
  { name: "without a URL" },
];
const prompts = [
  { name: "greet", description: "A greeting", arguments: [{ name: "who", required: true }, { name: "how" }] },
  { arguments: [] },
];
const contents = {
  "memo://one": [{ uri: "memo://one", mimeType: "text/plain", text: "Tea at four." }],
  "memo://picture": [{ uri: "memo://picture", mimeType: "image/png", blob: "AAAA" }],
  "memo://long": [{ uri: "memo://long", text: "x".repeat(3_000_000) }],
};
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { resources: { listChanged: true }, prompts: { listChanged: true } },
    serverInfo: { name: "offering", version: "1.0.0" },
  }),
  ping: () => ({}),
  "resources/list": ({ cursor }) =>
    cursor ? { resources: resources.slice(2) } : { resources: resources.slice(0, 2), nextCursor: "more" },
  "prompts/list": () => ({ prompts }),
  "resources/read": ({ uri }) => (contents[uri] ? { contents: contents[uri] } : null),
  "prompts/get": ({ name, arguments: { who } }) => {
    prompts.push({ name: "farewell" });
    send({ method: "notifications/prompts/list_changed" });
    return {
      description: name,
      messages: [
        { role: "user", content: { type: "text", text: `Greet ${who}.` } },
        { role: "assistant", content: { type: "image", data: "AAAA", mimeType: "image/png" } },
      ],
    };
  },
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) continue;
  const result = answers[method]?.(params);
  if (result) send({ id, result });
  else if (result === null) send({ id, error: { code: -32002, message: "Resource not found" } });
  else send({ id, error: { code: -32601, message: `Method not found: ${method}` } });
}
