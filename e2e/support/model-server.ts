import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A model call as it arrived, with all of its messages as one text. */
export interface ArrivedCall {
  at: number;
  text: string;
}

/** A model service of our own on a real socket: OpenAI's protocol, known answers, and a record of every call. */
export interface ModelServer {
  url: string;
  calls: ArrivedCall[];
  close(): Promise<void>;
}

interface ChatRequest {
  model: string;
  stream?: boolean;
  messages: { role: string; content: string | { text?: string }[] }[];
}

/** `answer` gives the whole text of an answer; it goes out in pieces over about `takesMs`. */
export async function startModelServer(
  answer: (text: string) => string,
  takesMs: () => number,
): Promise<ModelServer> {
  const calls: ArrivedCall[] = [];
  const server = createServer((request, response) => {
    void handle(request, response).catch(() => response.destroy());
  });

  async function handle(request: IncomingMessage, response: ServerResponse) {
    if (request.method === "GET") {
      response.setHeader("content-type", "application/json");
      return void response.end(
        JSON.stringify({
          object: "list",
          data: [{ id: "test-model", object: "model", created: 0, owned_by: "test" }],
        }),
      );
    }
    let body = "";
    for await (const piece of request) body += String(piece);
    const { model, messages, stream } = JSON.parse(body) as ChatRequest;
    const text = messages
      .map(({ content }) =>
        typeof content === "string" ? content : content.map((part) => part.text ?? "").join(""),
      )
      .join("\n");
    calls.push({ at: Date.now(), text });
    const content = answer(text);
    const usage = {
      prompt_tokens: Math.ceil(text.length / 4),
      completion_tokens: Math.ceil(content.length / 4),
      total_tokens: 0,
    };
    usage.total_tokens = usage.prompt_tokens + usage.completion_tokens;
    const base = { id: `chat-${calls.length}`, created: 0, model };
    if (!stream) {
      await pause(takesMs());
      response.setHeader("content-type", "application/json");
      const choices = [{ index: 0, finish_reason: "stop", message: { role: "assistant", content } }];
      return void response.end(JSON.stringify({ ...base, object: "chat.completion", choices, usage }));
    }
    response.setHeader("content-type", "text/event-stream");
    const send = (choices: unknown[], more = {}) =>
      response.write(
        `data: ${JSON.stringify({ ...base, object: "chat.completion.chunk", choices, ...more })}\n\n`,
      );
    const pieces = content.match(/[\s\S]{1,24}/g) ?? [""];
    const each = takesMs() / pieces.length;
    for (const piece of pieces) {
      await pause(each);
      send([{ index: 0, delta: { role: "assistant", content: piece }, finish_reason: null }]);
    }
    send([{ index: 0, delta: {}, finish_reason: "stop" }]);
    send([], { usage });
    response.end("data: [DONE]\n\n");
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    calls,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
