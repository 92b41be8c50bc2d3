import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startApp, type TestApp } from '../harness/app.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

/** An object of so many keys. */
const keys = (count: number): string =>
  `{${Array.from({ length: count }, (_, at) => `"k${at}":1`).join(',')}}`;

describe('large JSON', () => {
  let app: TestApp;
  let token: string;
  const post = (body: string) => app.call('POST', '/api/hooks', { token, body });

  before(async () => {
    app = await startApp();
    token = (await app.register('ada')).token;
    await post(keys(1));
  });

  after(() => app.stop());

  it('is refused by what it says, and by how much', async () => {
    const many = await post(keys(80_000));
    expect([many.status, many.body.message]).to.equal([400, 'The JSON has more than 20000 values']);
    const broken = await post(`${keys(19_000).slice(0, -1)},"__proto__":1}`);
    expect([broken.status, broken.body.message]).to.equal([
      400,
      'Invalid request payload JSON format',
    ]);
  });

  it('is checked up to its first error', async () => {
    const reply = await post(keys(19_000));
    expect([reply.status, reply.body.details.length]).to.equal([400, 1]);
  });

  it('gets 20 details at most', async () => {
    const reply = await post(keys(900));
    expect([reply.status, reply.body.details.length]).to.equal([400, 20]);
  });
});
