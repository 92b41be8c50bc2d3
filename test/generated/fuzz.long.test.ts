import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startApp } from '../harness/app.js';
import { openForSuite } from '../harness/suite.js';
import { limitMs, watchLoop } from './block.js';
import { fuzz } from './fuzzer.js';

export const lab = Lab.script();
const { describe, it } = lab;

const COUNT = 3000;
/** The fuzzer and the checks of all replies share the loop here; by itself it is 50 (G16). */
const MAX_TURN_MS = 150;

describe('odd requests', () => {
  const app = openForSuite(lab, startApp);

  it('get no 5xx and hold nobody up', async () => {
    const { token } = await app.register('ada');
    const other = await app.register('bob');
    const loop = watchLoop();
    const tokens = [token, other.token];
    const report = await fuzz({ url: app.url, tokens, count: COUNT, seed: 20_260_301 });
    const { turnMs } = loop.stop();
    expect(report.failures).to.equal([]);
    expect(Object.keys(report.statuses)).to.include(['200', '201', '400', '401', '404', '415']);
    expect(turnMs).to.be.below(limitMs(MAX_TURN_MS));
    expect((await app.call('GET', '/health/ready')).body).to.equal({
      status: 'ready',
      failing: [],
    });
  });
});
