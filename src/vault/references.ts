/** The key of a whole argument that names a credential: `{ "$credential": "github-pat" }`. */
const KEY = '$credential';
/** A reference to a credential within a text argument: `Bearer $credential(github-pat)`. */
export const WITHIN = /\$credential\(([\w.-]{1,100})\)/g;

/** Returns the names of the credentials in the arguments of a call, in their order. */
export const credentialsIn = (value: unknown): string[] => {
  if (typeof value === 'string') return [...value.matchAll(WITHIN)].map(([, name = '']) => name);
  const name = wholeName(value);
  if (name !== null) return [name];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [
    ...credentialsIn(key),
    ...credentialsIn(inner),
  ]);
};

export const wholeName = (value: unknown): string | null => {
  if (typeof value !== 'object' || value === null || Object.keys(value).length !== 1) return null;
  const name: unknown = Reflect.get(value, KEY);
  return typeof name === 'string' ? name : null;
};
