import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { Description } from 'joi';
import type { Schema } from '../../src/kernel/contract/schema.js';
import { startApp } from '../harness/app.js';
import { openForSuite } from '../harness/suite.js';
import { fill, NOBODYS, type Route, routes } from './routes.js';

export const lab = Lab.script();
const { describe, it } = lab;

/** Fields of replies that hold a secret in clear, by what they are called. */
const SECRET = /(secret|token|password|ticket|passphrase|otpauthUrl|qrSvg|recoveryCodes)$/i;
/** The names of all texts in a reply, however deep. */
const textsIn = (
  name: string,
  { type, keys = {}, items = [], matches = [] }: Description,
): string[] => {
  if (type === 'string') return [name];
  const below = Object.entries<Description>(keys).flatMap(([key, of]) => textsIn(key, of));
  const within = items.flatMap((item: Description) => textsIn(name, item));
  const either = matches.flatMap(({ schema }: { schema?: Description }) =>
    schema ? textsIn(name, schema) : [],
  );
  return [...below, ...within, ...either];
};

const repliesOf = ({ endpoint: { reply, otherReplies: answers = {} } }: Route): Schema[] =>
  [reply, ...Object.values(answers)].filter((schema) => schema !== undefined);

const secretsOf = (route: Route): string[] =>
  repliesOf(route)
    .flatMap((schema) => textsIn('', schema.describe()))
    .filter((name) => SECRET.test(name))
    .map((name) => `${route.name}: ${name}`);

describe('an endpoint whose reply holds a secret', () => {
  const app = openForSuite(lab, startApp);

  it('is marked as such', () => {
    const unmarked = routes.filter(({ endpoint }) => !endpoint.secret).flatMap(secretsOf);
    expect(unmarked).to.equal([]);
  });

  it('is stored by nobody on the way, its refusals too', async () => {
    const { token } = await app.register('ada');
    const marked = routes.filter(({ endpoint }) => endpoint.secret);
    const answers: Record<string, string | undefined> = {};
    for (const { name, endpoint } of marked) {
      const path = fill(endpoint.path, () => NOBODYS);
      const body = endpoint.method === 'GET' ? undefined : {};
      const { headers } = await app.call(endpoint.method, path, { token, body });
      answers[name] = headers['cache-control'];
    }
    const wanted = marked.map(({ name }): [string, string] => [name, 'no-store']);
    expect(answers).to.equal(Object.fromEntries(wanted));
  });

  it('says so with the secret itself', async () => {
    const { token } = await app.register('bob');
    const made = await app.call('POST', '/api/auth/tokens', { token, body: { name: 'ci' } });
    expect([made.status, made.headers['cache-control']]).to.equal([201, 'no-store']);
    const read = await app.call('GET', '/api/auth/tokens', { token });
    expect([read.status, read.headers['cache-control']]).to.equal([200, 'no-cache']);
  });
});
