import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";

/** A server on a free port of this machine. */
export async function listen(handler: RequestListener) {
  const http = createServer(handler);
  await once(http.listen(0, "127.0.0.1"), "listening");
  const { port } = http.address() as AddressInfo;
  return {
    port,
    origin: `http://127.0.0.1:${port}`,
    close: () => {
      http.closeAllConnections();
      http.close();
    },
  };
}

export const json = (response: ServerResponse, status: number, body: unknown, headers = {}) =>
  void response
    .writeHead(status, { "content-type": "application/json", ...headers })
    .end(JSON.stringify(body));

export async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return text;
}

const esc = (text: string) => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;");

interface Code {
  challenge: string;
  client_id: string;
  redirect_uri: string;
  scope: string;
  resource: string | null;
}

/** An authorization server that grants everything to everybody, by the book. Tests change what it says and keeps. */
export async function newAuthorizationServer() {
  const codes = new Map<string, Code>();
  const refreshTokens = new Map<string, Code>();
  const tokens = new Map<string, { scope: string; resource: string | null }>();
  const self = {
    origin: "",
    port: 0,
    close: () => {},
    tokens,
    refreshTokens,
    registered: new Map<string, { redirect_uris: string[]; client_secret?: string }>(),
    seen: [] as { path: string; body: string; authorization: string | undefined }[],
    /** Laid over the metadata; null leaves a field out. */
    metadata: {} as Record<string, unknown>,
    /** The next answer of the token endpoint instead of tokens. */
    refusal: null as null | { status: number; body: string; location?: string },
    expires_in: 3600 as number | undefined,
    /** Tokens that were given up. */
    revoked: [] as string[],
    /** Follows the address as a browser does, agreeing; answers where it is sent back to. */
    agree: (url: string): URL => {
      const asked = new URL(url).searchParams;
      const code = randomUUID();
      codes.set(code, {
        challenge: asked.get("code_challenge") ?? "",
        client_id: asked.get("client_id") ?? "",
        redirect_uri: asked.get("redirect_uri") ?? "",
        scope: asked.get("scope") ?? "",
        resource: asked.get("resource"),
      });
      const back = new URL(asked.get("redirect_uri") ?? "");
      back.searchParams.set("code", code);
      back.searchParams.set("state", asked.get("state") ?? "");
      back.searchParams.set("iss", self.origin);
      return back;
    },
  };
  const grant = (code: Code) => {
    const [access_token, refresh_token] = [`at-${randomUUID()}`, `rt-${randomUUID()}`];
    tokens.set(access_token, { scope: code.scope, resource: code.resource });
    refreshTokens.set(refresh_token, code);
    const { expires_in } = self;
    return {
      access_token,
      refresh_token,
      token_type: "Bearer",
      scope: code.scope,
      ...(expires_in && { expires_in }),
    };
  };
  const server = await listen((request, response) => {
    void (async () => {
      const path = new URL(request.url ?? "/", self.origin).pathname;
      const body = await bodyOf(request);
      self.seen.push({ path, body, authorization: request.headers.authorization });
      if (path === "/.well-known/oauth-authorization-server")
        return json(
          response,
          200,
          Object.fromEntries(
            Object.entries({
              issuer: self.origin,
              authorization_endpoint: `${self.origin}/authorize`,
              token_endpoint: `${self.origin}/token`,
              registration_endpoint: `${self.origin}/register`,
              revocation_endpoint: `${self.origin}/revoke`,
              response_types_supported: ["code"],
              code_challenge_methods_supported: ["S256"],
              token_endpoint_auth_methods_supported: ["none", "client_secret_basic", "client_secret_post"],
              authorization_response_iss_parameter_supported: true,
              ...self.metadata,
            }).filter(([, value]) => value !== null),
          ),
        );
      if (path === "/authorize") {
        const allowed = self.agree(String(new URL(request.url ?? "", self.origin))).href;
        const denied = new URL(allowed);
        denied.searchParams.delete("code");
        denied.searchParams.set("error", "access_denied");
        return void response
          .writeHead(200, { "content-type": "text/html" })
          .end(
            `<h1>May Troupe look?</h1><a href="${esc(allowed)}">Allow</a> <a href="${esc(denied.href)}">Deny</a>`,
          );
      }
      if (path === "/revoke") {
        const token = new URLSearchParams(body).get("token") ?? "";
        self.revoked.push(token);
        tokens.delete(token);
        refreshTokens.delete(token);
        return void response.writeHead(self.refusal?.status ?? 200).end();
      }
      if (path === "/register") {
        const client_id = randomUUID();
        const asked = JSON.parse(body) as { redirect_uris: string[] };
        self.registered.set(client_id, asked);
        return json(response, 201, { ...asked, client_id });
      }
      if (path !== "/token") return json(response, 404, {});
      if (self.refusal) {
        const { status, body, location } = self.refusal;
        return void response
          .writeHead(status, { "content-type": "application/json", ...(location && { location }) })
          .end(body);
      }
      const asked = new URLSearchParams(body);
      if (asked.get("grant_type") === "refresh_token") {
        const old = asked.get("refresh_token") ?? "";
        const known = refreshTokens.get(old);
        refreshTokens.delete(old);
        return known ? json(response, 200, grant(known)) : json(response, 400, { error: "invalid_grant" });
      }
      if (asked.get("grant_type") === "client_credentials") {
        const scope = asked.get("scope") ?? "";
        const { refresh_token: _none, ...granted } = grant({
          ...{ challenge: "", client_id: "", redirect_uri: "" },
          ...{ scope, resource: asked.get("resource") },
        });
        return json(response, 200, granted);
      }
      const code = codes.get(asked.get("code") ?? "");
      codes.delete(asked.get("code") ?? "");
      const proof = createHash("sha256")
        .update(asked.get("code_verifier") ?? "")
        .digest("base64url");
      return code && proof === code.challenge && code.redirect_uri === asked.get("redirect_uri")
        ? json(response, 200, grant(code))
        : json(response, 400, { error: "invalid_grant", error_description: "no such code" });
    })();
  });
  return Object.assign(self, server);
}

