import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type Joi from 'joi';
import type { Schema } from '../../src/kernel/contract/schema.js';
import { startApp, type TestApp } from '../harness/app.js';
import { fill, NOBODYS, type Route, writes } from './routes.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const manyKeys = `{${Array.from({ length: 100_000 }, (_, n) => `"${n.toString(36)}":1`).join(',')}}`;

/** Bodies as they go over the wire; undefined is none at all. */
const BAD_BODIES: Record<string, string | undefined> = {
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

describe('every write', { timeout: 120_000 }, () => {
  let app: TestApp;
  let token: string;
  const send = ({ endpoint }: Route, body: string | undefined) =>
    app.call(
      endpoint.method,
      fill(endpoint.path, () => NOBODYS),
      {
        ...(endpoint.access !== 'public' && { token }),
        ...(body !== undefined && { body }),
      },
    );

  before(async () => {
    app = await startApp({
      config: { registration: 'closed', adminUsername: 'ada', adminPassword: 'a good password' },
    });
    const login = { username: 'ada', password: 'a good password' };
    token = (await app.call('POST', '/api/auth/login', { body: login })).body.token;
  });

  after(() => app.stop());

  for (const [what, body] of Object.entries(BAD_BODIES)) {
    it(`survives ${what}`, { timeout: 120_000 }, async () => {
      const wrong: string[] = [];
      for (const route of writes.filter(({ name }) => !name.endsWith('/logout'))) {
        const reply = await send(route, body);
        const isFitting = !isRefused(route, body);
        const isRight = isFitting ? reply.status < 500 : reply.status === 400;
        if (!isRight) wrong.push(`${route.name}: ${reply.status} ${reply.text.slice(0, 200)}`);
        if (reply.text.length > 10_000)
          wrong.push(`${route.name}: ${reply.text.length} characters`);
      }
      expect(wrong).to.equal([]);
    });
  }

  it('names the field whose type is wrong, for every documented field', async () => {
    const wrong: string[] = [];
    for (const route of writes) {
      for (const { path, body } of wrongTypes(route.endpoint.body)) {
        const reply = await send(route, JSON.stringify(body));
        const named = (reply.body?.details ?? []).map((detail: { path: string }) => detail.path);
        const isNamed = named.some((one: string) => one === path || one.startsWith(`${path}.`));
        if (reply.status !== 400 || !isNamed) wrong.push(`${route.name} ${path}: ${reply.text}`);
      }
    }
    expect(wrong).to.equal([]);
  });
});

/** Bodies are as large as a megabyte, and each is sent to every route: it is read once. */
const readBodies = new Map<string, unknown>();

/** The value of a body; undefined is one that every route refuses. */
const bodyValue = (body: string): unknown => {
  if (!readBodies.has(body)) readBodies.set(body, isHuge(body) ? undefined : parse(body));
  return readBodies.get(body);
};

/** Whether the contract refuses the body. */
const isRefused = ({ endpoint }: Route, body: string | undefined): boolean => {
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

interface Wrong {
  path: string;
  body: unknown;
}

/** One body for every field, at any depth, that has a value there of a type it cannot have. */
const wrongTypes = (schema: Schema | undefined): Wrong[] => {
  if (!schema) return [];
  return fieldsOf(schema.describe()).map(({ path, value }) => ({
    path: path.join('.'),
    body: path.reduceRight<unknown>(
      (inner, key) => (key === '0' ? [inner] : { [key]: inner }),
      value,
    ),
  }));
};

interface Field {
  path: string[];
  value: unknown;
}

const fieldsOf = (of: Joi.Description, path: string[] = []): Field[] => {
  const keys = Object.entries<Joi.Description>(of.keys ?? {});
  const [item]: Joi.Description[] = of.items ?? [];
  const own = path.length > 0 && of.type !== 'any' ? [{ path, value: badValueOf(of) }] : [];
  return [
    ...own,
    ...keys.flatMap(([key, inner]) => fieldsOf(inner, [...path, key])),
    ...(item ? fieldsOf(item, [...path, '0']) : []),
  ];
};

const badValueOf = ({ type }: Joi.Description): unknown =>
  type === 'object' || type === 'array' ? 5 : { not: 'this' };
