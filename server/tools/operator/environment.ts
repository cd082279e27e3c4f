/**
 * The environment of a program of the operator's: what is given, with a folder of its own as its home, and nothing of ours.
 */
export function environmentIn(folder: string, given: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const environment: Record<string, string> = { ...given, HOME: folder, TMPDIR: folder };
  // Next's types ask for NODE_ENV in every environment; this one holds only what is given.
  return environment as NodeJS.ProcessEnv;
}
