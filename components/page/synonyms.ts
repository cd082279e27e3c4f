/** What other products call the things that labels name, so that searches find them by either word. */
const SYNONYMS = new Map(
  Object.entries({
    agent: "assistant bot persona",
    approval: "interrupt confirmation review human in the loop",
    breakpoint: "interrupt stop debug",
    compare: "diff experiment",
    connection: "edge link wire arrow transition",
    connect: "edge link wire arrow",
    crew: "team swarm group multi-agent",
    delete: "remove",
    duplicate: "copy clone",
    end: "output finish return",
    expectation: "assertion check evaluation eval",
    extract: "subflow subgraph move refactor",
    fork: "branch rerun time travel",
    guardrail: "validation check",
    layout: "tidy arrange align",
    map: "loop for each iterate batch fan out",
    memory: "knowledge store",
    node: "step block component action task",
    note: "comment sticky annotation",
    notification: "alert webhook email",
    pause: "interrupt suspend stop",
    pin: "mock freeze fixture data",
    question: "interrupt human in the loop form",
    router: "condition branch if switch",
    run: "execution execute trace job",
    start: "trigger entry input",
    state: "variables context data",
    sub: "subflow subgraph nested call",
    test: "assertion evaluation eval scenario spec",
    tool: "function integration plugin connector",
    wait: "delay sleep timer",
    workflow: "flow graph pipeline automation chatflow",
  }),
);

/** Search words for a label: the synonyms of its words. */
export const synonymsOf = (label: string): string =>
  label
    .toLowerCase()
    .split(/[^a-z]+/)
    .flatMap((word) => SYNONYMS.get(word) ?? SYNONYMS.get(word.replace(/s$/, "")) ?? [])
    .join(" ");
