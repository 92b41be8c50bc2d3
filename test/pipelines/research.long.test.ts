import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { TemplateStage } from '../../src/pipelines/templates/contract.js';
import { until } from '../harness/app.js';
import {
  queriesOf,
  quotingReport,
  researchConfig,
  startResearcher,
  startWeb,
} from '../harness/web.js';
import { openPipelineStage, type PipelineStage } from './stage.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const page = (text: string): string => `<title>T</title><article><p>${text}</p></article>`;
const BRIDGE = 'Alton is a town. The bridge of Alton was closed in March. People swim now.';
const QUESTION = 'When was the bridge of Alton closed?';

describe('stages that research', () => {
  let stage: PipelineStage;
  let web: Awaited<ReturnType<typeof startWeb>>;
  let model: Awaited<ReturnType<typeof startResearcher>>;
  /** True while the slow page is not answered. */
  let isHeld = true;
  before(async () => {
    web = await startWeb([
      {
        '/bridge': page(BRIDGE),
        '/slow': (response) => void (isHeld || response.end(page(BRIDGE))),
      },
    ]);
    model = await startResearcher((task, prompt) =>
      task === 'write' ? quotingReport(prompt) : queriesOf('one'),
    );
    stage = await openPipelineStage({ config: researchConfig(web, model) });
  });
  after(async () => {
    await stage.stop();
    await web.stop();
    await model.stop();
  });

  const research: TemplateStage = {
    key: 'look',
    kind: 'research',
    config: { question: '{{params.question}}', depth: 'quick' },
  };
  const parameters = [{ key: 'question', type: 'string' }];
  const start = (stages: TemplateStage[]) =>
    stage.start(stages, { params: { question: QUESTION }, template: { parameters } });

  it('hand on the report, which is untrusted, and count what it has cost', async () => {
    web.finds([web.at(0, '/bridge')]);
    const id = await start([
      research,
      {
        key: 'tell',
        kind: 'tool',
        needs: ['look'],
        config: {
          toolId: 'notify',
          toolAction: 'send',
          toolParams: { title: 'R', message: '{{stages.look.output.markdown}}' },
        },
      },
    ]);
    const run = await stage.reach(id, 'completed');
    const [look, tell] = run.stages;
    expect([look?.untrusted, tell?.untrusted]).to.equal([true, true]);
    expect(Object(tell?.input).arguments.message).to.contain('Source 1 says so. [1]');
    expect(Object(look?.output).sources.length).to.equal(1);
    expect(look?.operationId).to.match(/^operation_/);
    // Two questions to a model that counts 120 tokens each.
    expect(run.usage.tokens).to.equal(240);
    // The run tells of its end; the research in it does not.
    const read = await stage.app.call('GET', '/api/notifications', { token: stage.token });
    const kinds = read.body.notifications.map(({ kind }: { kind: string }) => kind);
    expect(kinds.sort()).to.equal(['agent_notice', 'pipeline_completed']);
  });

  it('cancel it with their run, and go on with it after a restart', async () => {
    web.finds([web.at(0, '/slow')]);
    const operation = async (id: string) => {
      const operationId = await until(
        async () => (await stage.run(id)).stages[0]?.operationId,
        (found) => typeof found === 'string',
      );
      const path = `/api/operations/${operationId}`;
      return (await stage.app.call('GET', path, { token: stage.token })).body;
    };
    const id = await start([research]);
    expect((await operation(id)).status).to.match(/queued|running/);
    await stage.call('POST', `/${id}/stop`);
    expect((await operation(id)).status).to.equal('cancelled');
    const other = await start([research]);
    const before = await operation(other);
    isHeld = false;
    await stage.app.restart();
    await stage.reach(other, 'completed');
    expect((await operation(other)).id).to.equal(before.id);
  });

  it('reserve what it may cost, also where it was approved first', async () => {
    isHeld = true;
    web.finds([web.at(0, '/slow')]);
    const page = { method: 'GET', url: web.at(0, '/bridge') };
    const id = await stage.start(
      [
        { key: 'page', kind: 'http', config: page },
        { ...research, needs: ['page'], config: { question: '{{stages.page.output.status}}?' } },
      ],
      { template: { parameters, limits: { maxCostUsd: 0.25 } }, params: { question: QUESTION } },
    );
    const { digest } = (await stage.reach(id, 'waiting')).stages[1] ?? {};
    await stage.call('POST', `/${id}/stages/look/approve`, { digest });
    await until(
      async () => (await stage.run(id)).stages[1]?.operationId,
      (found) => typeof found === 'string',
    );
    const { db } = stage.app.app.store;
    const row = db.selectFrom('pipeline_stages').select('reserved_usd').where('run_id', '=', id);
    expect(await row.where('key', '=', 'look').execute()).to.equal([{ reserved_usd: 0.25 }]);
    const jobs = await stage.app.call('GET', '/api/research/jobs', { token: stage.token });
    expect(jobs.body.jobs[0].limits.maxCostUsd).to.equal(0.25);
    await stage.call('POST', `/${id}/stop`);
    expect(await row.where('key', '=', 'look').execute()).to.equal([{ reserved_usd: 0 }]);
  });
});
