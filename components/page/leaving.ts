/** Called before leaving the page; calls `go` if the person agrees. */
type LeaveGuard = (go: () => void) => void;

let guard: LeaveGuard | null = null;

/** A page with unsaved changes sets a guard, and removes it after saving. */
export function setLeaveGuard(next: LeaveGuard | null) {
  guard = next;
}

/** Leaves the page, after asking if unsaved changes would be lost. */
export function leaveTo(go: () => void) {
  if (guard) guard(go);
  else go();
}

/** Called after a step back or forward in the history; true keeps the current page. */
type StepGuard = () => boolean;

let stepGuard: StepGuard | null = null;

/** Like setLeaveGuard, for history steps, which have already happened when the guard is called. */
export function setStepGuard(next: StepGuard | null) {
  stepGuard = next;
}

/** Lets the guard handle history steps before the router. Call it before the router starts. */
export function watchSteps() {
  window.addEventListener("popstate", (event) => {
    if (stepGuard?.()) event.stopImmediatePropagation();
  });
}
