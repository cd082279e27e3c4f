import { isRaw, join, type Raw } from "@/server/domain/base/lenient-reader";

const SECRET =
  /api[-_]?key|secret|password|passwd|authorization|credential|(^|[-_])(auth|access|bearer|refresh)?[-_]?token$/i;

/** Where settings of model calls carry what looks like a secret: in the fields that are passed on as they are. */
export function secretPlaces(value: unknown, at = "", isPassedOn = false): string[] {
  if (Array.isArray(value))
    return value.flatMap((item, position) => secretPlaces(item, join(at, position), isPassedOn));
  if (!isRaw(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    if (isPassedOn && SECRET.test(key)) return [join(at, key)];
    return secretPlaces(inner, join(at, key), isPassedOn || key === "extra_body");
  });
}

/** A value without what looks like a secret in the fields that are passed on to providers as they are. */
export function withoutSecrets(value: unknown, isPassedOn = false): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, isPassedOn));
  return isRaw(value) ? fieldsWithoutSecrets(value, isPassedOn) : value;
}

/** The same of an object. */
export const fieldsWithoutSecrets = (value: Raw, isPassedOn = false): Raw =>
  Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !(isPassedOn && SECRET.test(key)))
      .map(([key, inner]) => [key, withoutSecrets(inner, isPassedOn || key === "extra_body")]),
  );
