import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { until } from '../harness/app.js';
import { type Desk, onPath, openDesk } from '../harness/hooks.js';
import { openTarget, type Target } from '../harness/target.js';

export const lab = Lab.script();
const { describe, it, before, after, beforeEach } = lab;

describe('hooks that start pipelines', () => {
  let desk: Desk;
  let target: Target;
  before(async () => {
    target = await openTarget();
    desk = await openDesk({ config: { registration: 'open', egressAllow: [target.address] } });
  });
  beforeEach(() => desk.arrive());
  after(async () => {
    await desk.test.stop();
    target.close();
  });

  const parameters = [
    { key: 'ref', type: 'string', required: true },
    { key: 'count', type: 'number' },
  ];
  const template = async (): Promise<string> => {
    const config = {
      method: 'POST',
      url: `${target.url}/out`,
      body: { count: '{{params.count}}' },
    };
    const stages = [{ key: 'send', kind: 'http', config }];
    const given = { name: 'Deploy', parameters, stages };
    return (await desk.ask('POST', '/api/pipelines/templates', given)).body.id;
  };
  const hook = (templateId: string, params: object, more: object = {}) => ({
    ...onPath('deploy'),
    action: 'start_pipeline',
    actionConfig: { templateId, params },
    ...more,
  });
  const PARAMS = { ref: '{{webhook.body.ref}}', count: '{{webhook.body.commits}}' };

  it('start one run for a delivery, which is untrusted and asks before it acts', async () => {
    const templateId = await template();
    const id = await desk.hook(hook(templateId, PARAMS));
    await desk.deliver('deploy', JSON.stringify({ ref: 'main', commits: 3 }));
    const [execution] = await desk.ended(id);
    expect([execution.status, Object.keys(execution.result)]).to.equal(['success', ['pipelineId']]);
    const path = `/api/pipelines/${execution.result.pipelineId}`;
    const { body: run } = await until(
      () => desk.ask('GET', path),
      ({ body }) => body.status === 'waiting',
    );
    expect([run.untrusted, run.params, run.name]).to.equal([
      true,
      { ref: 'main', count: 3 },
      'Deploy',
    ]);
    expect(target.received).to.equal([]);
    const { digest } = run.stages[0];
    await desk.ask('POST', `${path}/stages/send/approve`, { digest });
    const [sent] = await target.got(1);
    expect(JSON.parse(sent?.body ?? '')).to.equal({ count: 3 });
    expect(sent?.headers['x-adjutant-hops']).to.equal('1');
    const again = await desk.ask('POST', `/api/hooks/${id}/executions/${execution.id}/replay`, {});
    expect([again.status, again.body.code]).to.equal([409, 'effect_done']);
    const { body } = await desk.ask('GET', `/api/pipelines?templateId=${templateId}`);
    expect(body.pipelines.length).to.equal(1);
  });

  it('fail with the parameter that does not fit, and start nothing', async () => {
    const templateId = await template();
    const id = await desk.hook(hook(templateId, PARAMS));
    await desk.deliver('deploy', JSON.stringify({ ref: 'main', commits: 'many' }));
    const [execution] = await desk.ended(id);
    expect([execution.status, execution.error]).to.equal([
      'error',
      'params.count must be a number. Correct the params of the start, or the template',
    ]);
    await desk.ask('DELETE', `/api/pipelines/templates/${templateId}`);
    await desk.deliver('deploy', JSON.stringify({ ref: 'main', commits: 1 }));
    const [late] = await desk.ended(id, 2);
    expect(late.error).to.equal(
      `Unknown pipeline template: ${templateId}. Correct templateId in actionConfig`,
    );
    expect((await desk.ask('GET', '/api/pipelines')).body.pipelines).to.equal([]);
  });

  it('are saved by the person, with a template and parameters that there are', async () => {
    const templateId = await template();
    const create = (given: object, token = desk.owner.token) =>
      desk.test.call('POST', '/api/hooks', {
        token,
        body: { name: 'h', trigger: 'webhook', ...given },
      });
    const faultsOf = async (given: object) =>
      (await create(given)).body.details.map(({ path }: { path: string }) => path);
    expect(await faultsOf(hook('', {}))).to.equal(['actionConfig.templateId']);
    expect(await faultsOf(hook('none', {}))).to.equal(['actionConfig.templateId']);
    expect(await faultsOf(hook(templateId, { other: '{{event}}', count: true }))).to.equal([
      'actionConfig.params.other',
      'actionConfig.params.ref',
      'actionConfig.params.count',
    ]);
    const kept = await desk.hook({ actionConfig: { notifyMessage: 'x', templateId: 'none' } });
    const turned = await desk.ask('PUT', `/api/hooks/${kept}`, { action: 'start_pipeline' });
    expect([turned.status, turned.body.details?.[0]?.path]).to.equal([
      400,
      'actionConfig.templateId',
    ]);
    const eve = await desk.test.register(`eve${Math.random()}`.replace('.', ''));
    expect((await create(hook(templateId, PARAMS), eve.token)).status).to.equal(400);
    const { body } = await desk.ask('POST', '/api/auth/tokens', {
      name: 'script',
      scopes: ['hooks:write', 'pipelines:write'],
    });
    const refused = await create(hook(templateId, PARAMS), body.token);
    expect([refused.status, refused.body.code]).to.equal([403, 'approval_right_missing']);
  });

  it('show what they would start', async () => {
    const templateId = await template();
    const id = await desk.hook(hook(templateId, PARAMS));
    const { body } = await desk.ask('POST', `/api/hooks/${id}/test`, {
      payload: { ref: 'dev', commits: 1 },
      dryRun: true,
    });
    expect(body.rendered).to.equal({ templateId, params: { ref: 'dev', count: '1' } });
  });
});
