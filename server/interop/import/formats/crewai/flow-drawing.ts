import { type Findings, isRaw, type Raw } from "@/server/domain/base/lenient-reader";
import { asTemplate } from "@/server/domain/text/template/template";
import { Drawing } from "../../drawing";
import type { Imported } from "../../format";
import { RoleRegistry } from "../../role-registry";
import type { FlowNames } from "./cel";
import { humanize } from "./crew-config";
import { type Condition, type Method, triggersIn } from "./flow-method";
import { type FlowContext, FlowSteps } from "./flow-steps";
import { textOf } from "./model";

interface OpenEdge {
  from: string;
  label?: string;
}
/** Builds a workflow from a flow: each method becomes a step, each label a route. */
export class FlowDrawing {
  private readonly drawing: Drawing;
  private readonly roleRegistry = new RoleRegistry();
  private readonly declared: Raw;
  /** What the flow's texts read of its state. */
  private readonly reads = new Set<string>();
  private readonly names: FlowNames;
  private readonly steps: FlowSteps;
  private readonly entries = new Map<string, string>();
  /** What comes after a method, and after a label. */
  private readonly after = new Map<string, OpenEdge[]>();
  private readonly written: string[] = [];

  constructor(
    private readonly flow: Raw,
    private readonly methods: readonly Method[],
    private readonly context: FlowContext,
  ) {
    this.drawing = new Drawing(context.name, context.findings);
    this.declared = stateOf(flow, context.report);
    for (const name of Object.keys(this.declared)) this.drawing.keyFor(name, "state");
    this.names = {
      state: (name) => {
        this.reads.add(name);
        return this.drawing.keyFor(name, "state");
      },
      output: (method) => this.drawing.keyFor(method, "output"),
    };
    this.steps = new FlowSteps(this.drawing, this.roleRegistry, this.names, context);
  }

  draw(): Imported {
    const { drawing, methods, flow, context } = this;
    for (const method of methods) this.method(method);
    if (flow.conversational) this.names.state(MESSAGE);
    const start = drawing.start(this.inputs());
    const conversation = flow.conversational ? this.conversation(start) : null;
    for (const method of methods) this.connect(method, start, conversation);
    this.end();
    const calls =
      isRaw(flow.config) && typeof flow.config.max_method_calls === "number"
        ? flow.config.max_method_calls
        : null;
    this.reportUnused(calls);
    const graph = drawing.finish({
      description: textOf(flow.description),
      // Starts, routers and ends are steps here, too.
      ...(calls !== null && calls >= 1
        ? { config: { max_steps: Math.min(5000, Math.round(calls) * 2 + 2) } }
        : {}),
    });
    return { ...this.roleRegistry.imported(context.name), graph };
  }

  private method(method: Method): void {
    const { name, isRouter, feedback, emit } = method;
    const key = this.names.output(name);
    const before = (method.before ?? []).map((one) => this.steps.draw(one, this.names.output(one.name)));
    const id = this.steps.draw(method, key);
    const steps = [...before, id];
    for (const [at, step] of before.entries()) this.drawing.edge(step, steps[at + 1] ?? id);
    this.entries.set(name, steps[0] ?? id);
    this.written.push(key);
    const description = textOf(method.raw.description);
    if (description) this.drawing.change(id, { description: description.slice(0, 4000) });
    let last = id;
    if (feedback) {
      last = this.feedback(method, feedback, key);
      this.drawing.edge(id, last);
    }
    if (isRouter) this.route(method, last, key, emit);
    this.after.set(name, [...(this.after.get(name) ?? []), { from: last }]);
  }

  /** A person is asked about what a method gave: which of its outcomes it is, or what they think of it. */
  private feedback({ name, report, outcomes }: Method, feedback: Raw, key: string): string {
    const answer = this.drawing.keyFor(`${name}_feedback`, "output");
    const context = {
      name: `Feedback on ${humanize(name).toLowerCase()}`,
      input_keys: [key],
      output_keys: [answer],
    };
    const terms = { title: asTemplate(textOf(feedback.message).slice(0, 4000)), body_template: `{{${key}}}` };
    for (const setting of Object.keys(feedback))
      if (!["message", "emit"].includes(setting))
        report.dropped(
          `human_feedback.${setting}`,
          `"${setting}" is not supported: no model reads the answer.`,
        );
    if (outcomes.length === 0)
      return this.drawing.add(`${name}_feedback`, {
        node_type: "user_input",
        ...context,
        config: {
          ...terms,
          schema: {
            type: "object",
            properties: { [answer]: { type: "string", title: "Feedback" } },
            required: [answer],
          },
        },
      });
    report.changed(
      "human_feedback.emit",
      "The person chooses the outcome; in the original, a model inferred it from their answer.",
    );
    const gate = this.drawing.add(`${name}_feedback`, {
      node_type: "approval_gate",
      ...context,
      config: { ...terms, options: [...new Set(outcomes)] },
    });
    this.leave(gate, outcomes);
    return gate;
  }

