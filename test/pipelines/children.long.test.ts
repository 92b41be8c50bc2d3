import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { PipelineRun } from '../../src/pipelines/runs/contract.js';
import type { TemplateStage } from '../../src/pipelines/templates/contract.js';
import { until } from '../harness/app.js';
import { openForSuite } from '../harness/suite.js';
import { runLoopTurns } from '../harness/turns.js';
import { openTargetStage } from './stage.js';

export const lab = Lab.script();
const { describe, it, before, afterEach } = lab;

type Part = Pick<PipelineRun, 'id' | 'status'>;

const parameters = [{ key: 'list', type: 'text' }];
const ofItems = (list: unknown[], more: object = {}) => ({ items: list, ...more });

describe('stages that begin runs', () => {
  const stage = openForSuite(lab, openTargetStage);
  before(() => stage.addSilentModel());
  afterEach(() => stage.forget());

  const send = (path = '{{item.name}}', more: object = {}) => ({
    kind: 'http' as const,
    config: { method: 'POST', url: `${stage.target.url}/${path}`, body: { is: '{{item}}' } },
    ...more,
  });
  const foreach = (config: object, more: Partial<TemplateStage> = {}): TemplateStage => ({
    key: 'each',
    kind: 'foreach',
    config: { ...config },
    ...more,
  });
  const template = async (stages: TemplateStage[], more: object = {}): Promise<string> => {
    const name = `N${Math.random()}`;
    const made = await stage.call('POST', '/templates', { name, stages, ...more });
    if (made.status !== 201) throw new Error(made.text);
    return made.body.id;
  };
  const nested = (templateId: string, more: Partial<TemplateStage> = {}): TemplateStage => ({
    key: 'sub',
    kind: 'pipeline',
    config: { templateId },
    ...more,
  });
  const ask: TemplateStage = { key: 'ask', kind: 'approval', config: { message: 'Go on?' } };
  const paths = () => stage.target.received.map(({ path }) => path);
  const parts = async (id: string) =>
    (await stage.call('GET', `?parentId=${id}&limit=200`)).body.pipelines;

  it('foreach: does its work for each item, so many at once, and keeps the order', async () => {
    const items = Array.from({ length: 9 }, (_, at) => ({ name: `i${at}`, raw: '{{run.id}}' }));
    const held: (() => void)[] = [];
    let most = 0;
    stage.target.answer = (response, nth) => {
      if (nth === 1) return void response.end(JSON.stringify(items));
      held.push(() => response.end(JSON.stringify({ nth })));
      most = Math.max(most, held.length);
      if (held.length < 3) return;
      // A fourth would come now; then the last one is answered first.
      void runLoopTurns().then(() => {
        for (const reply of held.splice(0).reverse()) reply();
      });
    };
    const list = { method: 'GET', url: `${stage.target.url}/list` };
    const each = { concurrency: 3, stage: send('{{item.name}}', { allowUntrusted: true }) };
    const id = await stage.start([
      { key: 'list', kind: 'http', config: list },
      foreach({ items: '{{stages.list.output.body}}', ...each }, { needs: ['list'] }),
    ]);
    const run = await stage.reach(id, 'completed');
    const [, done] = run.stages;
    const outputs: { body: { nth: number } }[] = Object(done?.output);
    const bodies = stage.target.received.map(({ body }) => (body ? JSON.parse(body).is : null));
    expect(outputs.map(({ body }) => bodies[body.nth - 1])).to.equal(items);
    expect(most).to.equal(3);
    expect([done?.reason, done?.untrusted, run.untrusted]).to.equal([null, true, false]);
    const all = await parts(id);
    const places = all.map(({ itemAt }: { itemAt: number }) => itemAt).sort();
    expect(places).to.equal([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    const listed = (await stage.call('GET', '')).body.pipelines;
    expect(listed.map((each: { id: string }) => each.id)).to.include(id);
    expect(listed.filter((each: { parentId: string | null }) => each.parentId)).to.equal([]);
  });

  it('foreach: begins nothing more after a failure; a retry does what is not done', async () => {
    stage.target.answer = (response, nth) => {
      if (nth === 3) response.writeHead(500);
      response.end('x');
    };
    const items = ['a', 'b', 'c', 'd', 'e'];
    const stages = [foreach(ofItems(items, { concurrency: 1, stage: send('{{item}}') }))];
    const id = await stage.start(stages);
    const failed = await stage.reach(id, 'failed');
    expect(failed.error).to.match(/^each: items\[2\] failed: item: /);
    expect(paths()).to.equal(['/a', '/b', '/c']);
    expect((await parts(id)).length).to.equal(3);
    const [first] = await parts(id);
    const part = await stage.call('POST', `/${first.id}/retry`, {});
    expect([part.status, part.body.message]).to.equal([
      409,
      `The run belongs to ${id}. Retry that run instead`,
    ]);
    stage.target.answer = stage.answer;
    await stage.call('POST', `/${id}/retry`, {});
    const run = await stage.reach(id, 'completed');
    expect(paths()).to.equal(['/a', '/b', '/c', '/c', '/d', '/e']);
    expect(Object(run.stages[0]?.output).length).to.equal(5);
    await stage.call('POST', `/${id}/retry`, { fromStage: 'each' });
    await stage.reach(id, 'completed');
    expect(paths().slice(6)).to.equal(['/a', '/b', '/c', '/d', '/e']);
  });

  it('foreach: takes a list alone, which may be empty, and tries its items again', async () => {
    const given = (list: unknown) =>
      stage.start([foreach({ items: '{{params.list}}', stage: send() })], {
        template: { parameters },
        params: { list },
      });
    const text = await stage.reach(await given('a, b'), 'failed');
    expect(text.error).to.equal('each: items must be a list. Correct items in the template');
    const none = await stage.reach(
      await stage.start([foreach(ofItems([], { stage: send() }))]),
      'completed',
    );
    expect(none.stages[0]?.output).to.equal([]);
    stage.target.answer = (response, nth) => {
      if (nth === 1) response.writeHead(503);
      response.end('x');
    };
    const work = send('{{item}}', { retry: { attempts: 2, backoffSeconds: 0 } });
    await stage.reach(await stage.start([foreach(ofItems(['a'], { stage: work }))]), 'completed');
    expect(paths()).to.equal(['/a', '/a']);
  });

  it('pipeline: hands parameters down and outputs up, and waits with its run', async () => {
    const templateId = await template(
      [
        { key: 'now', kind: 'tool', config: { toolId: 'time', toolAction: 'now' } },
        { ...ask, config: { message: 'For {{params.who}}?' } },
      ],
      { parameters: [{ key: 'who', type: 'string', required: true }] },
    );
    const used: TemplateStage = {
      key: 'used',
      kind: 'http',
      needs: ['sub'],
      config: { method: 'POST', url: `${stage.target.url}/{{stages.sub.output.ask.approved}}` },
    };
    const sub = nested(templateId, { config: { templateId, params: { who: 'Grace' } } });
    const id = await stage.start([sub, used]);
    const waiting = await stage.reach(id, 'waiting');
    const [part] = await parts(id);
    expect(waiting.stages[0]?.reason).to.equal(`The nested run ${part.id} is waiting`);
    const { stages } = await stage.run(part.id);
    expect(Object(stages[1]?.input).message).to.equal('For Grace?');
    const { digest } = stages[1] ?? {};
    await stage.call('POST', `/${part.id}/stages/ask/approve`, { digest });
    const run = await stage.reach(id, 'completed');
    expect(Object.keys(Object(run.stages[0]?.output))).to.equal(['now', 'ask']);
    expect(paths()).to.equal(['/true']);
    const wrong = await stage.reach(await stage.start([nested(templateId)]), 'failed');
    expect(wrong.error).to.equal(
      'sub: params.who is required. Correct the params of this stage in the template',
    );
  });

  it('pipeline: what came from outside stays untrusted on the way up', async () => {
    const read = { method: 'GET', url: `${stage.target.url}/page` };
    const templateId = await template([{ key: 'read', kind: 'http', config: read }]);
    const id = await stage.start([
      nested(templateId),
      {
        key: 'send',
        needs: ['sub'],
        ...send('{{stages.sub.output.read.body}}'),
        config: { method: 'POST', url: `${stage.target.url}/x`, body: '{{stages.sub.output}}' },
      },
    ]);
    const run = await stage.reach(id, 'waiting');
    expect(run.stages.map(({ status, untrusted }) => [status, untrusted])).to.equal([
      ['completed', true],
      ['waiting_approval', true],
    ]);
    await stage.call('POST', `/${id}/stop`);
  });

  it('stop with their run all that they have begun', async () => {
    stage.target.answer = () => {};
    const items = ['a', 'b', 'c', 'd'];
    const templateId = await template([foreach(ofItems(items, { stage: send('{{item}}') }))]);
    const id = await stage.start([nested(templateId)]);
    await stage.target.got(2);
    const [middle] = await parts(id);
    const stopped = await stage.call('POST', `/${id}/stop`);
    expect(stopped.body.status).to.equal('stopped');
    const below = await parts(middle.id);
    expect((await stage.run(middle.id)).status).to.equal('stopped');
    expect(below.map(({ status }: { status: string }) => status)).to.equal(['stopped', 'stopped']);
    expect(paths().sort()).to.equal(['/a', '/b']);
    // Both may have been done, so their owner is asked; the others are done without a question.
    stage.target.answer = stage.answer;
    await stage.call('POST', `/${id}/retry`, {});
    const asking = await until(
      async () => {
        const [again] = (await parts(id)).filter(({ status }: Part) => status !== 'stopped');
        const items: Part[] = again ? await parts(again.id) : [];
        return items.filter(({ status }) => status === 'waiting');
      },
      ({ length }) => length === 2,
    );
    expect(paths().sort()).to.equal(['/a', '/b']);
    for (const part of asking) {
      const { digest } = (await stage.run(part.id)).stages[0] ?? {};
      await stage.call('POST', `/${part.id}/stages/item/approve`, { digest });
    }
    await stage.reach(id, 'completed');
    expect(paths().sort()).to.equal(['/a', '/a', '/b', '/b', '/c', '/d']);
    const alone = await stage.start([nested(await template([ask]))]);
    await stage.reach(alone, 'waiting');
    await stage.call('POST', `/${(await parts(alone))[0].id}/stop`);
    expect((await stage.reach(alone, 'failed')).error).to.equal('sub: the nested run was stopped');
  });

  const change = (id: string, stages: TemplateStage[]) =>
    stage.call('PUT', `/templates/${id}`, { stages });

  it('may not start themselves, or name what is not there', async () => {
    const first = await template([ask]);
    const second = await template([nested(first)]);
    const itself = await change(first, [nested(second)]);
    expect([itself.status, itself.body.details]).to.equal([
      400,
      [
        {
          path: 'stages.0.config.templateId',
          message: `starts itself: ${first} → ${second} → ${first}`,
        },
      ],
    ]);
    const inItem = foreach(
      ofItems([1], { stage: { kind: 'pipeline', config: { templateId: 'none' } } }),
    );
    const missing = await change(first, [inItem]);
    expect(missing.body.details).to.equal([
      {
        path: 'stages.0.config.stage.config.templateId',
        message: 'refers to an unknown template: none',
      },
    ]);
    const other = await stage.app.register('bob');
    const theirs = { name: 'S', stages: [nested(first)] };
    const stolen = await stage.call('POST', '/templates', theirs, other.token);
    expect(stolen.body.details[0].message).to.equal(`refers to an unknown template: ${first}`);
  });

  it('may be nested five deep, also when templates change later', async () => {
    const first = await template([ask]);
    const second = await template([nested(first)]);
    let deep = second;
    for (let depth = 3; depth <= 5; depth++) deep = await template([nested(deep)]);
    const tooDeep = await stage.call('POST', '/templates', { name: 'D', stages: [nested(deep)] });
    expect(tooDeep.body.details[0].message).to.match(
      /^is nested more than 5 levels deep: this template → /,
    );
    const run = await stage.start([nested(await template([nested(second)]))]);
    await stage.reach(run, 'waiting');
    // Made deeper after the templates above it were checked.
    expect((await change(first, [nested(await template([ask]))])).status).to.equal(200);
    const late = await stage.call('POST', '', { templateId: deep });
    expect([late.status, late.body.details[0].path]).to.equal([400, 'templateId']);
    // A run that has begun before meets the limit when it comes to it.
    const begun = await stage.start([ask, nested(second, { needs: ['ask'] })]);
    let above = await template([ask]);
    for (let depth = 2; depth <= 4; depth++) above = await template([nested(above)]);
    expect((await change(second, [nested(above)])).status).to.equal(200);
    const { digest } = (await stage.run(begun)).stages[0] ?? {};
    await stage.call('POST', `/${begun}/stages/ask/approve`, { digest });
    const failed = await stage.reach(begun, 'failed');
    expect(failed.error).to.match(/Pipelines must not be nested more than 5 levels deep$/);
  });

  it('share the limits of all runs that contain them', async () => {
    const silent: TemplateStage = {
      key: 'agent',
      kind: 'agent',
      config: { prompt: 'Hi', model: 'silent' },
    };
    stage.target.answer = () => {};
    const templateId = await template([silent], { limits: { maxTokens: 90_000 } });
    const less = { ...silent, config: { ...silent.config, limits: { maxTokens: 30_000 } } };
    const id = await stage.start([nested(templateId), less], {
      template: { limits: { maxTokens: 100_000 } },
    });
    await stage.target.got(2);
    const agents = await stage.app.call('GET', '/api/agents', { token: stage.token });
    const limits = agents.body.agents.map(({ limits }: { limits: object }) => limits);
    const most = limits.map(({ maxTokens }: { maxTokens: number }) => maxTokens).sort();
    expect(most).to.equal([30_000, 70_000]);
    const late = await stage.start([silent, { ...silent, key: 'other' }], {
      template: { limits: { maxTokens: 50_000 } },
    });
    const { stages } = await until(
      () => stage.run(late),
      (now) => now.stages.every(({ status }) => status === 'running'),
    );
    const waiting = 'Waiting for budget that other stages of the run have reserved';
    expect(stages.map(({ reason, agentId }) => [reason, agentId !== null])).to.equal([
      [null, true],
      [waiting, false],
    ]);
    for (const each of [id, late]) await stage.call('POST', `/${each}/stop`);
  });

  it('go on after a restart, and do nothing twice', async () => {
    stage.target.answer = () => {};
    const items = Array.from({ length: 6 }, (_, at) => `i${at}`);
    const id = await stage.start([foreach(ofItems(items, { stage: send('{{item}}') }))]);
    await stage.target.got(2);
    await stage.app.restart();
    stage.target.answer = stage.answer;
    // What was under way may have been done: its owner is asked.
    const asking = await until(
      async () =>
        (await parts(id)).filter(({ status }: { status: string }) => status === 'waiting'),
      ({ length }) => length === 2,
    );
    for (const part of asking) {
      const { digest } = (await stage.run(part.id)).stages[0] ?? {};
      await stage.call('POST', `/${part.id}/stages/item/approve`, { digest });
    }
    await stage.reach(id, 'completed');
    const expected = ['/i0', '/i0', '/i1', '/i1', '/i2', '/i3', '/i4', '/i5'];
    const sent = paths().filter((path) => path.startsWith('/i'));
    expect(sent.sort()).to.equal(expected);
  });
});
