import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { PipelineRun } from '../../src/pipelines/runs/contract.js';
import type { TemplateStage } from '../../src/pipelines/templates/contract.js';
import { until, untilMatches } from '../harness/app.js';
import { openForSuite } from '../harness/suite.js';
import { openTargetStage } from './stage.js';

export const lab = Lab.script();
const { describe, it, afterEach } = lab;

describe('calls that may have been done', () => {
  const stage = openForSuite(lab, openTargetStage);
  afterEach(() => stage.forget());

  const post = (key: string, more: Partial<TemplateStage> = {}): TemplateStage => ({
    key,
    kind: 'http',
    // What other stages get is from outside, and what follows would wait for an approval.
    allowUntrusted: true,
    config: { method: 'POST', url: `${stage.target.url}/${key}` },
    ...more,
  });
  const get = (key: string, more: Partial<TemplateStage> = {}): TemplateStage => ({
    ...post(key, more),
    config: { method: 'GET', url: `${stage.target.url}/${key}` },
  });
  const nested = async (
    stages: TemplateStage[],
    more: Partial<TemplateStage> = {},
  ): Promise<TemplateStage> => {
    const made = await stage.call('POST', '/templates', { name: `N${Math.random()}`, stages });
    return { key: 'sub', kind: 'pipeline', config: { templateId: made.body.id }, ...more };
  };
  /** Answers what is asked for at these paths, each with the given status, and nothing at `hold`. */
  const answers = (statuses: Record<string, number | 'hold' | 'cut'>): void => {
    stage.target.answer = (response, nth) => {
      const how = statuses[stage.target.received[nth - 1]?.path.slice(1) ?? ''] ?? 200;
      if (how === 'cut') response.destroy();
      else if (how !== 'hold') response.writeHead(how).end('x');
    };
  };
  const sent = () => stage.target.received.map(({ path }) => path.slice(1));
  const retry = (id: string, fromStage?: string) =>
    stage.call('POST', `/${id}/retry`, fromStage === undefined ? {} : { fromStage });
  const stop = (id: string) => stage.call('POST', `/${id}/stop`);
  const asked = async (id: string, key: string) => {
    const run = await until(
      () => stage.run(id),
      ({ stages }) => stages.find((one) => one.key === key)?.status === 'waiting_approval',
    );
    return run.stages.find((one) => one.key === key);
  };
  const answer = async (id: string, key: string, verb: 'approve' | 'reject') => {
    const { digest } = (await asked(id, key)) ?? {};
    return stage.call('POST', `/${id}/stages/${key}/${verb}`, { digest });
  };
  const parts = async (id: string): Promise<PipelineRun[]> =>
    (await stage.call('GET', `?parentId=${id}&limit=200`)).body.pipelines;

  it('are asked about where the answer was lost or took too long, and not tried again', async () => {
    answers({ lost: 'cut', slow: 'hold', read: 'cut' });
    const again = { retry: { attempts: 3, backoffSeconds: 0.01 } };
    const id = await stage.start([
      post('lost', again),
      post('slow', { timeoutSeconds: 1, ...again }),
      get('read', { onError: 'continue', ...again }),
    ]);
    const lost = await asked(id, 'lost');
    const slow = await asked(id, 'slow');
    expect([lost?.reason, slow?.reason]).to.equal([
      `${lost?.reason?.split('. The call may')[0]}. The call may already have taken effect. Approve to repeat the call.`,
      'The stage exceeded its timeout of 1 s. The call may already have taken effect. Approve to repeat the call.',
    ]);
    await untilMatches(async () => sent(), { length: 5 });
    expect(sent().sort()).to.equal(['lost', 'read', 'read', 'read', 'slow']);
    answers({});
    await answer(id, 'lost', 'approve');
    await answer(id, 'slow', 'reject');
    expect((await stage.reach(id, 'failed')).stages.map(({ status }) => status)).to.equal([
      'completed',
      'failed',
      'failed',
    ]);
    await retry(id);
    await asked(id, 'slow');
    expect(sent().filter((path) => path === 'slow')).to.have.length(1);
    await stop(id);
  });

  it('stay in doubt when a goto leads back to them, also after a no', async () => {
    answers({ send: 'hold' });
    const id = await stage.start([
      get('a'),
      post('send', { needs: ['a'], onError: { goto: 'a' } }),
    ]);
    await stage.target.got(2);
    await stop(id);
    answers({});
    await retry(id);
    await answer(id, 'send', 'reject');
    const again = await asked(id, 'send');
    expect([again?.visits, sent()]).to.equal([3, ['a', 'send', 'a']]);
    await answer(id, 'send', 'approve');
    await stage.reach(id, 'completed');
    expect(sent()).to.equal(['a', 'send', 'a', 'send']);
  });

  it('are those of an item, wherever it stands in the list', async () => {
    answers({ ada: 'hold' });
    let list = ['ada', 'bob'];
    const serve = stage.target.answer;
    stage.target.answer = (response, nth) => {
      const isList = stage.target.received[nth - 1]?.path === '/list';
      if (isList) response.end(JSON.stringify(list));
      else serve(response, nth);
    };
    const each: TemplateStage = {
      key: 'each',
      kind: 'foreach',
      needs: ['list'],
      config: {
        items: '{{stages.list.output.body}}',
        concurrency: 1,
        stage: {
          kind: 'http',
          allowUntrusted: true,
          config: { method: 'POST', url: `${stage.target.url}/{{item}}` },
        },
      },
    };
    const id = await stage.start([get('list'), each]);
    await stage.target.got(2);
    await stop(id);
    list = ['zoe', 'ada', 'bob'];
    stage.target.answer = (response, nth) =>
      response.end(stage.target.received[nth - 1]?.path === '/list' ? JSON.stringify(list) : 'x');
    await retry(id, 'list');
    const [waiting] = await until(
      async () => (await parts(id)).filter(({ status }) => status === 'waiting'),
      ({ length }) => length === 1,
    );
    expect([waiting?.itemAt, sent()]).to.equal([1, ['list', 'ada', 'list', 'zoe']]);
    await answer(waiting?.id ?? '', 'item', 'reject');
    await stage.reach(id, 'failed');
    expect(sent()).to.equal(['list', 'ada', 'list', 'zoe']);
  });

  it('are not those that a nested pipeline has completed: it goes on from what failed', async () => {
    answers({ fail: 500 });
    const inner = [post('pay'), post('fail', { needs: ['pay'] })];
    const more = { retry: { attempts: 2, backoffSeconds: 0.01 } };
    const id = await stage.start([await nested(inner, more)]);
    await stage.reach(id, 'failed');
    expect(sent()).to.equal(['pay', 'fail', 'fail']);
    answers({});
    await retry(id);
    await stage.reach(id, 'completed');
    expect(sent()).to.equal(['pay', 'fail', 'fail', 'fail']);
    // From the stage on, all of it is done again.
    await retry(id, 'sub');
    await stage.reach(id, 'completed');
    expect(sent().slice(4)).to.equal(['pay', 'fail']);
  });

  it('are asked about in the nested pipelines of items, and nothing is done twice', async () => {
    answers({ second: 'hold' });
    const inner = await nested([post('first'), post('second', { needs: ['first'] })]);
    const work = { kind: 'pipeline' as const, config: inner.config };
    const each: TemplateStage = {
      key: 'each',
      kind: 'foreach',
      config: { items: [1, 2], concurrency: 2, stage: work },
    };
    const id = await stage.start([each]);
    await stage.target.got(4);
    await stop(id);
    answers({});
    await retry(id);
    const items = await until(
      async () => (await parts(id)).filter(({ status }) => status === 'waiting'),
      ({ length }) => length === 2,
    );
    for (const item of items) {
      const [below] = await parts(item.id);
      await answer(below?.id ?? '', 'second', 'approve');
    }
    await stage.reach(id, 'completed');
    expect(sent().sort()).to.equal(['first', 'first', 'second', 'second', 'second', 'second']);
  });
});
