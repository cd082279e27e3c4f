/** Says which tools roles came without; undefined where they have all. */
export function describeLeftOut(
  left_out: readonly { role: string; tools: readonly string[] }[],
): string | undefined {
  if (left_out.length === 0) return undefined;
  const each = left_out.map(({ role, tools }) => `${role} came without ${tools.join(", ")}`);
  return `${each.join("; ")}. What a role may use can be ticked on the Roles page.`;
}
