import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { TemplateStage } from '../../src/pipelines/templates/contract.js';
import { untilMatches } from '../harness/app.js';
import { openForSuite } from '../harness/suite.js';
import { approval, now, openTargetStage } from './stage.js';

export const lab = Lab.script();
const { describe, it, before } = lab;

describe('runs of pipelines', () => {
  const stage = openForSuite(lab, openTargetStage);
  before(() => stage.addSilentModel());

  it('wait for a person, whose first answer counts and names what was shown', async () => {
    const id = await stage.start([
      now('a'),
      approval('ok', { needs: ['a'] }),
      now('b', { needs: ['ok'] }),
    ]);
    const waiting = await stage.reach(id, 'waiting');
    const { digest, input } = waiting.stages[1] ?? {};
    expect([input, await stage.statuses(id)]).to.equal([
      { message: 'Go on?' },
      { a: 'completed', ok: 'waiting_approval', b: 'pending' },
    ]);
    const answer = (verb: string, body: object) =>
      stage.call('POST', `/${id}/stages/ok/${verb}`, body);
    const other = await answer('approve', { digest: 'x' });
    expect([other.status, other.body.code]).to.equal([409, 'other_digest']);
    const values = await answer('input', { digest, values: {} });
    const at = `POST /api/pipelines/${id}/stages/ok`;
    expect([values.status, values.body.message]).to.equal([
      409,
      `The stage is waiting for an approval. Use ${at}/approve or ${at}/reject`,
    ]);
    const answers = await Promise.all([
      answer('approve', { digest, reason: 'Fine' }),
      answer('reject', { digest }),
      answer('approve', { digest }),
    ]);
    expect(answers.map(({ status }) => status).sort()).to.equal([200, 409, 409]);
    const run = await stage.reach(id, answers[1]?.status === 200 ? 'failed' : 'completed');
    expect(run.stages[1]?.digest).to.be.null();
    const { body: notices } = await stage.app.call('GET', '/api/notifications', {
      token: stage.token,
    });
    const titles = notices.notifications.map(({ title }: { title: string }) => title);
    expect(titles.filter((title: string) => title.endsWith('ok waits for you'))).to.have.length(1);
  });

  it('stop at once with all that works for them', async () => {
    const fine = stage.target.answer;
    stage.target.answer = () => {};
    const before = stage.target.received.length;
    const id = await stage.start([
      { key: 'send', kind: 'http', config: { method: 'POST', url: `${stage.target.url}/hangs` } },
      { key: 'agent', kind: 'agent', config: { prompt: 'Hi', model: 'silent' } },
      approval('ok'),
      now('last', { needs: ['send'] }),
    ]);
    await stage.target.got(before + 2);
    const stopped = await stage.call('POST', `/${id}/stop`);
    expect([stopped.status, stopped.body.status]).to.equal([200, 'stopped']);
    expect(Object.values(await stage.statuses(id))).to.equal([
      'stopped',
      'stopped',
      'stopped',
      'stopped',
    ]);
    const { agentId } = (await stage.run(id)).stages[1] ?? {};
    const { body: agent } = await stage.app.call('GET', `/api/agents/${agentId}`, {
      token: stage.token,
    });
    expect(agent.status).to.equal('stopped');
    stage.target.answer = fine;
    const again = await stage.call('POST', `/${id}/stop`);
    expect([again.status, again.body.code]).to.equal([409, 'ended']);
    expect((await stage.run(id)).status).to.equal('stopped');
  });

  it('ask before they make a call again that was cut off', async () => {
    const fine = stage.target.answer;
    stage.target.answer = () => {};
    const call = (key: string, method: string) => ({
      key,
      kind: 'http' as const,
      config: { method, url: `${stage.target.url}/cut-${key}` },
    });
    const sent = (key: string) =>
      stage.target.received.filter(({ path }) => path === `/cut-${key}`).length;
    const id = await stage.start([call('post', 'POST'), call('get', 'GET')]);
    await untilMatches(async () => sent('post') + sent('get'), 2);
    await stage.call('POST', `/${id}/stop`);
    stage.target.answer = fine;
    await stage.call('POST', `/${id}/retry`, {});
    const asking = await stage.reach(id, 'waiting');
    const why =
      'The run was stopped during this call, which may already have taken effect. Approve to repeat the call.';
    expect(asking.stages.map(({ status, reason }) => [status, reason])).to.equal([
      ['waiting_approval', why],
      ['completed', null],
    ]);
    // To refuse it decides nothing about whether it was done.
    const answer = (verb: string, digest = asking.stages[0]?.digest) =>
      stage.call('POST', `/${id}/stages/post/${verb}`, { digest });
    await answer('reject');
    await stage.reach(id, 'failed');
    await stage.call('POST', `/${id}/retry`, {});
    const [again] = (await stage.reach(id, 'waiting')).stages;
    expect([again?.reason, sent('post')]).to.equal([why, 1]);
    await answer('approve', again?.digest);
    const done = await stage.reach(id, 'completed');
    expect([done.stages[0]?.reason, sent('post'), sent('get')]).to.equal([null, 2, 2]);
    // What is known to be done is done again as it is asked for.
    await stage.call('POST', `/${id}/retry`, { fromStage: 'post' });
    await stage.reach(id, 'completed');
    expect(sent('post')).to.equal(3);
  });

  it('ask before they act on what came from outside, unless the template allows it', async () => {
    const read: TemplateStage = {
      key: 'read',
      kind: 'http',
      config: { method: 'GET', url: `${stage.target.url}/page` },
    };
    const send = (more: object): TemplateStage => ({
      key: 'send',
      kind: 'http',
      needs: ['read'],
      config: {
        method: 'POST',
        url: `${stage.target.url}/acts`,
        body: '{{stages.read.output.body}}',
      },
      ...more,
    });
    const sent = () => stage.target.received.filter(({ path }) => path === '/acts').length;
    const asking = await stage.start([read, send({})]);
    const waiting = await stage.reach(asking, 'waiting');
    const [, asked] = waiting.stages;
    expect([asked?.status, asked?.untrusted, sent()]).to.equal(['waiting_approval', true, 0]);
    expect(Object(asked?.input)).to.include({ toolId: 'http', toolAction: 'request' });
    await stage.call('POST', `/${asking}/stages/send/approve`, { digest: asked?.digest });
    await stage.reach(asking, 'completed');
    expect(sent()).to.equal(1);
    await stage.reach(await stage.start([read, send({ allowUntrusted: true })]), 'completed');
    expect(sent()).to.equal(2);
  });

  it('are told at their end, and are nobody else’s', async () => {
    const id = await stage.start([now('a')]);
    await stage.reach(id, 'completed');
    const { body } = await stage.app.call('GET', '/api/notifications', { token: stage.token });
    const [notice] = body.notifications;
    expect([notice.kind, notice.link]).to.equal(['pipeline_completed', `/pipelines/${id}`]);
    const eve = (await stage.app.register('eve')).token;
    for (const [method, path] of [
      ['GET', ''],
      ['POST', '/stop'],
      ['POST', '/retry'],
    ] as const) {
      const given = path === '/retry' ? {} : undefined;
      expect((await stage.call(method, `/${id}${path}`, given, eve)).status).to.equal(404);
    }
    expect((await stage.call('GET', '', undefined, eve)).body.pipelines).to.equal([]);
    const { body: listed } = await stage.call('GET', '?status=completed&limit=1');
    expect(listed.pipelines[0]).to.include({ id, status: 'completed' });
    expect((await stage.call('GET', '?since=2999-01-01')).body.pipelines).to.equal([]);
  });
});
