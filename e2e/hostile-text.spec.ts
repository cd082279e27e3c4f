import type { Page } from "@playwright/test";
import { api, expect, openCrew, test } from "./support/app";
import { agent, edge, end, file, start } from "./support/run-graphs";

// Whatever people, files, models and tools write is text: it stands where it is shown, letter by letter, and does nothing.

const HOSTILE = [
  `<script>alert(1)</script>`,
  `"><script>alert(2)</script>`,
  `</title><script>alert(3)</script>`,
  `</textarea><script>alert(4)</script>`,
  `<img src=x onerror=alert(5)>`,
  `<img src='x' onerror='alert(6)'/>`,
  `"><img src=x onerror=alert(7)>`,
  `<svg onload=alert(8)>`,
  `<svg><script>alert(9)</script></svg>`,
  `<svg><animate onbegin=alert(10) attributeName=x dur=1s>`,
  `<body onload=alert(11)>`,
  `<iframe src="javascript:alert(12)"></iframe>`,
  `<iframe srcdoc="<script>alert(13)</script>"></iframe>`,
  `<object data="javascript:alert(14)"></object>`,
  `<embed src="javascript:alert(15)">`,
  `<details open ontoggle=alert(16)>`,
  `<input autofocus onfocus=alert(17)>`,
  `<marquee onstart=alert(18)>m</marquee>`,
  `<video><source onerror=alert(19)></video>`,
  `<math><mi xlink:href="javascript:alert(20)">m</mi></math>`,
  `<a href="javascript:alert(21)">a</a>`,
  `[a](javascript:alert(22))`,
  `![a](javascript:alert(23))`,
  `<javascript:alert(24)>`,
  `[a](data:text/html,<script>alert(25)</script>)`,
  `<base href="javascript:alert(26)//">`,
  `<style>*{background:url("javascript:alert(27)")}</style>`,
  `<link rel=stylesheet href="data:text/css,*{color:red}">`,
  `<noscript><p title="</noscript><img src=x onerror=alert(29)>">`,
  `{{constructor.constructor('alert(30)')()}}`,
  `\${alert(31)}`,
  `'-alert(32)-'`,
];
const ALL = HOSTILE.join(" ");
/** A few of them, as many as a name may hold; each stands in one of these. */
const packed = (size: number) =>
  HOSTILE.reduce<string[]>((packs, text) => {
    const last = packs.at(-1) ?? "";
    if (last !== "" && last.length + 1 + text.length <= size) packs[packs.length - 1] = `${last} ${text}`;
    else packs.push(text);
    return packs;
  }, []);

/** What the pages made of it: elements that only such a text could have brought, and what the browser refused. */
const traces = (page: Page) =>
  page.evaluate(() => [
    ...[...document.querySelectorAll("*")].flatMap((element) =>
      [...element.attributes]
        .filter(({ name, value }) => /^on/.test(name) || /^\s*(javascript|data:text)/i.test(value))
        .map(({ name, value }) => `<${element.localName} ${name}="${value}">`),
    ),
    ...[...document.querySelectorAll("iframe, object, embed, math, base, marquee, video, animate")].map(
      ({ localName }) => `<${localName}>`,
    ),
    ...((window as { refusals?: string[] }).refusals ?? []),
  ]);

async function listenForRefusals(page: Page) {
  await page.addInitScript(() => {
    const refusals: string[] = [];
    Object.assign(window, { refusals });
    document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
      refusals.push(`${violatedDirective} ${blockedURI}`),
    );
  });
}

