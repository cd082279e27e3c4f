import { ThumbsDown, ThumbsUp } from "lucide-react";
import { Button } from "@/components/ui/button";

/** Whether an output is good: one of two, which a second click takes back. */
export function LabelChoice({
  good,
  about,
  onLabel,
}: {
  good: boolean | null;
  /** What is labelled, for screen readers. */
  about: string;
  onLabel: (good: boolean | null) => void;
}) {
  const choice = (value: boolean, word: string, icon: React.ReactNode) => (
    <Button
      size="sm"
      icon={icon}
      aria-pressed={good === value}
      variant={good === value ? "primary" : "secondary"}
      onClick={() => onLabel(good === value ? null : value)}
    >
      {word}
    </Button>
  );
  return (
    <fieldset className="flex flex-wrap items-center gap-2">
      <legend className="sr-only">{about}</legend>
      {choice(true, "Good", <ThumbsUp aria-hidden />)}
      {choice(false, "Not good", <ThumbsDown aria-hidden />)}
    </fieldset>
  );
}
