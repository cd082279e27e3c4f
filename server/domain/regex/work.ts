import { WorkError } from "@/server/domain/base/work-budget";

/** Counts the steps of one check, so that nothing foreign can hold the thread for long. */
export class Work {
  constructor(private left: number) {}

  /** Throws WorkError where no more steps are left. */
  spend(steps: number): void {
    this.left -= steps;
    if (this.left < 0) throw new WorkError("This would take too much work.");
  }
}
