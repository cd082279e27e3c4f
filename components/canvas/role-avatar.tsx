/** A role's initials on its colour: the role's own one if it is a plain hex colour, else one derived from its name. */
export function RoleAvatar({
  name,
  color,
  size = 18,
}: {
  name: string;
  color?: string | undefined;
  size?: number;
}) {
  const own = color && /^#[0-9a-f]{6}$/i.test(color) ? color : undefined;
  return (
    <span
      aria-hidden
      className="role-avatar"
      style={{
        width: size,
        height: size,
        fontSize: size * 0.46,
        ["--role-hue" as string]: hueOf(name),
        ...(own ? { ["--role-color" as string]: own } : {}),
      }}
    >
      {initials(name)}
    </span>
  );
}

/** "Code Reviewer" and "CodeReviewer" -> "CR". */
export function initials(name: string): string {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);
  const [first = "?", second] = words;
  return (second ? first.slice(0, 1) + second.slice(0, 1) : first.slice(0, 2)).toUpperCase();
}

/** Spread by the golden angle, so that similar names get distinct colours. */
function hueOf(name: string): number {
  let hash = 7;
  for (const char of name) hash = (hash * 31 + (char.codePointAt(0) ?? 0)) % 9973;
  return Math.round((hash * 137.508) % 360);
}
