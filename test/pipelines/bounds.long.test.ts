import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { PipelineRunDetail } from '../../src/pipelines/runs/contract.js';
import { call } from '../agents/stage.js';
import { PASSWORD, untilMatches } from '../harness/app.js';
import { inside } from '../harness/inside.js';
import { says } from '../harness/openai.js';
import { openForSuite } from '../harness/suite.js';
import { ask, openBoundsStage } from './boundsstage.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('bounds of runs', () => {
  const stage = openForSuite(lab, openBoundsStage);

  it('count what an agent has used up that took too long or was stopped', async () => {
    const looping = () => {
      stage.model.script(
        says({ toolCalls: [call('time_now', {})], usage: { input: 90, output: 10 } }),
        () => {},
      );
    };
    /** The tokens of the agent of a run, with what the call that was cut off may have used. */
    const usedBy = async ({ stages }: PipelineRunDetail): Promise<number> => {
      const path = `/api/agents/${stages[0]?.agentId}`;
      const { body } = await stage.app.call('GET', path, { token: stage.token });
      const { inputTokens, outputTokens } = body.usage;
      expect(inputTokens + outputTokens >= 100).to.be.true();
      return inputTokens + outputTokens;
    };
    const agent = { key: 'agent', kind: 'agent' as const, config: { prompt: 'Hi' } };
    looping();
    const late = await stage.start([{ ...agent, timeoutSeconds: 2 }]);
    const failed = await stage.reach(late, 'failed');
    expect(failed.error).to.equal('agent: The stage exceeded its timeout of 2 s');
    expect(failed.usage.tokens).to.equal(await usedBy(failed));
    looping();
    const asked = stage.model.asked.length;
    const id = await stage.start([agent]);
    await untilMatches(async () => stage.model.asked.length, asked + 2);
    const stopped = await stage.call('POST', `/${id}/stop`);
    expect(stopped.body.status).to.equal('stopped');
    const { usage } = await stage.run(id);
    expect(usage.tokens).to.equal(await usedBy(stopped.body));
  });

  it('keep a call that was approved from being led elsewhere', async () => {
    stage.target.answer = (response) => {
      const { path } = stage.target.received.at(-1) ?? {};
      if (path === '/moved') response.writeHead(302, { location: `${stage.other.url}/stolen` });
      response.end('x');
    };
    const id = await stage.start([
      stage.get('read', '/page'),
      stage.get('look', '/moved', { needs: ['read'] }),
    ]);
    const { digest } = (await stage.reach(id, 'waiting')).stages[1] ?? {};
    await stage.call('POST', `/${id}/stages/look/approve`, { digest });
    const run = await stage.reach(id, 'failed');
    expect(run.error).to.match(/^look: 302 from the target: .* does not follow$/);
    expect(stage.other.received).to.equal([]);
  });

  it('count visits by goto anew once a person has retried the run', async () => {
    stage.target.answer = (response) => response.writeHead(500).end();
    const a = { key: 'a', kind: 'tool' as const, config: { toolId: 'time', toolAction: 'now' } };
    const back = { onError: { goto: 'a' }, maxVisits: 2 };
    const before = stage.target.received.length;
    const id = await stage.start([a, stage.get('b', '/b', { needs: ['a'], ...back })]);
    for (const sent of [2, 4, 6]) {
      const run = await stage.reach(id, 'failed');
      expect(stage.target.received.length - before).to.equal(sent);
      expect(run.stages.map(({ visits }) => visits)).to.equal([sent, sent]);
      await stage.call('POST', `/${id}/retry`, { fromStage: 'a' });
    }
  });

  it('take a parameter that is named like a property of all objects', async () => {
    const parameters = [{ key: 'constructor', type: 'string', default: 'x' }];
    const id = await stage.start([ask], { template: { parameters } });
    expect((await stage.run(id)).params).to.equal({ constructor: 'x' });
    await stage.call('POST', `/${id}/stop`);
  });

  it('stop when their owner is disabled, and go on when asked to', async () => {
    const bob = await stage.app.register('bob');
    const stages = [ask, { key: 'w', kind: 'wait', config: { seconds: 3600 } }];
    const made = await stage.call('POST', '/templates', { name: 'B', stages }, bob.token);
    const templateId = made.body.id;
    const { body: run } = await stage.call('POST', '', { templateId }, bob.token);
    const disable = (disabled: boolean) =>
      stage.app.call('PATCH', `/api/admin/users/${bob.id}`, {
        token: stage.token,
        body: { disabled },
      });
    expect((await disable(true)).status).to.equal(200);
    await disable(false);
    const login = { username: 'bob', password: PASSWORD };
    const { token } = (await stage.app.call('POST', '/api/auth/login', { body: login })).body;
    const { body } = await stage.call('GET', `/${run.id}`, undefined, token);
    expect([body.status, body.error]).to.equal(['stopped', 'The owner of the run was disabled']);
    const retried = await stage.call('POST', `/${run.id}/retry`, {}, token);
    expect(retried.body.status).to.equal('waiting');
  });

  it('do not count the time for which an agent waits for a person, also after a restart', async () => {
    const post = { method: 'POST', url: `${stage.target.url}/posted` };
    stage.model.script(says({ toolCalls: [call('http_request', post)] }));
    const id = await stage.start([{ key: 'agent', kind: 'agent', config: { prompt: 'Hi' } }], {
      template: { limits: { maxSeconds: 2 } },
    });
    const waits = async () => {
      const { status, stages } = await stage.reach(id, 'waiting');
      expect([status, stages[0]?.reason]).to.equal(['waiting', 'The agent waits for you']);
    };
    const deadlines = () =>
      stage.app.app.store.db
        .selectFrom('pipeline_runs')
        .select('deadline_at')
        .where('id', '=', id)
        .execute();
    await waits();
    expect(await deadlines()).to.equal([{ deadline_at: null }]);
    await stage.app.restart();
    await waits();
    expect(await deadlines()).to.equal([{ deadline_at: null }]);
    stage.model.script(says({ text: 'Done' }));
    const { token } = stage;
    const path = '/api/chat/approvals';
    const { body } = await stage.app.call('GET', path, { token });
    const [asked] = body.approvals;
    const answer = { approvalId: asked.id, approved: true, digest: asked.digest };
    const said = await stage.app.call('POST', '/api/chat/approve', { token, body: answer });
    expect(said.status).to.equal(200);
    const done = await stage.reach(id, 'completed');
    expect(done.stages[0]?.output).to.equal('Done');
  });

  it('refuse a stage that would work with too much, and go on to their end', async () => {
    stage.target.answer = (response) => response.end('x'.repeat(700_000));
    const body = Array.from({ length: 5 }, () => '{{stages.read.output.body}}');
    const many = Array.from({ length: 80 }, (_, at) => ({
      key: `m${at}`,
      kind: 'tool' as const,
      needs: ['read'],
      onError: 'continue' as const,
      config: {
        toolId: 'time',
        toolAction: 'now',
        toolParams: { timezone: body[0] },
      },
    }));
    const send = {
      key: 'send',
      kind: 'http' as const,
      needs: ['read'],
      config: { method: 'POST', url: `${stage.target.url}/x`, body },
      onError: 'continue' as const,
    };
    const ended = new Promise<void>((resolve) => {
      inside(stage.app.app).hub.listen(stage.userId, 'notification', (data) => {
        if (/^Large (is done|failed)$/.test(Object(data).title)) resolve();
      });
    });
    const read = stage.get('read', '/long', { allowUntrusted: true });
    const id = await stage.start([read, send, ...many], { template: { name: 'Large' } });
    // A run of this size is read once, at its end.
    await ended;
    const run = await stage.run(id);
    expect(run.status).to.equal('completed');
    const errors = run.stages.map(({ error }) => error ?? '');
    expect(errors[1]).to.equal(
      'The input exceeds 1,048,576 characters after its values are filled in',
    );
    const full = 'The inputs and outputs of the run exceed 16777216 characters in total';
    expect(errors).to.include(full);
    const kept = run.stages.flatMap(({ input, output }) => [input, output]);
    const length = kept.reduce<number>((all, each) => all + JSON.stringify(each).length, 0);
    expect([length > 15_000_000, length <= 16_777_216]).to.equal([true, true]);
  });

  it('wait for 90 days at most, and hold up no other run', async () => {
    const wait = (until: string) => stage.start([{ key: 'w', kind: 'wait', config: { until } }]);
    const far = await stage.reach(await wait('+012345-01-01T00:00:00Z'), 'failed');
    expect(far.error).to.equal(
      'w: until of the wait stage must be at most 90 days in the future. Set an earlier time',
    );
    await stage.reach(await wait('-000001-01-01T00:00:00Z'), 'completed');
  });

  it('give up on many slow conditions', async () => {
    stage.target.answer = (response) => response.end('a'.repeat(40));
    const when = [
      { field: 'stages.read.output.body', operator: 'matches' as const, value: '(a|a)*b' },
    ];
    const slow = Array.from({ length: 40 }, (_, at) => ({
      ...ask,
      key: `s${at}`,
      needs: ['read'],
      when,
    }));
    const id = await stage.start([stage.get('read', '/a'), ...slow]);
    const run = await stage.reach(id, 'completed');
    expect(run.stages.slice(1).every(({ status }) => status === 'skipped')).to.be.true();
  });

  it('ask anew after a crash, and judge rights when a call is made', async () => {
    stage.target.answer = (response) => response.end('x');
    const send = { method: 'POST', url: `${stage.target.url}/once` };
    const id = await stage.start([
      stage.get('read', '/page'),
      { key: 'send', kind: 'http', needs: ['read'], config: send },
    ]);
    const { digest } = (await stage.reach(id, 'waiting')).stages[1] ?? {};
    const sent = () => stage.target.received.filter(({ path }) => path === '/once').length;
    stage.target.answer = () => {};
    const approve = (given: unknown) =>
      stage.call('POST', `/${id}/stages/send/approve`, { digest: given });
    await approve(digest);
    await untilMatches(async () => sent(), 1);
    await stage.app.restart();
    const asked = await stage.reach(id, 'waiting');
    expect((await approve(digest)).body.code).to.equal('other_digest');
    stage.target.answer = (response) => response.end('x');
    const permission = { skillId: 'http', action: 'request', level: 'deny' };
    const denied = await stage.app.call('PUT', '/api/skills/permissions', {
      token: stage.token,
      body: permission,
    });
    expect(denied.status).to.equal(200);
    await approve(asked.stages[1]?.digest);
    const run = await stage.reach(id, 'failed');
    const error = "send: http.request is denied by its owner's permissions";
    expect([run.error, sent()]).to.equal([error, 1]);
  });
});
