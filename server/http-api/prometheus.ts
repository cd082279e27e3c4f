// Figures in the text format of Prometheus, version 0.0.4.

/** What the format calls a metric family: samples of one name, told apart by their labels. */
export interface Metric {
  name: string;
  help: string;
  /** counter: it only grows, until the process ends; its name ends in `_total`. */
  type: "gauge" | "counter";
  samples: readonly Sample[];
}
interface Sample {
  labels?: Readonly<Record<string, string>>;
  value: number;
}

export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

const METRIC_NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
/** Names that begin with two underscores are Prometheus' own. */
const LABEL_NAME = /^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$/;

/** The text that a scrape returns. Throws if the format doesn't allow it: an invalid name, or a duplicate series. */
export function exposition(metrics: readonly Metric[]): string {
  const seen = new Set<string>();
  const once = (what: string) => {
    if (seen.has(what)) throw new Error(`The metric ${what} is defined twice`);
    seen.add(what);
  };
  const lines = metrics.flatMap(({ name, help, type, samples }) => {
    if (!METRIC_NAME.test(name) || (type === "counter") !== name.endsWith("_total"))
      throw new Error(`${name} is not a valid name for a ${type}`);
    once(name);
    return [
      `# HELP ${name} ${help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}`,
      `# TYPE ${name} ${type}`,
      ...samples.map(({ labels = {}, value }) => {
        const series = `${name}${labelsOf(labels)}`;
        if (series !== name) once(series);
        return `${series} ${numberOf(value)}`;
      }),
    ];
  });
  return lines.map((line) => `${line}\n`).join("");
}

function labelsOf(labels: Readonly<Record<string, string>>): string {
  // Sorted, so that the same labels are the same series in whatever order they were named.
  const pairs = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  const written = pairs.map(([name, value]) => {
    if (!LABEL_NAME.test(name)) throw new Error(`${name} is not a valid label name`);
    return `${name}="${value.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"')}"`;
  });
  return written.length > 0 ? `{${written.join(",")}}` : "";
}

function numberOf(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  if (value === Number.NEGATIVE_INFINITY) return "-Inf";
  return String(value);
}
