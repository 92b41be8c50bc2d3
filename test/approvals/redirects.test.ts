import type { ServerResponse } from 'node:http';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { call } from '../agents/stage.js';
import { says } from '../harness/openai.js';
import { openTarget, type Target } from '../harness/target.js';
import { type Desk, DONE, openDesk } from './stage.js';

export const lab = Lab.script();
const { describe, it, before, after, beforeEach } = lab;

/** An answer that leads to another path of the same origin, with all that is asked for there. */
const LED = '/admin?all=1';
const leading = (response: ServerResponse): void =>
  void response.writeHead(307, { location: LED }).end('moved');

describe('an approved call', () => {
  let desk: Desk;
  let target: Target;
  before(async () => {
    desk = await openDesk();
    target = await openTarget();
  });
  after(async () => {
    target.close();
    await desk.stop();
  });
  beforeEach(() => {
    target.received = [];
    desk.canary.heard.length = 0;
    target.answer = (response) =>
      response.writeHead(307, { location: `${desk.canary.url}page` }).end('moved');
  });

  const post = () => ({ method: 'POST', url: `${target.url}/in`, body: 'secret' });
  const outcome = (text: string | undefined) => {
    const { url, status, body, notFollowed } = JSON.parse(text ?? '');
    return { url, status, body, notFollowed };
  };
  const stayed = () => ({
    url: `${target.url}/in`,
    status: 307,
    body: 'moved',
    notFollowed: `${desk.canary.url}page`,
  });

  it('of an agent goes to the origin that was approved, and the model is told so', async () => {
    const { id } = await desk.asking(call('http_request', post()));
    const [approval] = await desk.approvals('pending');
    await desk.answer(approval?.id ?? '', true);
    await desk.reaches(id);
    expect(target.received.map(({ method, body }) => [method, body])).to.equal([
      ['POST', 'secret'],
    ]);
    expect(desk.canary.heard).to.equal([]);
    expect(outcome(desk.told().at(-1))).to.equal(stayed());
  });

  it('without a body stays there too, and one that nobody approved is led on', async () => {
    const get = { method: 'GET', url: `${target.url}/in` };
    const denied = { skillId: 'http', action: 'request', level: 'ask' };
    await desk.ask('PUT', '/api/skills/permissions', denied);
    const { id } = await desk.asking(call('http_request', get));
    const [approval] = await desk.approvals('pending');
    await desk.answer(approval?.id ?? '', true);
    await desk.reaches(id);
    expect(outcome(desk.told().at(-1))).to.equal(stayed());
    await desk.ask('DELETE', '/api/skills/permissions/http/request');
    const path = '/api/skills/http/tools/request/execute';
    const { body } = await desk.ask('POST', path, { arguments: get });
    expect([body.result.url, body.result.body]).to.equal([
      `${desk.canary.url}page`,
      'nothing here',
    ]);
  });

  it('by a grant of an untrusted agent follows no redirect, and the model is told', async () => {
    const posts = (id: string) => says({ toolCalls: [call('http_request', post(), id)] });
    const get = call('http_request', { method: 'GET', url: `${target.url}/in` }, 'get');
    const read = call('web_read', { url: `${desk.canary.url}page` }, 'read');
    const asks = [says({ toolCalls: [read] }), posts('once'), posts('again')];
    desk.model.script(...asks, says({ toolCalls: [get] }), DONE);
    target.answer = (response, nth) => (nth === 1 ? response.end('fine') : leading(response));
    const { id } = await desk.spawn({ prompt: 'Do it', tools: ['web'] });
    await desk.reaches(id, 'waiting_approval');
    const [approval] = await desk.approvals('pending');
    await desk.answer(approval?.id ?? '', true, { scope: 'host' });
    await desk.reaches(id);
    const led = { ...stayed(), notFollowed: `${target.url}${LED}` };
    expect(desk.told().slice(-2).map(outcome)).to.equal([led, led]);
    expect(target.received.map(({ method, path }) => `${method} ${path}`)).to.equal([
      ...['POST /in', 'POST /in', 'GET /in'],
    ]);
  });

  it('of one’s own stays there', async () => {
    const path = '/api/skills/web/tools/read/execute';
    const level = { skillId: 'web', action: 'read', level: 'ask' };
    await desk.ask('PUT', '/api/skills/permissions', level);
    target.answer = (response) =>
      response
        .writeHead(302, { location: `${desk.canary.url}page`, 'content-type': 'text/plain' })
        .end('moved');
    const args = { arguments: { url: `${target.url}/in` } };
    const { id } = (await desk.ask('POST', path, args)).body.approval;
    await desk.answer(id, true);
    const { body } = await desk.ask('POST', path, { ...args, approvalId: id });
    expect(body.result).to.equal({
      ...{ url: `${target.url}/in`, status: 302, title: '', text: 'moved' },
      notFollowed: `${desk.canary.url}page`,
    });
  });
});
