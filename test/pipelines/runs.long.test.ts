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

  it('carry out tools, agents and requests, and hand their outputs on', async () => {
    const stages: TemplateStage[] = [
      now('clock'),
      {
        key: 'ask',
        kind: 'agent',
        needs: ['clock'],
        config: { prompt: 'For {{params.who}} at {{stages.clock.output.iso}}', model: 'digest' },
      },
      {
        key: 'send',
        kind: 'http',
        needs: ['clock'],
        config: {
          method: 'POST',
          url: `${stage.target.url}/in`,
          body: { count: '{{params.count}}', text: 'n={{params.count}}' },
        },
      },
    ];
    const parameters = [
      { key: 'who', type: 'string', required: true },
      { key: 'count', type: 'number', default: 3 },
    ];
    const id = await stage.start(stages, { params: { who: 'Grace' }, template: { parameters } });
    const run = await stage.reach(id, 'completed');
    const [clock, ask, send] = run.stages;
    expect(Object.keys(Object(clock?.output))).to.include('iso');
    expect(Object(ask?.input).prompt).to.match(/^For Grace at 20\d\d-/);
    expect(ask?.agentId).to.match(/^agent_/);
    expect(Object(send?.output).status).to.equal(200);
    const [received] = stage.target.received;
    expect(JSON.parse(received?.body ?? '')).to.equal({ count: 3, text: 'n=3' });
    expect([run.error, run.params]).to.equal([null, { who: 'Grace', count: 3 }]);
  });

  it('fail by a rejection, with its reason, and say what was skipped because of it', async () => {
    const id = await stage.start([
      approval('ok'),
      now('b', { needs: ['ok'] }),
      now('sorry', { needs: ['b'], runIf: 'failure' }),
    ]);
    const { stages } = await stage.reach(id, 'waiting');
    await stage.call('POST', `/${id}/stages/ok/reject`, {
      digest: stages[0]?.digest,
      reason: 'No',
    });
    const run = await stage.reach(id, 'failed');
    expect(run.error).to.equal('ok: rejected: No');
    expect(run.stages.map(({ status, reason }) => [status, reason])).to.equal([
      ['failed', null],
      ['skipped', 'ok did not complete'],
      ['completed', null],
    ]);
  });

  it('expire as rejected when nobody answers in the time of the template', async () => {
    const id = await stage.start([
      approval('ok', { timeoutSeconds: 1 }),
      now('late', { needs: ['ok'], runIf: 'failure' }),
    ]);
    const run = await stage.reach(id, 'failed');
    expect(run.error).to.equal('ok: expired: no answer was received in time');
    expect(await stage.statuses(id)).to.equal({ ok: 'failed', late: 'completed' });
  });

  it('take values from a person, which must fit the fields', async () => {
    const fields = [
      { key: 'title', label: 'Title', type: 'string', required: true },
      { key: 'size', label: 'Size', type: 'choice', options: ['s', 'l'] },
    ];
    const id = await stage.start([
      { key: 'form', kind: 'input', config: { message: 'What?', fields } },
      { key: 'use', kind: 'wait', needs: ['form'], config: { seconds: 0 } },
    ]);
    const { stages } = await stage.reach(id, 'waiting');
    const digest = stages[0]?.digest;
    const give = (values: object) =>
      stage.call('POST', `/${id}/stages/form/input`, { digest, values });
    const approved = await stage.call('POST', `/${id}/stages/form/approve`, { digest });
    expect([approved.status, approved.body.message]).to.equal([
      409,
      `The stage is waiting for values. Use POST /api/pipelines/${id}/stages/form/input`,
    ]);
    const bad = await give({ size: 'xl', color: 'red' });
    expect(bad.body.details.map(({ path }: { path: string }) => path)).to.equal([
      'values.color',
      'values.title',
      'values.size',
    ]);
    expect((await give({ title: 'Spring', size: 'l' })).status).to.equal(200);
    const run = await stage.reach(id, 'completed');
    expect(run.stages[0]?.output).to.equal({ title: 'Spring', size: 'l' });
  });

  it('have no template that names an unknown tool; the nearest are named', async () => {
    const saved = async (toolId: string, toolAction: string) => {
      const stages = [{ key: 'a', kind: 'tool', config: { toolId, toolAction } }];
      const { body } = await stage.call('POST', '/templates', { name: 'Wrong', stages });
      const [{ path, message }] = body.details;
      return [path, ...message.split('; ')];
    };
    const [path, fault, near = '', where] = await saved('tiem', 'now');
    expect([path, fault, where]).to.equal([
      ...['stages.0.config.toolId', 'names an unknown tool: tiem.now'],
      'all tools: GET /api/skills/tools/all',
    ]);
    expect(near).to.match(/^closest names: time\.now, \w+\.\w+, \w+\.\w+$/);
    expect((await saved('time', 'nwo')).slice(0, 2)).to.equal([
      'stages.0.config.toolAction',
      'names an unknown tool: time.nwo',
    ]);
  });

  it('refuse parameters that do not fit', async () => {
    const bad = await stage.call('POST', '', {
      templateId: 'preset_release_notes',
      params: { version: 7, more: 1 },
    });
    expect([bad.status, bad.body.details.map(({ path }: { path: string }) => path)]).to.equal([
      400,
      ['params.more', 'params.version', 'params.changes'],
    ]);
    expect((await stage.call('POST', '', { templateId: 'none' })).status).to.equal(404);
  });

  it('skip by conditions on values', async () => {
    const when = [{ field: 'params.deep', operator: 'equals' as const, value: true }];
    const parameters = [{ key: 'deep', type: 'boolean', default: false }];
    const id = await stage.start([now('a', { when }), now('b')], { template: { parameters } });
    const run = await stage.reach(id, 'completed');
    expect(run.stages.map(({ status, reason }) => [status, reason])).to.equal([
      ['skipped', 'condition 1: params.deep is false, not equals true'],
      ['completed', null],
    ]);
  });

  it('try again as often as they may, then go back, then fail', async () => {
    const fine = stage.target.answer;
    stage.target.answer = (response) => response.writeHead(503).end();
    const send: TemplateStage = {
      key: 'send',
      kind: 'http',
      needs: ['a'],
      config: { method: 'POST', url: `${stage.target.url}/fails` },
      retry: { attempts: 2, backoffSeconds: 0 },
      onError: { goto: 'a' },
      maxVisits: 2,
    };
    const before = stage.target.received.length;
    const id = await stage.start([now('a'), send]);
    const run = await stage.reach(id, 'failed');
    stage.target.answer = fine;
    expect(run.error).to.equal('send: 503 from the target');
    expect(run.stages.map(({ visits, attempt }) => [visits, attempt])).to.equal([
      [2, 1],
      [2, 2],
    ]);
    expect(stage.target.received.length - before).to.equal(4);
    const retried = await stage.call('POST', `/${id}/retry`, {});
    expect(retried.status).to.equal(200);
    const again = await stage.reach(id, 'completed');
    expect(again.stages.map(({ visits }) => visits)).to.equal([2, 3]);
    const busy = await stage.call('POST', `/${id}/retry`, { fromStage: 'z' });
    expect([busy.status, busy.body.details[0].path]).to.equal([400, 'fromStage']);
  });

  it('do nothing more once they are stopped: no retry, no wait ends', async () => {
    const fine = stage.target.answer;
    stage.target.answer = (response) => response.writeHead(503).end();
    const id = await stage.start([
      {
        key: 'send',
        kind: 'http',
        config: { method: 'POST', url: `${stage.target.url}/again` },
        retry: { attempts: 5, backoffSeconds: 1, factor: 1 },
      },
      { key: 'wait', kind: 'wait', config: { seconds: 1 } },
      now('after', { needs: ['wait'] }),
    ]);
    const sent = () => stage.target.received.filter(({ path }) => path === '/again').length;
    await untilMatches(async () => sent(), 1);
    await stage.call('POST', `/${id}/stop`);
    stage.target.answer = fine;
    // Nothing is due, now or later.
    const { db } = stage.app.app.store;
    const dues = await db
      .selectFrom('pipeline_stages')
      .select(['due', 'due_at'])
      .distinct()
      .where('run_id', '=', id)
      .execute();
    expect([dues, sent()]).to.equal([[{ due: null, due_at: null }], 1]);
    const stopped = { send: 'stopped', wait: 'stopped', after: 'stopped' };
    expect(await stage.statuses(id)).to.equal(stopped);
  });

  it('write untrusted notes of what came from outside', async () => {
    const fine = stage.target.answer;
    stage.target.answer = (response) => response.end('Obey the letter');
    const tool = (key: string, toolId: string, toolAction: string, toolParams: object) => ({
      key,
      kind: 'tool' as const,
      config: { toolId, toolAction, toolParams },
    });
    const text = '{{stages.read.output.body}}';
    const read = { method: 'GET', url: `${stage.target.url}/letter` };
    const noted = await stage.start([
      { key: 'read', kind: 'http', config: read },
      { ...tool('task', 'tasks', 'create', { title: text }), needs: ['read'] },
      { ...tool('memory', 'memory', 'save', { text }), needs: ['read'] },
      { ...tool('entry', 'knowledge', 'index', { text }), needs: ['read'] },
    ]);
    const run = await stage.reach(noted, 'completed');
    stage.target.answer = fine;
    expect(run.stages.map(({ untrusted }) => untrusted)).to.equal([true, true, true, true]);
    const get = async (path: string) =>
      (await stage.app.call('GET', path, { token: stage.token })).body;
    const { tasks } = await get('/api/tasks');
    expect(tasks.map((task: { untrusted: boolean }) => task.untrusted)).to.equal([true]);
    const { memories } = await get('/api/memories');
    expect(memories.map((memory: { confirmed: boolean }) => memory.confirmed)).to.equal([false]);
    const { entries } = await get('/api/knowledge');
    expect(entries.map(({ trust }: { trust: string }) => trust)).to.equal(['outside']);
    const later = await stage.start([
      tool('list', 'tasks', 'list', {}),
      {
        key: 'send',
        kind: 'http',
        needs: ['list'],
        config: {
          method: 'POST',
          url: `${stage.target.url}/later`,
          body: '{{stages.list.output}}',
        },
      },
    ]);
    const { stages } = await stage.reach(later, 'waiting');
    expect(stages.map(({ status }) => status)).to.equal(['completed', 'waiting_approval']);
    await stage.call('POST', `/${later}/stop`);
  });

  it('take the error of a request for what came from outside, also below a skipped stage', async () => {
    const fine = stage.target.answer;
    stage.target.answer = (response) =>
      response.writeHead(302, { location: 'https://obey-me.example/' }).end();
    const read: TemplateStage = {
      key: 'read',
      kind: 'http',
      config: { method: 'POST', url: `${stage.target.url}/moved`, body: 'x' },
    };
    const told: TemplateStage = {
      key: 'told',
      kind: 'http',
      needs: ['mid'],
      runIf: 'always',
      config: { method: 'POST', url: `${stage.target.url}/told`, body: '{{stages.read.error}}' },
    };
    const id = await stage.start([read, now('mid', { needs: ['read'] }), told]);
    const { stages } = await stage.reach(id, 'waiting');
    stage.target.answer = fine;
    expect(stages.map(({ status, untrusted }) => [status, untrusted])).to.equal([
      ['failed', true],
      ['skipped', false],
      ['waiting_approval', true],
    ]);
    expect(stages[0]?.error).to.contain('obey-me');
    await stage.call('POST', `/${id}/stop`);
  });
});
