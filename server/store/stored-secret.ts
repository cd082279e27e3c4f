interface StoredSecret {
  secret: string | null;
  secretHint: string | null;
}

/**
 * What to store after a person entered a secret: undefined keeps the stored one, null or blank removes it. `before`: the
 * stored one, if it was for the same address: a secret goes to the address that it was entered for, and nowhere else.
 */
export function savedSecret(
  entered: string | null | undefined,
  before: StoredSecret | undefined | false,
  seal: (text: string) => string,
): StoredSecret {
  if (entered === undefined) {
    const { secret = null, secretHint = null } = before || {};
    return { secret, secretHint };
  }
  const text = entered?.trim() || null;
  return { secret: text && seal(text), secretHint: text && hintOf(text) };
}

/** The end of a secret, where it is long enough for that to reveal nothing. */
export const hintOf = (secret: string) => (secret.length >= 12 ? secret.slice(-4) : null);
