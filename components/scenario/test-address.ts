/** The address at which a test stands open; null: a new one. */
export const testAddress = (workflowId: string, testId: string | null): string =>
  `/workflows/${workflowId}/tests?${testId === null ? "new" : `test=${encodeURIComponent(testId)}`}`;
