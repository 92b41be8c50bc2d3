import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { DONE, openDesk, theOne } from '../approvals/stage.js';
import { says } from '../harness/openai.js';
import { openForSuite } from '../harness/suite.js';
import { call } from './stage.js';

export const lab = Lab.script();
const { describe, it, afterEach } = lab;

describe('the calls of one reply', () => {
  const desk = openForSuite(lab, openDesk);
  afterEach(async () => {
    await desk.clear();
    desk.canary.heard.length = 0;
  });

  const read = (id = 'read') => call('web_read', { url: `${desk.canary.url}page` }, id);
  const heard = () => desk.canary.heard.map(({ method, url }) => `${method} ${url}`);

  it('are judged by what the model knew, and those of the next by what it has read', async () => {
    const later = call('http_request', { method: 'POST', url: `${desk.canary.url}later` }, 'b');
    desk.model.script(
      says({ toolCalls: [read(), desk.post()] }),
      says({ toolCalls: [later] }),
      DONE,
    );
    const { id } = await desk.spawn({ prompt: 'Do it', tools: ['http', 'web'] });
    const asked = await theOne(desk);
    expect([asked.untrusted, asked.arguments.url]).to.equal([true, `${desk.canary.url}later`]);
    expect(heard()).to.equal(['POST /']);
    expect((await desk.ask('GET', `/api/agents/${id}`)).body.untrusted).to.be.true();
  });

  it('are asked for as of a trusted agent where they need an approval', async () => {
    const get = call('http_request', { method: 'GET', url: `${desk.canary.url}a?b=1` }, 'get');
    const { id } = await desk.asking(read(), desk.post(), get);
    const asked = await theOne(desk);
    expect([asked.untrusted, asked.reason]).to.equal([false, 'it has side effects']);
    expect(heard()).to.equal(['GET /a?b=1']);
    await desk.restart();
    await desk.answer(asked.id, true);
    await desk.reaches(id);
    expect(heard()).to.equal(['GET /a?b=1', 'POST /']);
  });

  it('of an agent that was untrusted before are all judged so', async () => {
    const next = says({ toolCalls: [read('again'), desk.post()] });
    desk.model.script(says({ toolCalls: [read()] }), next, DONE);
    const { id } = await desk.spawn({ prompt: 'Do it', tools: ['http'] });
    await desk.reaches(id, 'waiting_approval');
    const asked = await desk.approvals('pending');
    expect(asked.map(({ tool, untrusted }) => [tool, untrusted]).sort()).to.equal([
      ['http', true],
      ['web', true],
    ]);
    await desk.clear();
    expect(heard()).to.equal([]);
  });
});
