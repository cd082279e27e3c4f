import clsx from "clsx";
import { TriangleAlert, Wrench } from "lucide-react";
import { useDialog } from "@/components/ui/overlay/use-dialog";
import { PageLink } from "@/components/ui/page-link";
import { calledBy } from "@/server/domain/nodes";
import type { Fix } from "@/server/domain/problems/problems";
import { errorHref } from "@/server/domain/text/doc-links";
import { useEditorCommands } from "./commands";
import { MoveToSecret } from "./dialogs/move-to-secret";
import { useEditor } from "./editing/editor-store";
import { useAllow } from "./use-grants";
import type { ShownProblem } from "./use-problems";

/** What to do about a problem: apply its fix, dismiss the advice, read about it. */
export function ProblemActions({
  problem: { code, fix, dismiss, at },
  className,
}: {
  problem: ShownProblem;
  className?: string | undefined;
}) {
  const commands = useEditorCommands();
  const { change } = useAllow();
  const called = useEditor(({ doc }) => {
    const node = code === "E_WORKFLOW_PROBLEMS" ? doc.graph.nodes[at.id ?? ""] : undefined;
    return node && calledBy(node);
  });
  // A grant belongs to this installation, not to the workflow, so undo doesn't cover it.
  const repair = (one: Fix) => {
    if (one.kind === "move_to_secret") move.open();
    else if (one.kind === "allow") change({ allow: [one.key] });
    else void commands.fix(one);
  };
  const move = useDialog((close) =>
    fix?.kind === "move_to_secret" ? <MoveToSecret fix={fix} onClose={close} /> : null,
  );
  return (
    <div className={clsx("flex flex-wrap items-center gap-1", className)}>
      {fix ? (
        <button
          type="button"
          onClick={() => repair(fix)}
          className="inline-flex items-center gap-1.5 rounded-md border border-line px-2 py-0.5 text-xs hover:border-line-strong hover:bg-sunken pointer-coarse:py-2"
        >
          <Wrench aria-hidden className="size-3" />
          {fix.label}
        </button>
      ) : null}
      {dismiss ? (
        <button
          type="button"
          onClick={() => repair(dismiss)}
          className="rounded-md px-2 py-0.5 text-xs text-ink-2 hover:bg-sunken hover:text-ink pointer-coarse:py-2"
        >
          {dismiss.label}
        </button>
      ) : null}
      {called ? (
        <PageLink
          href={`/workflows/${called}`}
          className="rounded-md border border-line px-2 py-0.5 text-xs hover:border-line-strong hover:bg-sunken pointer-coarse:py-2"
        >
          Open workflow
        </PageLink>
      ) : null}
      <PageLink
        href={errorHref(code)}
        target="_blank"
        aria-label={`About ${code} (new tab)`}
        className="rounded-md px-2 py-0.5 text-xs text-ink-3 hover:bg-sunken hover:text-ink pointer-coarse:py-2"
      >
        Learn more
      </PageLink>
      {move.dialog}
    </div>
  );
}

/** Advice at a field, quieter than an error, with its actions. */
export function FieldWarnings({ problems }: { problems: readonly ShownProblem[] }) {
  return problems.map((problem) => (
    <div
      key={`${problem.code} ${problem.message}`}
      className="my-1.5 flex gap-2 rounded-lg border border-waiting/35 bg-waiting/8 px-2.5 py-2 text-[13px]"
    >
      <TriangleAlert aria-label="Warning" className="mt-0.5 size-4 shrink-0 text-waiting" />
      <div className="flex min-w-0 flex-col gap-1.5">
        <p className="[overflow-wrap:anywhere]">{problem.message}</p>
        <ProblemActions problem={problem} className="-ml-0.5" />
      </div>
    </div>
  ));
}
