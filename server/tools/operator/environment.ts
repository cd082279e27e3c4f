/** The environment of an operator's program: the given variables and a home folder of its own, none of Troupe's. */
export function environmentIn(folder: string, given: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const environment: Record<string, string> = { ...given, HOME: folder, TMPDIR: folder };
  // Next's types require NODE_ENV in every environment; this one has only the given variables.
  return environment as NodeJS.ProcessEnv;
}
