import { expect, test } from "vitest";
import { exposition } from "./prometheus";

test("each metric has its help and type before its samples, one per line", () => {
  expect(
    exposition([
      {
        name: "troupe_runs",
        help: "Runs by status",
        type: "gauge",
        samples: [
          { labels: { status: "queued" }, value: 2 },
          { labels: { status: "finished" }, value: 1_000_000 },
        ],
      },
      { name: "process_cpu_seconds_total", help: "CPU", type: "counter", samples: [{ value: 0.25 }] },
      { name: "troupe_none", help: "Nothing of it yet", type: "gauge", samples: [] },
    ]),
  ).toBe(
    [
      "# HELP troupe_runs Runs by status",
      "# TYPE troupe_runs gauge",
      'troupe_runs{status="queued"} 2',
      'troupe_runs{status="finished"} 1000000',
      "# HELP process_cpu_seconds_total CPU",
      "# TYPE process_cpu_seconds_total counter",
      "process_cpu_seconds_total 0.25",
      "# HELP troupe_none Nothing of it yet",
      "# TYPE troupe_none gauge",
      "",
    ].join("\n"),
  );
});

const gauge = (labels: Record<string, string>, value = 1) =>
  exposition([{ name: "m", help: "h", type: "gauge", samples: [{ labels, value }] }])
    .split("\n")
    .at(-2);

test("quotes and line breaks in labels and help are escaped", () => {
  expect(gauge({ path: 'C:\\DIR\n"x"' })).toBe('m{path="C:\\\\DIR\\n\\"x\\""} 1');
  const [help] = exposition([{ name: "m", help: 'a "b"\\\nc', type: "gauge", samples: [] }]).split("\n");
  expect(help).toBe('# HELP m a "b"\\\\\\nc');
});

test("infinite and undefined numbers are written as the format requires", () => {
  expect([Infinity, -Infinity, NaN, 1e21, -0.5].map((value) => gauge({}, value))).toEqual([
    "m +Inf",
    "m -Inf",
    "m NaN",
    "m 1e+21",
    "m -0.5",
  ]);
});

test.each([
  ["a name with a space", { name: "a b", type: "gauge" as const, samples: [] }],
  ["a counter without its ending", { name: "a", type: "counter" as const, samples: [] }],
  ["a gauge with a counter's ending", { name: "a_total", type: "gauge" as const, samples: [] }],
  [
    "a label of Prometheus' own",
    { name: "a", type: "gauge" as const, samples: [{ labels: { __x: "" }, value: 1 }] },
  ],
  [
    "a series twice",
    {
      name: "a",
      type: "gauge" as const,
      samples: [
        { labels: { x: "1", y: "2" }, value: 1 },
        { labels: { y: "2", x: "1" }, value: 1 },
      ],
    },
  ],
])("%s is rejected", (_what, metric) => {
  expect(() => exposition([{ help: "h", ...metric }])).toThrow(/is not a valid (label )?name|defined twice/);
});

test("a metric can't be defined twice", () => {
  const metric = { name: "a", help: "h", type: "gauge" as const, samples: [] };
  expect(() => exposition([metric, metric])).toThrow("defined twice");
});
