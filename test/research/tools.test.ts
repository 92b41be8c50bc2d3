import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { call } from '../agents/stage.js';
import { type Desk, DONE, openDesk } from '../approvals/stage.js';
import { until } from '../harness/app.js';
import { says } from '../harness/openai.js';
import { type ScriptedWeb, startWeb } from '../harness/web.js';
import { type Listening, listen } from '../kernel/listen.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const PACE_MS = 1000;
const KEY = 'brave-key-0123456789';

describe('research by an agent', () => {
  let desk: Desk;
  let web: ScriptedWeb;
  let search: Listening;
  before(async () => {
    web = await startWeb([{ '/bridge': '<article><p>The bridge is closed.</p></article>' }]);
    search = await listen((_, response) => {
      const results = [{ title: 'A', url: web.at(0, '/bridge'), description: 'a bridge' }];
      response.end(JSON.stringify({ type: 'search', query: {}, web: { results } }));
    });
    desk = await openDesk({
      egressAllow: web.egressAllow,
      searchProvider: 'brave',
      searchUrl: `${search.origin}/search`,
    });
  });
  after(async () => {
    await desk.stop();
    await search.close();
    await web.stop();
  });

  /** Has an agent make one call; returns its result, and if the agent is untrusted. */
  const calling = async (tool: string, args: object) => {
    desk.model.script(says({ toolCalls: [call(tool, args, 'one')] }), DONE);
    const { id } = await desk.spawn({ prompt: 'Look it up' });
    const { untrusted } = { untrusted: false, ...(await desk.reaches(id)) };
    const result = (await desk.events(id)).find(({ data }) => data.phase === 'result');
    return { told: String(result?.data.result), untrusted };
  };

  it('is begun and read, with the key of the vault, and what it found is untrusted', async () => {
    const kept = { name: 'search-key', value: KEY };
    expect((await desk.ask('POST', '/api/vault', kept)).status).to.equal(201);
    const question = 'Is the bridge closed?';
    const paced = desk.clock.starting(PACE_MS);
    const begun = await calling('research_start', { question, depth: 'quick' });
    const { id } = JSON.parse(begun.told);
    // Requests to one host keep a distance.
    await paced;
    desk.clock.forward(PACE_MS);
    const path = `/api/research/jobs/${id}?wait=50`;
    const job = await until(
      async () => (await desk.ask('GET', path)).body,
      ({ status }) => ['completed', 'failed', 'cancelled'].includes(status),
    );
    expect([job.status, job.question]).to.equal(['completed', question]);
    expect(search.got.length).to.be.above(0);
    for (const { headers } of search.got) expect(headers['x-subscription-token']).to.equal(KEY);
    expect(job.report.markdown).to.contain('The bridge is closed.');
    expect(JSON.stringify(job)).to.not.contain(KEY);
    const read = await calling('research_read', { id });
    expect(JSON.parse(read.told)).to.include({ id, status: 'completed' });
    expect(read.untrusted).to.be.true();
  });

  it('says that there is none', async () => {
    const { told } = await calling('research_read', { id: 'research_none' });
    expect(told).to.equal('No research job with the ID research_none');
  });
});
