import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type Joi from 'joi';
import type { Schema } from '../../src/kernel/contract/schema.js';
import { startApp, type TestApp } from '../harness/app.js';
import { BAD_BODIES, faultOf, sendBody } from './badbodies.js';
import { type Route, writes } from './routes.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

describe('every write', () => {
  let app: TestApp;
  let token: string;
  const send = (route: Route, body: string | undefined) => sendBody(app, token, route, body);

  before(async () => {
    app = await startApp({
      config: { registration: 'closed', adminUsername: 'ada', adminPassword: 'a good password' },
    });
    const login = { username: 'ada', password: 'a good password' };
    token = (await app.call('POST', '/api/auth/login', { body: login })).body.token;
  });

  after(() => app.stop());

  for (const [what, body] of Object.entries(BAD_BODIES)) {
    it(`survives ${what}`, async () => {
      const wrong: (string | null)[] = [];
      for (const route of writes.filter(({ name }) => !name.endsWith('/logout'))) {
        wrong.push(faultOf(route, body, await send(route, body)));
      }
      expect(wrong.filter((fault) => fault !== null)).to.equal([]);
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
