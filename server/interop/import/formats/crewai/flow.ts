import { type Findings, isRaw, type Raw } from "@/server/domain/base/lenient-reader";
import { type Claim, nothingImported, type ReadableFormat } from "../../format";
import type { Source } from "../../source";
import { FlowDrawing } from "./flow-drawing";
import { type Condition, type Method, triggersIn } from "./flow-method";
import { textOf } from "./model";

const isFlow = (value: unknown): value is Raw & { methods: Raw } =>
  isRaw(value) &&
  isRaw(value.methods) &&
  (typeof value.schema === "string" ? value.schema.startsWith("crewai.flow/") : areMethods(value.methods));

const areMethods = (methods: Raw): boolean => {
  const all = Object.values(methods);
  return all.length > 0 && all.every((one) => isRaw(one) && isRaw(one.do) && typeof one.do.call === "string");
};

/** CrewAI's declarative flows. */
export const crewaiFlow: ReadableFormat = {
  id: "crewai-flow",
  label: "a CrewAI flow (crewai.flow/v1)",
  recognise: (sources) =>
    sources.flatMap((source): Claim[] =>
      isFlow(source.value)
        ? [
            {
              sure: source.value.schema === undefined ? 2 : 3,
              files: [source],
              title: textOf(source.value.name) || source.path,
            },
          ]
        : [],
    ),
  read({ claim, all, findings }) {
    const [source] = claim.files;
    if (!source || !isFlow(source.value)) return nothingImported();
    const { value } = source;
    const report = source.on(findings);
    if (value.schema !== undefined && value.schema !== "crewai.flow/v1")
      report.changed(
        "schema",
        `The file has version ${JSON.stringify(value.schema)}; it was read as crewai.flow/v1.`,
      );
    const methods = readMethods(value.methods, report);
    checkMethods(methods, value, report);
    const name = textOf(value.name) || "Flow";
    if (findings.hasError()) return nothingImported(name);
    return new FlowDrawing(value, methods, {
      name,
      report,
      findings,
      load: (path) => declaredIn(path, source, all),
    }).draw();
  },
};

function readMethods(methods: Raw, report: Findings): Method[] {
  return Object.entries(methods).flatMap(([name, raw]): Method[] => {
    const place = report.under(`methods.${name}`);
    if (!/^[A-Za-z_]\w*$/.test(name)) {
      place.error("", `Invalid method name "${name.slice(0, 80)}". Use only letters, digits and _.`);
      return [];
    }
    if (!isRaw(raw) || !isRaw(raw.do)) {
      place.error("", `The method "${name}" has no action.`);
      return [];
    }
    const feedback = isRaw(raw.human_feedback) ? raw.human_feedback : null;
    const outcomes = feedback ? textsIn(feedback.emit) : [];
    return [
      {
        name,
        raw,
        action: raw.do,
        report: place,
        start: raw.start === true ? true : conditionOf(raw.start, place, "start"),
        listen: conditionOf(raw.listen, place, "listen"),
        isRouter: raw.router === true && outcomes.length === 0,
        emit: textsIn(raw.emit),
        feedback,
        outcomes,
      },
    ];
  });
}

const textsIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === "string" && one !== "") : [];

/** `name`, {or: [...]} or {and: [...]}, one in the other. */
function conditionOf(value: unknown, report: Findings, at: string): Condition | null {
  if (value === undefined || value === null || value === false || value === "") return null;
  if (typeof value === "string") return value;
  if (isRaw(value))
    for (const how of ["and", "or"] as const) {
      const children = value[how];
      if (Array.isArray(children) && children.length > 0)
        return { how, of: children.flatMap((child) => conditionOf(child, report, at) ?? []) };
    }
  report.dropped(at, "Skipped: not a trigger.");
  return null;
}

/** Refuses what CrewAI refuses. */
function checkMethods(methods: readonly Method[], flow: Raw, report: Findings): void {
  for (const { name, listen, report: place } of methods)
    if (triggersIn(listen).includes(name)) place.error("listen", `"${name}" listens to itself.`);
  const begins = methods.some(({ start }) => start !== null);
  if (methods.length > 0 && !begins && !isRaw(flow.conversational) && flow.conversational !== true)
    report.error("methods", 'This flow has no start method. Set "start: true" on one.');
  if (methods.length === 0 && !report.hasError()) report.error("methods", "This flow has no methods.");
}

/** The crew that a path of the flow names, among the files of the import; nothing else is looked at. */
function declaredIn(path: string, flow: Source, all: readonly Source[]): Source | undefined {
  const plain = path.replace(/^\.\//, "").replace(/\/$/, "");
  const tries = [plain, ...["crew.jsonc", "crew.json"].map((file) => `${plain}/${file}`)];
  return tries.flatMap((one) => all.find((source) => source.path === `${flow.folder}${one}`) ?? [])[0];
}