/** An MCP server that lets in who has a token of that authorization server for it, with the rights that a tool needs. */
export async function newGuardedServer(authority: Awaited<ReturnType<typeof newAuthorizationServer>>) {
  const open = new Map<string, StreamableHTTPServerTransport>();
  const self = {
    origin: "",
    port: 0,
    close: () => {},
    url: "",
    /** Laid over its description of itself. */
    metadata: {} as Record<string, unknown>,
    metadataUrl: "",
    presented: [] as (string | undefined)[],
    needs: { call: "read" },
    /** Where it sends every call instead of answering. */
    redirect: "",
  };
  const newServer = () => {
    const server = new McpServer({ name: "guarded", version: "1.0.0" });
    server.registerTool("look", { description: "Looks", inputSchema: {} }, () => ({
      content: [{ type: "text", text: "seen" }],
    }));
    return server;
  };
  const server = await listen((request, response) => {
    void (async () => {
      if (request.url === "/.well-known/oauth-protected-resource/mcp")
        return json(response, 200, {
          resource: self.url,
          authorization_servers: [authority.origin],
          scopes_supported: ["read"],
          ...self.metadata,
        });
      if (request.url !== "/mcp") return json(response, 404, {});
      const { authorization } = request.headers;
      self.presented.push(authorization);
      const token = authority.tokens.get(authorization?.replace(/^Bearer /, "") ?? "");
      if (self.redirect !== "") return void response.writeHead(307, { location: self.redirect }).end();
      const named = `Bearer resource_metadata="${self.metadataUrl}"`;
      if (!token || token.resource !== self.url)
        return json(
          response,
          401,
          { error: "invalid_token" },
          { "www-authenticate": `${named}, scope="read"` },
        );
      const text = await bodyOf(request);
      const message = text === "" ? null : (JSON.parse(text) as { method?: string });
      if (message?.method === "tools/call" && !token.scope.split(" ").includes(self.needs.call))
        return json(
          response,
          403,
          {},
          { "www-authenticate": `${named}, error="insufficient_scope", scope="${self.needs.call}"` },
        );
      const id = request.headers["mcp-session-id"];
      const known = typeof id === "string" ? open.get(id) : undefined;
      if (id && !known) return void response.writeHead(404).end();
      if (known) return known.handleRequest(request, response, message ?? undefined);
      const transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: (session) => void open.set(session, transport),
      });
      await newServer().connect(transport);
      return transport.handleRequest(request, response, message ?? undefined);
    })();
  });
  return Object.assign(self, server, {
    url: `${server.origin}/mcp`,
    metadataUrl: `${server.origin}/.well-known/oauth-protected-resource/mcp`,
  });
}
