import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { TemplateStage } from '../../src/pipelines/templates/contract.js';
import { openForSuite } from '../harness/suite.js';
import { approval, openTargetStage } from './stage.js';

export const lab = Lab.script();
const { describe, it, afterEach } = lab;

describe('values, and what is approved with them', () => {
  const stage = openForSuite(lab, openTargetStage);
  afterEach(() => stage.forget());

  const call = (key: string, config: object = {}, more: Partial<TemplateStage> = {}) => ({
    key,
    kind: 'http' as const,
    config: { method: 'GET', url: `${stage.target.url}/${key}`, ...config },
    ...more,
  });
  const tell = (message: string, more: Partial<TemplateStage>): TemplateStage => ({
    key: 'tell',
    kind: 'tool',
    config: { toolId: 'notify', toolAction: 'send', toolParams: { title: 'T', message } },
    ...more,
  });
  const answer = async (id: string, key: string, verb: string, more: object = {}) => {
    const { stages } = await stage.run(id);
    const digest = stages.find((one) => one.key === key)?.digest;
    return stage.call('POST', `/${id}/stages/${key}/${verb}`, { digest, ...more });
  };

  it('are empty for fields of a form that were left out', async () => {
    const fields = [
      { key: 'owner', label: 'Owner', type: 'string', required: true },
      { key: 'size', label: 'Size', type: 'string' },
    ];
    const form: TemplateStage = { key: 'form', kind: 'input', config: { message: 'Who?', fields } };
    const path = '/{{stages.form.output.owner}}/{{stages.form.output.size}}-';
    const id = await stage.start([
      form,
      call('call', { url: `${stage.target.url}${path}` }, { needs: ['form'] }),
    ]);
    await answer(id, 'form', 'input', { values: { owner: 'ada' } });
    await stage.reach(id, 'completed');
    expect(stage.target.received[0]?.path).to.equal('/ada/-');
  });

  it('fail the stage that names what a reply does not have', async () => {
    stage.target.answer = (response) => response.end('{"user":{"name":"ada"}}');
    const url = `${stage.target.url}/{{stages.a.output.body.user.mail}}`;
    const id = await stage.start([call('a'), call('b', { url }, { needs: ['a'] })]);
    expect((await stage.reach(id, 'failed')).error).to.equal(
      'b: {{stages.a.output.body.user.mail}} has no value in this run. Correct the placeholder in the template, or provide the value in the parameters or in the output of an earlier stage',
    );
    expect(stage.target.received).to.have.length(1);
  });

  it('fail the stage whose text would be cut, so that nothing is hidden behind long values', async () => {
    const parameters = [{ key: 'long', type: 'text' }];
    const message = 'Text: {{params.long}} It goes to {{run.id}}';
    const id = await stage.start([approval('ok', { config: { message } })], {
      params: { long: 'x'.repeat(262_200) },
      template: { parameters },
    });
    expect((await stage.reach(id, 'failed')).error).to.equal(
      'ok: The rendered text exceeds 262144 characters. Use shorter values',
    );
  });

  it('say why a stage failed or was skipped; of one that completed there is no error', async () => {
    stage.target.answer = (response) => response.writeHead(507).end('{"error":"quota exceeded"}');
    const id = await stage.start([
      call('deploy'),
      call('check', {}, { needs: ['deploy'] }),
      tell('{{stages.deploy.error}}, {{stages.check.error}}', {
        needs: ['deploy', 'check'],
        runIf: 'failure',
      }),
    ]);
    const { stages } = await stage.reach(id, 'failed');
    expect(Object(stages[2]?.input).arguments.message).to.equal(
      '507 from the target, deploy did not complete',
    );
    // What a request that failed has answered is shown.
    expect(Object(stages[0]?.output)).to.include({
      status: 507,
      body: { error: 'quota exceeded' },
    });
    stage.target.answer = stage.answer;
    const well = await stage.start([
      call('deploy'),
      call(
        'post',
        { method: 'POST', body: '{{stages.deploy.error}}' },
        {
          needs: ['deploy'],
          runIf: 'always',
          allowUntrusted: true,
        },
      ),
    ]);
    await stage.reach(well, 'completed');
    expect(stage.target.received.at(-1)?.body).to.equal('');
  });

  it('go nowhere after a rejection, also where the run goes on', async () => {
    const id = await stage.start([
      approval('ok', { onError: 'continue' }),
      call('send', { method: 'POST' }, { needs: ['ok'] }),
      tell('no', { needs: ['ok'], runIf: 'failure' }),
    ]);
    await answer(id, 'ok', 'reject');
    const { stages } = await stage.reach(id, 'completed');
    expect(stages.map(({ status, reason }) => [status, reason])).to.equal([
      ['failed', null],
      ['skipped', 'ok was not approved'],
      ['completed', null],
    ]);
    expect(stage.target.received).to.equal([]);
  });

  it('have a week to be approved, however short their call may take', async () => {
    const id = await stage.start([
      call('page'),
      call('send', { method: 'POST' }, { needs: ['page'], timeoutSeconds: 2 }),
    ]);
    const { stages } = await stage.reach(id, 'waiting');
    const days = (Date.parse(stages[1]?.dueAt ?? '') - Date.now()) / 86_400_000;
    expect(Math.round(days)).to.equal(7);
  });

  it('are not sent again by a token that may not approve', async () => {
    const id = await stage.start([
      approval('ok'),
      call('send', { method: 'POST' }, { needs: ['ok'] }),
    ]);
    await answer(id, 'ok', 'approve');
    await stage.reach(id, 'completed');
    const body = { name: 't', scopes: ['pipelines:write'] };
    const made = await stage.app.call('POST', '/api/auth/tokens', { token: stage.token, body });
    const again = { fromStage: 'send' };
    const refused = await stage.call('POST', `/${id}/retry`, again, made.body.token);
    expect([refused.status, refused.body.code]).to.equal([403, 'approval_right_missing']);
    expect((await stage.call('POST', `/${id}/retry`, again)).status).to.equal(200);
    await stage.reach(id, 'completed');
    expect(stage.target.received).to.have.length(2);
  });
});
