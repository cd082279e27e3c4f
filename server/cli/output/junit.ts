import type { SuiteReport, TestReport } from "@/server/domain/scenario/report";

/** A report as JUnit XML. `took`: seconds by test id. */
export function junitOf(
  { workflow, tests, failed, not_run }: SuiteReport,
  took: ReadonlyMap<string, number>,
): string {
  const time = (seconds: number) => seconds.toFixed(3);
  const total = tests.reduce((sum, { test_id }) => sum + (took.get(test_id) ?? 0), 0);
  const cases = tests.map((test) => {
    const head = `<testcase name="${attribute(test.name)}" classname="${attribute(workflow)}" time="${time(took.get(test.test_id) ?? 0)}"`;
    const body = bodyOf(test);
    return body === "" ? `    ${head}/>` : `    ${head}>\n${body}\n    </testcase>`;
  });
  const counts = `tests="${tests.length}" failures="${failed}" errors="${not_run}" time="${time(total)}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite name="${attribute(workflow)}" ${counts}>`,
    ...cases,
    "  </testsuite>",
    "</testsuites>",
    "",
  ].join("\n");
}

function bodyOf({ status, sentence, results, problems }: TestReport): string {
  if (status === "passed") return "";
  const lines =
    status === "not_run"
      ? problems
      : results.flatMap((result) => (result.status === "failed" ? [placed(result)] : []));
  const word = status === "not_run" ? "error" : "failure";
  return `      <${word} message="${attribute(sentence)}">${escaped(lines.join("\n"))}</${word}>`;
}

const placed = ({ sentence, node_id, seq }: TestReport["results"][number]): string => {
  const place = [node_id === undefined ? "" : `node ${node_id}`, seq === undefined ? "" : `event ${seq}`];
  const at = place.filter(Boolean).join(", ");
  return at === "" ? sentence : `${sentence} (${at})`;
};

/** Characters that XML does not allow are replaced. */
const allowed = (text: string): string =>
  text.toWellFormed().replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd");

const escaped = (text: string): string =>
  allowed(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const attribute = (text: string): string =>
  escaped(text)
    .replaceAll('"', "&quot;")
    .replaceAll("\n", "&#10;")
    .replaceAll("\r", "&#13;")
    .replaceAll("\t", "&#9;");