/** One call of the app's own API, as the page makes it. */
const call = (page: Page, procedure: string, input: object) =>
  page.evaluate(
    async ([procedure, body]) => {
      const answer = await fetch(`/api/trpc/${procedure}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
      });
      if (!answer.ok) throw new Error(`${procedure}: ${answer.status} ${await answer.text()}`);
    },
    [procedure, JSON.stringify(input)] as const,
  );

const ROLES = packed(80);
const NAMES = packed(200);

async function clear(page: Page) {
  const { workflows } = await api<{ workflows: { id: string; name: string }[] }>(
    "GET",
    "/workflows?limit=500",
  );
  for (const { id, name } of workflows) if (NAMES.includes(name)) await api("DELETE", `/workflows/${id}`);
  const { roles } = await api<{ roles: { role: { name: string } }[] }>("GET", "/roles?limit=500");
  for (const { role } of roles)
    if (ROLES.includes(role.name)) await call(page, "roles.remove", { name: role.name, force: true });
  for (const kind of ["crews", "agents"] as const) {
    const found = await api<Record<typeof kind, { id: string; name: string }[]>>("GET", `/${kind}?limit=500`);
    for (const { id, name } of found[kind])
      if (NAMES.includes(name)) await call(page, `${kind}.remove`, { id, force: true });
  }
}

/** A crew whose scout says and stores all of it in every way it has. */
function hostileCrew() {
  const tool = (name: string, args: object) => `[[offline: tool ${name} ${JSON.stringify(args)}]]`;
  const [scout = "", editor = ""] = ROLES;
  const description = [
    "Say it.",
    tool("write_board", { bulletin: ALL }),
    tool("ask_coworker", { coworker: "editor", question: ALL }),
    tool("store_memory", { key: "told", value: ALL, scope: "run" }),
    tool("file_write", { path: "told.md", content: ALL }),
    tool("calculator", { expression: ALL }),
    `[[offline: text ${JSON.stringify(ALL)}]]`,
    ALL,
  ].join(" ");
  const drawn = file(
    NAMES[0] ?? "",
    [
      start(["topic"]),
      {
        id: "crew",
        name: "Crew at work",
        node_type: "crew_task",
        output_keys: ["report"],
        config: {
          plan_description_template: "Say {{topic}}",
          crew: {
            agents: [
              { agent_id: "scout", role_name: scout, allow_delegation: true, backstory: ALL },
              { agent_id: "editor", role_name: editor, backstory: ALL },
            ],
          },
          plan: { tasks: [{ task_id: "say", description, required_role: scout }] },
        },
        ui: { x: 320, y: 0 },
      },
      end("done", NAMES[1] ?? "", 2, 0, { output_keys: ["report"] }),
    ],
    [edge("start", "crew"), edge("crew", "done")],
    { description: ALL, config: { confirmation: { kind: "never" } } },
  );
  return drawn;
}

test("thirty script injection payloads are shown as plain text everywhere", async ({ app, page }) => {
  test.setTimeout(240_000);
  await listenForRefusals(page);
  await app.open("/settings");
  await clear(page);
  try {
    const seen = async (where: string, text: string, options: { timeout?: number } = {}) => {
      await expect(page.getByText(text).first(), where).toBeVisible(options);
      await nothing(where);
    };
    const nothing = async (where: string) => expect(await traces(page), where).toEqual([]);
    for (const name of ROLES)
      await api("POST", "/roles", {
        name,
        description: ALL,
        goals: HOSTILE,
        responsibilities: [ALL],
        tools: ["write_board", "store_memory", "file_write", "calculator"],
      });
    for (const name of NAMES) {
      await call(page, "agents.create", {
        name,
        agent: { agent_id: "x", role_name: ROLES[0], backstory: ALL },
      });
      await call(page, "crews.create", { name, crew: { agents: [{ agent_id: "a", role_name: ROLES[0] }] } });
    }
    const nodes = HOSTILE.map((text, at) => agent(`n${at}`, text, ALL, at % 8, Math.floor(at / 8)));
    const gallery = file(
      NAMES[2] ?? "",
      [
        start(["topic"]),
        ...nodes,
        {
          id: "note",
          name: ALL.slice(0, 200),
          node_type: "note",
          config: { text: ALL },
          ui: { x: 0, y: -300 },
        },
        end("done", "Done", 9),
      ],
      [
        edge("start", "n0"),
        ...nodes.slice(1).map(({ id }, at) => edge(`n${at}`, id, HOSTILE[at])),
        edge(`n${nodes.length - 1}`, "done"),
      ],
      { description: ALL },
    );
    for (const name of NAMES.slice(3)) await api("POST", "/workflows", { ...gallery, name });
    const { id: drawn } = await api<{ id: string }>("POST", "/workflows", gallery);

    await app.open("/");
    for (const name of NAMES.slice(2)) await seen("the list of workflows", name);
    await page.keyboard.press("ControlOrMeta+k");
    await page.getByPlaceholder(/^Search pages/).fill("alert(1)");
    await nothing("the palette");
    await page.keyboard.press("Escape");

    await app.open(`/workflows/${drawn}`);
    await app.canvas.isShown();
    await seen("the drawing", HOSTILE[0] ?? "");
    await app.canvas.select(HOSTILE[4] ?? "");
    await nothing("the settings of a node");

    await app.open("/roles");
    for (const name of ROLES) await seen("the list of roles", name);
    await app.open(`/roles?role=${encodeURIComponent(ROLES[0] ?? "")}`);
    await expect(page.getByLabel("Goals, goal 1", { exact: true })).toHaveValue(HOSTILE[0] ?? "");
    await nothing("a role");
    await page.getByRole("button", { name: `Actions for ${ROLES[0]}` }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await expect(page.getByRole("alertdialog")).toContainText(ROLES[0] ?? "");
    await nothing("the question before deleting");
    await page.keyboard.press("Escape");
    for (const kind of ["crews", "agents"]) {
      await app.open(`/${kind}`);
      await seen(`the list of ${kind}`, NAMES[0] ?? "");
      await page.getByRole("link", { name: NAMES[0] ?? "" }).click();
      await expect(page.getByRole("heading", { name: NAMES[0] ?? "" })).toBeVisible();
      await nothing(`one of the ${kind}`);
    }

    await app.openWorkflow(hostileCrew());
    await app.run.start({ topic: ALL });
    await app.run.expectEnd("Completed", { timeout: 60_000 });
    await nothing("the run");
    const crew = await openCrew(page, "Crew at work");
    const panel = page.getByRole("complementary", { name: "Run details" });
    await crew.getByRole("button", { name: /^Cost/ }).click();
    for (const view of [/^Messages/, /^Board/, /^Plan/]) {
      await panel.getByRole("tab", { name: view }).click();
      await expect(panel.getByRole("tabpanel", { name: view })).toContainText("alert(1)");
      await nothing(`the crew's ${view}`);
    }
    await crew
      .getByRole("button", { name: /alert\(1\)/ })
      .first()
      .click();
    await nothing("a transcript");
    await crew.getByRole("button", { name: "Collapse crew" }).click();
    for (const tab of [/^Result/, /^Timeline/, /^Status/, /^Input/]) {
      const button = page.getByRole("tab", { name: tab });
      if ((await button.count()) === 0) continue;
      await button.click();
      await nothing(`the run's ${tab}`);
    }
    await page.getByRole("tab", { name: /^Files/ }).click();
    await page
      .getByRole("button", { name: /told\.md/ })
      .first()
      .click();
    await expect(page.getByRole("article", { name: "told.md" })).toContainText("alert(1)");
    await nothing("a file");
    await app.open("/runs");
    await seen("the list of runs", NAMES[0] ?? "");

    await app.open("/memory");
    await expect(page.getByRole("list", { name: "Memories" })).toContainText("alert(1)");
    await nothing("what is remembered");
    await page.getByRole("button", { name: "Delete told" }).click();
    await app.open("/tools?tool=calculator");
    const tool = page.getByRole("article", { name: "calculator" });
    await tool.getByLabel("expression").fill(ALL.slice(0, 400));
    await tool.getByRole("button", { name: "Run tool" }).click();
    await expect(tool.getByRole("region", { name: "Result" })).toContainText(/\S/);
    await nothing("a tool that is tried out");
    await app.open("/settings");
    await expect(page.getByRole("list", { name: "Audit log" })).toContainText("alert(");
    await nothing("the record");

    await app.open("/");
    await page.getByRole("button", { name: `Actions for ${NAMES[2]}` }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await expect(page.getByRole("button", { name: "Undo" })).toBeVisible();
    await nothing("a passing message");
    // They would have been noticed.
    await page.evaluate(() => document.body.append(document.createElement("marquee")));
    expect(await traces(page)).toEqual(["<marquee>"]);
  } finally {
    await clear(page);
  }
});
