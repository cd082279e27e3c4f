interface Piece {
  kind: "same" | "removed" | "added";
  text: string;
}

/** A text whose deletions are struck out and whose insertions are highlighted. */
export const WordPieces = ({ pieces }: { pieces: readonly Piece[] }) => (
  <p className="max-h-80 overflow-y-auto whitespace-pre-wrap rounded-lg border border-line bg-raised px-3 py-2 text-[13px] leading-5 [overflow-wrap:anywhere]">
    {pieces.map(({ kind, text }, at) => {
      const key = `${at} ${kind}`;
      if (kind === "removed")
        return (
          <del
            key={key}
            className="rounded-xs bg-failed/12 text-[color-mix(in_oklch,var(--failed)_75%,var(--ink))] decoration-1"
          >
            {text}
          </del>
        );
      if (kind === "added")
        return (
          <ins
            key={key}
            className="rounded-xs bg-completed/15 text-[color-mix(in_oklch,var(--completed)_70%,var(--ink))] no-underline [del+&]:ml-0.5"
          >
            {text}
          </ins>
        );
      return <span key={key}>{text}</span>;
    })}
  </p>
);
