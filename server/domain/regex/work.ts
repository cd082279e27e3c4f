/** Thrown where a check would take more work than it may. */
export class TooMuchWork extends Error {
  override name = "TooMuchWork";
}

/** Counts the steps of one check, so that nothing foreign can hold the thread for long. */
export class Work {
  private readonly kept = new Map<object, unknown>();

  constructor(private left: number) {}

  /** Throws TooMuchWork where no more steps are left. */
  spend(steps: number): void {
    this.left -= steps;
    if (this.left < 0) throw new TooMuchWork("This would take too much work.");
  }

  /** What was made for an object before in this check, else made now. It goes when the check ends. */
  once<T>(key: object, make: () => T): T {
    const known = this.kept.get(key) as T | undefined;
    if (known !== undefined) return known;
    const made = make();
    this.kept.set(key, made);
    return made;
  }
}
