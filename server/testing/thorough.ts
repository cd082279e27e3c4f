/**
 * How large a test that only gets surer by size is to be: small enough for every change, or, under `npm test -- thorough`,
 * as large as somebody has the patience for. The promise is the same either way.
 */
export const sized = (usual: number, thorough: number): number =>
  process.env.TROUPE_THOROUGH ? thorough : usual;
