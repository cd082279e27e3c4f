import { withoutRunFacts } from "@/server/domain/agent/prompt";
import { asSchema, propertiesOf } from "@/server/domain/base/json-schema";
import type { JsonSchema } from "@/server/domain/base/values";
import { estimateTokens } from "@/server/domain/run/condense/condense";
import type { ModelRequest, Models } from "@/server/llm/model";
import { newModels } from "@/server/llm/models";
import { newOfflineFetch } from "@/server/llm/offline";
import { memoryProviders, offlineProvider } from "@/server/llm/testing";

// For tests: what models are asked, and how people read it.

export type Asked = Pick<ModelRequest, "call_id" | "messages" | "tools" | "response">;

/** The offline model, and its requests in order. */
export function askedBy(): { models: Models; calls: Asked[] } {
  const calls: Asked[] = [];
  const offline = newModels({
    providers: memoryProviders([offlineProvider]),
    offlineFetch: newOfflineFetch({ speed: 0 }),
  });
  return {
    calls,
    models: {
      ...offline,
      complete(request, io) {
        calls.push(structuredClone(request));
        return offline.complete(request, io);
      },
    },
  };
}

/** A call as providers' caches see it: what comes first is what they can know again. */
const serial = ({ tools, response, messages }: Asked): string =>
  [
    JSON.stringify(tools ?? []),
    JSON.stringify(response ?? null),
    ...messages.map(
      ({ role, content, tool_calls }) => `${role}\n${content}${JSON.stringify(tool_calls ?? [])}`,
    ),
  ].join("\n");

function sharedLength(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}

/** Replaces each random task ID by one that shares no prefix with the others, so that shared lengths don't vary by chance. */
function withPlainIds(texts: readonly string[]): string[] {
  const plain = new Map<string, string>();
  return texts.map((text) =>
    text.replace(/(?<=Task ID: |<task id=\\?")[0-9a-f]{12}\b/g, (id) => {
      const known = plain.get(id) ?? String.fromCharCode(97 + plain.size).repeat(12);
      plain.set(id, known);
      return known;
    }),
  );
}

/**
 * Per call, in tokens: its length, and the length of the prefix shared with any earlier call and with the previous one.
 */
export function shares(calls: readonly Asked[]): { tokens: number; shared: number; before: number }[] {
  const texts = withPlainIds(calls.map(serial));
  return texts.map((text, at) => {
    const lengths = texts.slice(0, at).map((other) => sharedLength(text, other));
    return {
      tokens: estimateTokens(text),
      shared: estimateTokens(text.slice(0, Math.max(0, ...lengths))),
      before: estimateTokens(text.slice(0, lengths.at(-1) ?? 0)),
    };
  });
}

/** All calls of a run as one page. What an earlier call on the page has already is named, not repeated. */
export function pageOf(title: string, calls: readonly Asked[]): string {
  const parts = shares(calls);
  const seen = new Map<string, number>();
  const pieces = calls.map((call, at) => {
    const { call_id, messages, tools = [], response } = call;
    const { tokens, shared } = parts[at] ?? { tokens: 0, shared: 0 };
    const lines = [
      `## ${at + 1}. ${call_id.replace(/\/call1$/, "")}`,
      `${tokens} tokens, ${shared} of them as an earlier call began.`,
      ...(tools.length > 0 ? [`Tools: ${tools.map(({ name }) => name).join(", ")}`] : []),
      ...(response ? [`Answer: ${response.name} ${shapeOf(response.schema)}`] : []),
    ];
    for (const { role, content, tool_calls } of messages) {
      const whole = `${withoutRunFacts(content)}${(tool_calls ?? []).map(({ tool_name, args }) => `\n-> ${tool_name} ${JSON.stringify(args)}`).join("")}`;
      const first = seen.get(`${role}\n${whole}`);
      seen.set(`${role}\n${whole}`, first ?? at + 1);
      const repeats = first !== undefined && first <= at;
      lines.push(
        "",
        repeats ? `**${role}** as in ${first}` : `**${role}**`,
        ...(repeats ? [] : [quoted(whole)]),
      );
    }
    return lines.join("\n");
  });
  const total = parts.reduce((sum, { tokens }) => sum + tokens, 0);
  const known = parts.reduce((sum, { shared }) => sum + shared, 0);
  return `# ${title}\n\n${calls.length} calls, about ${total} tokens; ${known} of them as an earlier call began.\n\n${pieces.join("\n\n")}\n`;
}

const quoted = (text: string) =>
  text
    .split("\n")
    .map((line) => `> ${line}`.trimEnd())
    .join("\n");

/** A schema in one line: its keys, with theirs in brackets. */
function shapeOf(schema: JsonSchema): string {
  const properties = Object.entries(propertiesOf(schema));
  const items = asSchema(schema.items);
  if (properties.length === 0) return items.properties ? `[${shapeOf(items)}]` : "";
  return `{${properties.map(([key, inner]) => [key, shapeOf(inner)].filter(Boolean).join(" ")).join(", ")}}`;
}
