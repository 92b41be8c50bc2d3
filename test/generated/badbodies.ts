import type { Reply, TestApp } from '../harness/app.js';
import { fill, NOBODYS, type Route } from './routes.js';

const manyKeys = `{${Array.from({ length: 100_000 }, (_, n) => `"${n.toString(36)}":1`).join(',')}}`;

/** Request bodies as text; undefined: no body. */
export const BAD_BODIES: Record<string, string | undefined> = {
  'no body': undefined,
  null: 'null',
  'an empty list': '[]',
  text: '"x"',
  'a number': '5',
  'an empty object': '{}',
  'no JSON': '{"a":',
  '100,000 keys': manyKeys,
  '500,000 values': `[${'1,'.repeat(500_000)}1]`,
  '65 levels': `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`,
  '5,000 levels': `${'['.repeat(5000)}${']'.repeat(5000)}`,
  'the prototype': '{"__proto__":{"role":"admin"}}',
  'a constructor': '{"constructor":{"prototype":{"role":"admin"}}}',
  'keys of every object': '{"toString":1,"hasOwnProperty":1,"valueOf":1}',
  rights: '{"role":"admin","userId":"user_1","ownerId":"user_1","permissions":["*"]}',
};

export const sendBody = (
  app: TestApp,
  token: string,
  { endpoint }: Route,
  body: string | undefined,
): Promise<Reply> =>
  app.call(
    endpoint.method,
    fill(endpoint.path, () => NOBODYS),
    {
      ...(endpoint.access !== 'public' && { token }),
      ...(body !== undefined && { body }),
    },
  );

/** What is wrong with the reply: 400 if the contract refuses the body, never 5xx, and short. */
export const faultOf = (route: Route, body: string | undefined, reply: Reply): string | null => {
  const isRight = isRefused(route, body) ? reply.status === 400 : reply.status < 500;
  if (!isRight) return `${route.name}: ${reply.status} ${reply.text.slice(0, 200)}`;
  return reply.text.length > 10_000 ? `${route.name}: ${reply.text.length} characters` : null;
};

/** Bodies are as large as a megabyte, and each is sent to every route: it is read once. */
const readBodies = new Map<string, unknown>();

/** The value of a body; undefined is one that every route refuses. */
const bodyValue = (body: string): unknown => {
  if (!readBodies.has(body)) readBodies.set(body, isHuge(body) ? undefined : parse(body));
  return readBodies.get(body);
};

/** Whether the contract refuses the body. */
const isRefused = ({ endpoint }: Route, body: string | undefined): boolean => {
  // SCIM ignores unknown attributes, also one of this name.
  if (endpoint.scim && body?.includes('"constructor"')) return false;
  const value = bodyValue(body ?? 'null');
  if (value === undefined) return true;
  if (!endpoint.body) return value !== null && JSON.stringify(value) !== '{}';
  return endpoint.body.validate(value).error !== undefined;
};

/** Over 64 deep, or over 20,000 values. */
const isHuge = (body: string): boolean =>
  /^(\[|\{"a":){65}/.test(body) || body.split(',').length > 20_000;

const parse = (body: string): unknown => {
  if (/__proto__|"constructor"/.test(body)) return undefined;
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
};
