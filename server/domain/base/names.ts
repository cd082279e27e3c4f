/** Words that name something on every object's prototype; as keys they are how prototype pollution begins. */
const FORBIDDEN = new Set(["__proto__", "prototype", "constructor"]);

/** Whether a word may not name anything. */
export const isReserved = (name: string): boolean => FORBIDDEN.has(name);

/** How a key of the run's state is written. */
export const STATE_KEY = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

/** Whether this can be a key of the run's state. */
export const isStateKey = (name: string): boolean => STATE_KEY.test(name) && !isReserved(name);

/** Signs that turn the direction of the text around them, so that a name reads otherwise than it is written; and controls, such as BEL and ESC. */
const TURNS_TEXT = /[\u202a-\u202e\u2066-\u2069]|(?![\n\t])\p{Cc}/gu;
const HALF_CHARACTER = /\p{Surrogate}/gu;

/** A name as everybody reads it: without signs that turn text around or control a terminal, and well-formed. */
export const plainName = (name: string): string =>
  name.replace(TURNS_TEXT, "").replace(HALF_CHARACTER, "\ufffd");
