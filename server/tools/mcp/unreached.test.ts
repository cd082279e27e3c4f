import { once } from "node:events";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { newMcpFetch } from "@/server/egress/fetch";
import { describeError } from "./library";

const errorAt = (address: string) =>
  newMcpFetch("127.0.0.1")(address).then(
    () => "an answer",
    (error: unknown) => describeError(error),
  );

/** What a connection ended with, as undici throws it. */
const failed = (code: string, message = code) =>
  describeError(new TypeError("fetch failed", { cause: Object.assign(new Error(message), { code }) }));

/** A port of this machine that nobody listens at. */
async function freePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address ? address.port : 0;
}

test("a failed MCP connection explains the cause and the fix", async () => {
  expect(await errorAt("http://127.0.0.1:9/mcp")).toBe(
    "Its port belongs to another kind of service, so no request was sent. Check the port in the URL.",
  );
  expect(await errorAt(`http://127.0.0.1:${await freePort()}/mcp`)).toBe(
    "Nothing listens at that host and port. Check the URL and that the server is running.",
  );
  expect(failed("ENOTFOUND")).toBe("Unknown host. Check the URL.");
  expect(failed("ERR_TLS_CERT_ALTNAME_INVALID", "Host does not match certificate's altnames")).toBe(
    "The connection could not be secured (Host does not match certificate's altnames). Check whether the URL should use http or https. To trust your own certificate, use NODE_EXTRA_CA_CERTS.",
  );
  // Of what is not known, all of it is told.
  expect(failed("EODD", "an odd end")).toBe("fetch failed (an odd end)");
});