  /** The router whose routes are the labels of a method. */
  private route({ name, report }: Method, from: string, key: string, labels: readonly string[]): void {
    const known =
      labels.length > 0
        ? labels
        : this.listened().filter((label) => !this.methods.some((one) => one.name === label));
    const router = this.drawing.add(`${name}_route`, {
      node_type: "conditional_router",
      name: `After ${humanize(name).toLowerCase()}`,
      config: { kind: "value", value: `state.${key}` },
    });
    this.drawing.edge(from, router);
    if (labels.length === 0)
      report.info(
        "emit",
        `"${name}" doesn't declare its labels; all labels that have listeners were imported.`,
      );
    this.leave(router, known, labels.length === 0);
  }

  /** What listens to these labels begins here; where nothing does, the run ends. */
  private leave(router: string, labels: readonly string[], isOpen = false): void {
    const listened = this.listened();
    for (const label of new Set(labels))
      this.after.set(label, [...(this.after.get(label) ?? []), { from: router, label }]);
    const unheard = [...new Set(labels)].filter((label) => !listened.includes(label));
    if (unheard.length > 0 || isOpen) this.endings.push({ router, labels: unheard, isOpen });
  }
  private listened(): string[] {
    return this.methods.flatMap(({ start, listen }) => [...triggersIn(start), ...triggersIn(listen)]);
  }
  /** Labels without a listener: the run ends there. */
  private readonly endings: { router: string; labels: string[]; isOpen: boolean }[] = [];

  /** What a run asks for: what the flow's state declares, and what its texts read of it. */
  private inputs() {
    const { declared, reads, drawing, context } = this;
    const more = [...reads].filter(
      (name) => !(name in declared) && name !== "id" && !this.steps.written.has(name),
    );
    for (const name of more)
      context.report.info(
        "state",
        `The flow reads state.${name} without declaring it; the start node asks for it.`,
      );
    const { required } = declaredSchema(this.flow);
    const defaults = isRaw(this.flow.state) && isRaw(this.flow.state.default) ? this.flow.state.default : {};
    return [
      ...Object.entries(declared).map(([name, schema]) => ({
        key: drawing.keyFor(name, "state"),
        title: humanize(name),
        schema: isRaw(schema) ? schema : {},
        ...(defaults[name] === undefined || defaults[name] === null ? {} : { default: defaults[name] }),
        required: required.includes(name) && defaults[name] === undefined,
      })),
      ...more.map((name) => ({
        key: drawing.keyFor(name, "state"),
        title: humanize(name),
        schema: {},
        required: true,
      })),
    ];
  }

  /** A conversational flow reads a message and chooses: here each run is one message. */
  private conversation(start: string): string {
    const { drawing, context, flow } = this;
    const how = isRaw(flow.conversational) ? flow.conversational : {};
    const message = this.names.state(MESSAGE);
    const router = drawing.add("conversation", {
      node_type: "conditional_router",
      name: "What is it about?",
      config: {
        kind: "llm",
        instruction:
          `${asTemplate(textOf(how.system_prompt))}\n\nWhich way does this message ask for?\n\n{{${message}}}`.trim(),
      },
    });
    drawing.edge(start, router);
    context.report.changed(
      "conversational",
      "This flow is a chat. In Troupe, each run answers one message and doesn't see earlier ones.",
      router,
    );
    return router;
  }

  /** Draws what leads to a method. */
  private connect(method: Method, start: string, conversation: string | null): void {
    const { drawing } = this;
    const { name, report, start: begins, listen } = method;
    const target = this.entries.get(name);
    if (target === undefined) return;
    // Where every start waits for something, CrewAI begins with all of them.
    const isEntry = begins === true || (begins !== null && !this.methods.some((one) => one.start === true));
    if (isEntry) drawing.edge(start, target);
    const conditions = [begins === true ? null : begins, listen].flatMap((one) => one ?? []);
    for (const condition of conditions)
      if (isEntry && typeof condition !== "string" && condition.how === "and")
        drawing.edge(this.gather(condition, method, conversation), target);
      else this.lead(condition, target, method, conversation);
    if (begins !== true && conditions.length === 0)
      report.dropped("", `Nothing triggers "${name}", so it never runs. Connect it.`, target);
  }

