import http from "node:http";
import { boot } from "@/server/boot";
import { defined } from "@/server/domain/base/defined";
import { CustomToolDefinition } from "@/server/domain/tool/custom-tool";
import { serve } from "@/server/http-api/serve";
import { serveForm } from "@/server/http-api/triggers/forms";
import { serveHook } from "@/server/http-api/triggers/webhooks";
import { getServices } from "@/server/services";
import { CustomToolStore } from "@/server/store/library/custom-tools";

/*
 * A server in a process of its own, without pages: it starts as the real one does, takes up the runs of its data
 * folder, and answers the HTTP API, webhooks and forms on PORT. Tests start it to freeze it and to kill it. TROUPE_TEST_TOOL: the definition of
 * a custom tool that it is to have.
 */

const tool = process.env.TROUPE_TEST_TOOL;
if (tool) {
  const { db, toolSources } = getServices();
  new CustomToolStore(db).save(CustomToolDefinition.parse(JSON.parse(tool)), null);
  toolSources.customToolsChanged();
}

const server = http.createServer((incoming, outgoing) => {
  void (async () => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const request = new Request(`http://${incoming.headers.host}${incoming.url}`, {
      method: incoming.method ?? "GET",
      headers: new Headers(
        Object.entries(incoming.headers).map(([name, value]): [string, string] => [name, String(value)]),
      ),
      ...defined({ body: chunks.length > 0 ? Buffer.concat(chunks) : undefined }),
    });
    const [, hook] = /^\/hooks\/([^/?]+)/.exec(incoming.url ?? "") ?? [];
    const [, form] = /^\/p\/([^/?]+)\/submit/.exec(incoming.url ?? "") ?? [];
    const response = hook
      ? await serveHook(request, hook, getServices)
      : form
        ? await serveForm(request, form, getServices)
        : await serve(request, { services: getServices });
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.end(Buffer.from(await response.arrayBuffer()));
  })();
});
await boot();
server.listen(Number(process.env.PORT), "127.0.0.1", () => process.stdout.write("ready\n"));
