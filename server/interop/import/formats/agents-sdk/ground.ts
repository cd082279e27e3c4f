import type { Findings } from "@/server/domain/base/lenient-reader";
import type { Work } from "@/server/domain/base/work-budget";
import type { Place } from "../../code/program";
import type { Drawing } from "../../drawing";
import type { Declarations } from "./declarations";
import type { Evaluator } from "./evaluate";
import type { Members } from "./members";
import type { Trail } from "./trail";

/** What everything that draws a program works with. */
export interface Ground {
  readonly declarations: Declarations;
  readonly work: Work;
  readonly members: Members;
  readonly drawing: Drawing;
  readonly trail: Trail;
  readonly evaluator: Evaluator;
  /** Keys that only a loop writes, which may go round no time at all. */
  readonly maybe: Set<string>;
  /** Findings about a place of the code. */
  readonly findings: (place: Place) => Findings;
  /** The code at a place, at most `most` characters of it. */
  source(place: Place, most?: number): string;
  /** The answers of the agents that stand at these places of the drawing. */
  answersAt(nodes: readonly (string | null)[]): string[][];
}
