import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { expect, test } from "./app";
import { startMcpServer } from "./mcp-server";
import { edge, end, file, start } from "./run-graphs";
import { freePort, TroupeProcess } from "./troupe-process";

// What MCP servers ask of people while a run goes on.

let home: string;
let dataDir: string;
let server: Awaited<ReturnType<typeof startMcpServer>>;
let troupe: TroupeProcess;

test.beforeAll(async () => {
  dataDir = mkdtempSync(path.join(os.tmpdir(), "troupe-questions-"));
  server = await startMcpServer("Looks a word up.");
  const port = await freePort();
  home = `http://127.0.0.1:${port}`;
  troupe = new TroupeProcess(dataDir, port, `token-of-questions-${randomUUID()}`, {
    TROUPE_MCP_ALLOWED_HOSTS: server.host,
  });
  await troupe.start();
});
test.afterAll(async () => {
  await troupe.stop();
  await server.close();
  rmSync(dataDir, { recursive: true, force: true });
});

test("a server's question is a form in the run, whose faults are said at their fields; an address is shown and never opened", async ({
  app,
  page,
}) => {
  await app.open(`${home}/tools?new-server=1`);
  const added = page.getByRole("form", { name: "New MCP server" });
  await added.getByLabel("Name").fill("travel");
  await added.getByLabel("Address").fill(server.url);
  await added.getByRole("button", { name: "Add and connect" }).click();
  await page.getByRole("button", { name: "Approve book" }).click();
  await expect(
    page.getByRole("list", { name: "Tools of travel" }).getByRole("listitem").filter({ hasText: "book" }),
  ).toContainText("Approved");
  const { id } = await troupe.call<{ id: string }>(
    "POST",
    "/workflows",
    file(
      "Books",
      [
        start([]),
        {
          id: "call",
          name: "Book it",
          node_type: "tool_call",
          output_keys: ["found"],
          config: { tool_name: "mcp:travel/book", args: {} },
          ui: { x: 320, y: 0 },
        },
        end("done", "Done", 2, 0, { output_keys: ["found"] }),
      ],
      [edge("start", "call"), edge("call", "done")],
      { config: { confirmation: { kind: "never" } } },
    ),
  );
  const { run_id } = await troupe.call<{ run_id: string }>("POST", `/workflows/${id}/runs`, { input: {} });
  await page.goto(`${home}/workflows/${id}/runs/${run_id}`);
  await page.getByRole("button", { name: "Look and answer" }).click();
  const form = page.getByRole("region", { name: "Question: “travel” asks you something" });
  await expect(form).toContainText("Where do you want to go?");
  await expect(form.getByRole("switch", { name: "Quiet car" })).toBeChecked();
  expect(await app.accessibilityFaults()).toEqual([]);

  await form.getByRole("button", { name: "Send" }).click();
  await expect(form.getByText("Please fill this in.")).toHaveCount(2);
  await form.getByLabel("City").fill("R");
  await form.getByLabel("Mail").fill("ann");
  await form.getByRole("button", { name: "Send" }).click();
  await expect(form.getByText(/at least 2/)).toBeVisible();
  await expect(form.getByText(/email/)).toBeVisible();
  await form.getByLabel("City").fill("Rome");
  await form.getByLabel("Mail").fill("ann@example.org");
  await form.getByRole("checkbox", { name: "soup" }).click();
  await form.getByRole("switch", { name: "Quiet car" }).click();
  await form.getByRole("button", { name: "Send" }).click();

  const address = page.getByRole("region", { name: "Question: “travel” asks you something" });
  await expect(address).toContainText("a page of pay.example in your browser");
  await expect(address.getByText("https://pay.example/tickets?number=1")).toBeVisible();
  const link = address.getByRole("link", { name: "Open it in a new tab" });
  await expect(link).toHaveAttribute("rel", "noopener noreferrer");
  expect(page.context().pages()).toHaveLength(1);
  await address.getByRole("button", { name: "I am done there" }).click();

  const run = () =>
    troupe.call<{ final_status: string | null; output: { found?: string } | null }>("GET", `/runs/${run_id}`);
  await expect.poll(async () => (await run()).final_status, { timeout: 20_000 }).toBe("COMPLETED");
  expect((await run()).output?.found).toBe(
    '{"city":"Rome","mail":"ann@example.org","seat":"w","meals":["soup"],"quiet":false}, paid: accept',
  );
});
