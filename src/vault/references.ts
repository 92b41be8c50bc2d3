/** Key of an argument that is only a credential: `{ "$credential": "github-pat" }`. */
const KEY = '$credential';
/** A credential within a text argument: `Bearer $credential(github-pat)`. */
export const CREDENTIAL_REFERENCE = /\$credential\(([\w.-]{1,100})\)/g;

/** The names in the arguments of a call, in order. */
export const findCredentialNames = (value: unknown): string[] => {
  if (typeof value === 'string')
    return [...value.matchAll(CREDENTIAL_REFERENCE)].map(([, name = '']) => name);
  const name = parseCredentialArgument(value);
  if (name !== null) return [name];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [
    ...findCredentialNames(key),
    ...findCredentialNames(inner),
  ]);
};

export const parseCredentialArgument = (value: unknown): string | null => {
  if (typeof value !== 'object' || value === null || Object.keys(value).length !== 1) return null;
  const name: unknown = Reflect.get(value, KEY);
  return typeof name === 'string' ? name : null;
};