  /** Leads what a condition waits for to a node, which waits for all of it or for any. */
  private lead(condition: Condition, target: string, method: Method, conversation: string | null): void {
    const { drawing } = this;
    const edges = this.openEdgesOf(condition, method, conversation);
    const isAll = typeof condition !== "string" && condition.how === "and";
    for (const { from, label } of edges) drawing.edge(from, target, { label });
    if (edges.length > 1)
      drawing.change(target, { join: isAll ? { n: edges.length, on_shortfall: "skip" } : "any" });
  }

  private openEdgesOf(condition: Condition, method: Method, conversation: string | null): OpenEdge[] {
    if (typeof condition === "string") return this.edgesAfter(condition, method, conversation);
    return condition.of.flatMap((child) => {
      const edges = this.openEdgesOf(child, method, conversation);
      const isPlain =
        typeof child === "string" ? edges.length < 2 || condition.how === "or" : child.how === condition.how;
      return isPlain ? edges : [{ from: this.gather(child, method, conversation) }];
    });
  }

  /** Adds a separate node for a nested condition. */
  private gather(condition: Condition, method: Method, conversation: string | null): string {
    const id = this.drawing.add(`${method.name}_when`, {
      node_type: "transform",
      name: "Wait",
      config: { set: {} },
    });
    this.lead(condition, id, method, conversation);
    return id;
  }

  private edgesAfter(trigger: string, { report }: Method, conversation: string | null): OpenEdge[] {
    const edges = this.after.get(trigger);
    if (edges) return edges;
    if (conversation !== null) return [{ from: conversation, label: trigger }];
    report.dropped("listen", `Nothing in this flow is named "${trigger}".`);
    return [];
  }

  /** Everything that leads nowhere ends the run, which gives what was written last. */
  private end(): void {
    const { drawing } = this;
    const last = this.methods.flatMap((method) => {
      const from = this.lastOf(method);
      return from !== null && !drawing.leadsOn(from) ? [{ name: method.name, from }] : [];
    });
    const keys = (last.length > 0 ? last : this.methods).map(({ name }) => this.names.output(name));
    const end = drawing.add("end", {
      node_type: "end",
      name: "End",
      ...(keys.length === 1 && this.endings.length === 0
        ? { input_keys: keys }
        : { optional_input_keys: [...new Set(this.endings.length > 0 ? this.written : keys)] }),
    });
    for (const { from } of last) drawing.edge(from, end);
    for (const { router, labels, isOpen } of this.endings) {
      for (const label of labels) drawing.edge(router, end, { label });
      if (isOpen) drawing.edge(router, end, { isDefault: true });
    }
  }

  /** The node that a method ends with; null where a router follows it. */
  private lastOf({ name, isRouter, outcomes }: Method): string | null {
    const edge =
      isRouter || outcomes.length > 0
        ? undefined
        : this.after.get(name)?.find(({ label }) => label === undefined);
    return edge?.from ?? null;
  }

  private reportUnused(calls: number | null): void {
    const { flow, context } = this;
    if (calls !== null)
      context.report.changed(
        "config.max_method_calls",
        `The limit of ${calls} method calls was replaced by a limit on steps, which also counts routers and the start and end nodes.`,
      );
    for (const field of ["persist", "conversational.persist"])
      if (isRaw(flow[field]) && flow[field].enabled !== false)
        context.report.info(field, "Runs are always stored here.");
    if (isRaw(flow.config))
      for (const [field, value] of Object.entries(flow.config))
        if (
          field !== "max_method_calls" &&
          !["tracing", "stream", "suppress_flow_events", "defer_trace_finalization", "checkpoint"].includes(
            field,
          ) &&
          value
        )
          context.report.dropped(`config.${field}`, `"${field}" has no equivalent and was left out.`);
  }
}

/** What a conversational flow keeps the words of the person in. */
const MESSAGE = "current_user_message";

const declaredSchema = (flow: Raw): { properties: Raw; required: string[] } => {
  const schema = isRaw(flow.state) && isRaw(flow.state.json_schema) ? flow.state.json_schema : {};
  return {
    properties: isRaw(schema.properties) ? schema.properties : {},
    required: Array.isArray(schema.required)
      ? schema.required.filter((name) => typeof name === "string")
      : [],
  };
};

/** The state that a flow declares: by name, with a schema of each. */
function stateOf(flow: Raw, report: Findings): Raw {
  if (!isRaw(flow.state)) return {};
  const { properties } = declaredSchema(flow);
  const defaults = isRaw(flow.state.default) ? flow.state.default : {};
  if (flow.state.type === "pydantic" || flow.state.type === "unknown")
    report.changed(
      "state",
      "The state's schema is defined in code and wasn't imported, unlike the rest of the state.",
    );
  const guessed = Object.fromEntries(
    Object.entries(defaults)
      .filter(([name]) => !(name in properties))
      .map(([name, value]) => [name, typeof value === "string" ? { type: "string" } : {}]),
  );
  return { ...properties, ...guessed };
}
