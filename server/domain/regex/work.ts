/** Thrown where a check would take more work than it may. */
export class TooMuchWork extends Error {
  override name = "TooMuchWork";
}

/** Counts the steps of one check, so that nothing foreign can hold the thread for long. */
export class Work {
  constructor(private left: number) {}

  /** Throws TooMuchWork where no more steps are left. */
  spend(steps: number): void {
    this.left -= steps;
    if (this.left < 0) throw new TooMuchWork("This would take too much work.");
  }
}
