import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { TemplateStage } from '../../src/pipelines/templates/contract.js';
import { startOpenai } from '../harness/openai.js';
import { openTarget, type Target } from '../harness/target.js';
import { openPipelineStage, type PipelineStage } from './stage.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('bounds of runs', () => {
  let stage: PipelineStage;
  let target: Target;
  let other: Target;
  let model: Awaited<ReturnType<typeof startOpenai>>;
  before(async () => {
    target = await openTarget();
    other = await openTarget();
    model = await startOpenai();
    const egressAllow = [target.address, other.address];
    const config = { egressAllow, modelUrl: model.baseUrl, modelName: 'fake-1' };
    stage = await openPipelineStage({ config });
  });
  after(async () => {
    await stage.stop();
    target.close();
    other.close();
    await model.stop();
  });

  const ask: TemplateStage = { key: 'ask', kind: 'approval', config: { message: 'Go on?' } };
  const get = (key: string, path: string, more: Partial<TemplateStage> = {}): TemplateStage => ({
    key,
    kind: 'http',
    config: { method: 'GET', url: `${target.url}${path}` },
    ...more,
  });

  it('judge many slow conditions without holding up the daemon', async () => {
    target.answer = (response) => response.end('a'.repeat(40));
    const when = [
      { field: 'stages.read.output.body', operator: 'matches' as const, value: '(a|a)*b' },
    ];
    const slow = Array.from({ length: 40 }, (_, at) => ({
      ...ask,
      key: `s${at}`,
      needs: ['read'],
      when,
    }));
    /** Processor time in ms, which a turn of the loop spends whatever else the machine does. */
    const spent = (): number => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    };
    let longest = 0;
    let last = spent();
    const timer = setInterval(() => {
      longest = Math.max(longest, spent() - last);
      last = spent();
    }, 5);
    const id = await stage.start([get('read', '/a'), ...slow]);
    const run = await stage.reach(id, 'completed');
    clearInterval(timer);
    expect(run.stages.slice(1).every(({ status }) => status === 'skipped')).to.be.true();
    // Each takes 25 ms at most; together they would take a second.
    expect(longest < 500).to.be.true();
  });
});
