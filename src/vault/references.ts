/** Key of an argument that is only a credential: `{ "$credential": "github-pat" }`. */
const KEY = '$credential';
/** A credential within a text argument: `Bearer $credential(github-pat)`. */
export const WITHIN = /\$credential\(([\w.-]{1,100})\)/g;

/** The names in the arguments of a call, in order. */
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
