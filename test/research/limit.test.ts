import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { frozenClock, startApp, until, untilMatches } from '../harness/app.js';
import { hangs } from '../harness/openai.js';
import { researchConfig, startResearcher, startWeb } from '../harness/web.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('a research job whose model does not reply', () => {
  it('ends at its time limit, and quotes what it has', async () => {
    const clock = frozenClock();
    const web = await startWeb([]);
    const model = await startResearcher(() => hangs);
    const app = await startApp({ clock, config: researchConfig(web, model) });
    const { token } = await app.register('owner');
    const ask = async (method: string, path: string, body?: object) =>
      (await app.call(method, path, { token, ...(body && { body }) })).body;
    await ask('POST', '/api/knowledge', { text: 'The bridge of Alton was closed on a Monday.' });
    await until(
      () => ask('POST', '/api/knowledge/search', { query: 'Alton' }),
      ({ results }) => results.length > 0,
    );
    const { id } = await ask('POST', '/api/research/start', {
      question: 'When was the bridge of Alton closed?',
      sources: ['knowledge'],
      limits: { maxSeconds: 60 },
    });
    await untilMatches(async () => model.prompts('write').length, 1);
    clock.forward(60_000);
    const { report } = await until(
      () => ask('GET', `/api/research/jobs/${id}`),
      (job) => job.status === 'completed',
    );
    expect(report.limitations).to.include(
      'The time limit was reached before a language model was called.',
    );
    expect(report.markdown).to.contain('closed on a Monday');
    await app.stop();
    await web.stop();
    await model.stop();
  });
});
