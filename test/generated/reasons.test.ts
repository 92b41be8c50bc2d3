import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { Description } from 'joi';
import { startApp } from '../harness/app.js';
import { openForSuite } from '../harness/suite.js';
import { fill, NOBODYS, writes } from './routes.js';

export const lab = Lab.script();
const { describe, it } = lab;

const asking = writes.filter(({ endpoint: { body } }) => {
  const { keys = {} }: Description = body?.describe() ?? {};
  return 'reason' in keys;
});

describe('a reason', () => {
  const app = openForSuite(lab, startApp);

  it('of blanks is refused wherever one is taken', async () => {
    const { token } = await app.register('ada');
    const answers: string[] = [];
    for (const { name, endpoint } of asking) {
      const path = fill(endpoint.path, () => NOBODYS);
      const ask = { token, body: { reason: ' \u200b ' } };
      const { status, body } = await app.call(endpoint.method, path, ask);
      const paths: string[] = body.details?.map(({ path }: { path: string }) => path) ?? [];
      answers.push(`${name}: ${status} ${paths.filter((path) => path === 'reason')}`);
    }
    expect(asking.length > 2).to.be.true();
    expect(answers).to.equal(asking.map(({ name }) => `${name}: 400 reason`));
  });
});
