import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startApp } from '../harness/app.js';
import { BAD_BODIES, faultOf, sendBody } from './badbodies.js';
import { writes } from './routes.js';

export const lab = Lab.script();
const { describe, it } = lab;

const LARGE = ['100,000 keys', '500,000 values', '5,000 levels'];
const PER_ROUTE = 3;

describe('every write', () => {
  it('refuses a bad body with 400, three kinds for each endpoint in turn', async () => {
    const app = await startApp();
    const { token } = await app.register('ada');
    const kinds = Object.keys(BAD_BODIES).filter((kind) => !LARGE.includes(kind));
    const wrong: string[] = [];
    for (const [at, route] of writes.filter(({ name }) => !name.endsWith('/logout')).entries()) {
      for (let n = 0; n < PER_ROUTE; n++) {
        const kind = kinds[(at * PER_ROUTE + n) % kinds.length] ?? '';
        const body = BAD_BODIES[kind];
        const fault = faultOf(route, body, await sendBody(app, token, route, body));
        if (fault !== null) wrong.push(`${kind}: ${fault}`);
      }
    }
    await app.stop();
    expect(wrong).to.equal([]);
  });
});
