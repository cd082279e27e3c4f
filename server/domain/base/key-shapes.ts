/** What keys look like, whoever they belong to. Each part is bounded and begins with fixed letters. */
export const KEY_SHAPES =
  /\b(?:sk-[\w-]{16,200}|wf_[\w-]{40,60}|gh[pousr]_\w{30,100}|xox[abpr]-[\w-]{10,100}|AIza[\w-]{30,60}|AKIA[A-Z0-9]{16}|hf_\w{30,60})|\bBearer +[\w.~+/-]{16,400}=*/g;

/** Stands where a secret was. */
export const HIDDEN = "[hidden]";
