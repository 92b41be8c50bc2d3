import { normalizePath, scimFault } from './filter.js';

export const USER_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const GROUP_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:Group';

/** Columns of the attributes that a provider sets. `user_name` is not null once it is stored. */
export type UserAttributes = Record<TextColumn, string | null> & { active: number };
type TextColumn = keyof typeof NO_TEXTS;

export interface PatchOperation {
  kind: 'add' | 'replace' | 'remove';
  /** In lower case, without schema and filter. */
  path: string;
  /** Content of the square brackets. Null without them. */
  filter: string | null;
  value: unknown;
}

type JsonObject = Record<string, unknown>;

const MAX_TEXT = 254;
const MAX_OPERATIONS = 1000;
const PATH = /^([^[\]]+)(?:\[(.*)\](\.\w+)?)?$/s;

const NO_TEXTS = {
  user_name: null,
  external_id: null,
  display_name: null,
  given_name: null,
  family_name: null,
  email: null,
};

const TEXTS: Record<string, { name: string; column: TextColumn }> = {
  username: { name: 'userName', column: 'user_name' },
  externalid: { name: 'externalId', column: 'external_id' },
  displayname: { name: 'displayName', column: 'display_name' },
  'name.givenname': { name: 'name.givenName', column: 'given_name' },
  'name.familyname': { name: 'name.familyName', column: 'family_name' },
  'emails.value': { name: 'emails.value', column: 'email' },
};

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Value of an attribute, whose name ignores case (RFC 7643, 2.1). */
export const attributeOf = (body: JsonObject, name: string): unknown =>
  Object.entries(body).find(([key]) => normalizePath(key) === name.toLowerCase())?.[1];

/** Attributes of a whole resource. Missing ones are null; `active` stays. */
export const readUser = (body: JsonObject, active: number): UserAttributes => {
  const user: UserAttributes = { ...NO_TEXTS, active };
  for (const [name, value] of Object.entries(body)) setAttribute(user, normalizePath(name), value);
  return user;
};

/** Operations on unknown attributes have no effect. */
export const patchUser = (user: UserAttributes, operations: PatchOperation[]): UserAttributes => {
  const patched = { ...user };
  for (const { kind, path, filter, value } of operations) {
    // Only one address is kept, of the type `work`.
    if (filter !== null && /"(?:home|other)"/i.test(filter)) continue;
    setAttribute(patched, path, kind === 'remove' ? null : value);
  }
  return patched;
};

const setAttribute = (user: UserAttributes, path: string, value: unknown): void => {
  const text = Object.hasOwn(TEXTS, path) ? TEXTS[path] : undefined;
  if (text) user[text.column] = readTextValue(text.name, value);
  else if (path === 'active') user.active = readActive(value) ?? user.active;
  else if (path === 'emails') user.email = readTextValue('emails', chooseEmail(value));
  else if (path === 'name') {
    if (value === null) Object.assign(user, { given_name: null, family_name: null });
    if (!isJsonObject(value)) return;
    for (const [key, part] of Object.entries(value)) {
      setAttribute(user, `name.${key.toLowerCase()}`, part);
    }
  }
};

export const readTextValue = (name: string, value: unknown): string | null => {
  if (value === null || value === undefined || value === '') return null;
  if (typeof value !== 'string') throw scimFault('invalidValue', `${name} must be a text`);
  if (value.length > MAX_TEXT || /\p{Cc}/u.test(value)) {
    const message = `${name} must have at most ${MAX_TEXT} characters and no control characters`;
    throw scimFault('invalidValue', message);
  }
  return value;
};

/** Entra ID sends `"False"`. */
const readActive = (value: unknown): number | null => {
  if (value === null) return null;
  const text = String(value).toLowerCase();
  if (text === 'true' || text === 'false') return text === 'true' ? 1 : 0;
  throw scimFault('invalidValue', 'active must be true or false');
};

/** The primary address, the one of the type `work`, or the first. */
const chooseEmail = (value: unknown): unknown => {
  const all = (Array.isArray(value) ? value : [value]).filter((each) => each !== null);
  if (!all.every(isJsonObject)) throw scimFault('invalidValue', 'emails must be a list of objects');
  const chosen =
    all.find((each) => String(attributeOf(each, 'primary')).toLowerCase() === 'true') ??
    all.find((each) => String(attributeOf(each, 'type')).toLowerCase() === 'work') ??
    all[0];
  return chosen === undefined ? null : attributeOf(chosen, 'value');
};

/** Operations without a path become one per attribute of their value. */
export const readPatch = (body: JsonObject): PatchOperation[] => {
  const operations = attributeOf(body, 'Operations');
  if (!Array.isArray(operations) || operations.length === 0) {
    throw scimFault('invalidSyntax', 'Operations must be a list of at least one operation');
  }
  if (operations.length > MAX_OPERATIONS) {
    throw scimFault('invalidValue', `Operations must have at most ${MAX_OPERATIONS} items`);
  }
  const all = operations.flatMap(readOperation);
  if (all.length <= MAX_OPERATIONS) return all;
  throw scimFault('invalidValue', `Operations must change at most ${MAX_OPERATIONS} attributes`);
};

const readOperation = (given: unknown): PatchOperation[] => {
  const operation = isJsonObject(given) ? given : {};
  const op = String(attributeOf(operation, 'op')).toLowerCase();
  if (op !== 'add' && op !== 'replace' && op !== 'remove') {
    throw scimFault('invalidSyntax', 'op must be add, replace or remove');
  }
  const value = attributeOf(operation, 'value') ?? null;
  const path = attributeOf(operation, 'path') ?? null;
  if (path !== null) return [{ kind: op, ...readPath(path), value }];
  if (!isJsonObject(value)) {
    const type = op === 'remove' ? 'noTarget' : 'invalidValue';
    throw scimFault(type, 'An operation without a path must have an object as its value');
  }
  return Object.entries(value).map(([key, part]) => ({ kind: op, ...readPath(key), value: part }));
};

const readPath = (path: unknown): Pick<PatchOperation, 'path' | 'filter'> => {
  const found = typeof path === 'string' ? PATH.exec(path.trim()) : null;
  if (!found) throw scimFault('invalidPath', 'path must be the name of an attribute');
  const [, name = '', filter = null, rest = ''] = found;
  return { path: normalizePath(name + rest), filter };
};

/** Keeps `schemas` and `id`, and applies `attributes` and `excludedAttributes` (RFC 7644, 3.9). */
export const projectAttributes = (
  resource: object,
  { attributes, excludedAttributes }: { attributes?: string; excludedAttributes?: string },
): JsonObject => {
  const wanted = attributes ? listNames(attributes) : null;
  const unwanted = listNames(excludedAttributes ?? '');
  const kept = Object.entries(resource).filter(([key]) => {
    const name = key.toLowerCase();
    if (name === 'schemas' || name === 'id') return true;
    return wanted ? wanted.has(name) : !unwanted.has(name);
  });
  return Object.fromEntries(kept);
};

export const isRequested = (
  name: string,
  query: { attributes?: string; excludedAttributes?: string },
): boolean => name in projectAttributes({ [name]: true }, query);

const listNames = (text: string): Set<string> =>
  new Set(text.split(',').map((path) => normalizePath(path.trim()).replace(/[.[].*$/s, '')));
