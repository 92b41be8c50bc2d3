import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { seedLostReply } from '../../harness/messages.js';
import { openForSuite } from '../../harness/suite.js';
import { openWorld } from '../world.js';

export const lab = Lab.script();
const { beforeEach, describe, it } = lab;

describe('replies of hooks', () => {
  const world = openForSuite(lab, openWorld);
  beforeEach(() => world.arrive());

  const credential = async () =>
    (await world.client.vault.create({ body: { name: 'bot', value: 'a token' } })).id;
  const create = (...more: string[]) =>
    world.cli([
      ...['hooks', 'create', '--name', 'issues', '--trigger', 'webhook'],
      ...['--webhook-path', 'issues', '--action', 'spawn_agent', '--agent-prompt', 'Answer.'],
      ...more,
    ]);

  it('are asked for at a terminal, with the credentials that there are', async () => {
    const credentialId = await credential();
    const answers = ['1', '', '1', 'Triage it.', '', '', 'y', '', 'y', '1', ''];
    const { code, stderr } = await world.cli(['hooks', 'create'], { terminal: 100, answers });
    expect(code, stderr).to.equal(0);
    expect(stderr).to.contain(
      'Each result is posted to the source of its delivery (github) without your approval.',
    );
    const [hook] = (await world.client.hooks.list()).hooks;
    expect(hook?.actionConfig.reply).to.equal({ preset: 'github', credentialId });
  });

  it('need a credential, which the questions say', async () => {
    const answers = ['1', '', '1', 'Triage it.', '', '', 'y', '', 'y'];
    const { code, stderr } = await world.cli(['hooks', 'create'], { terminal: 100, answers });
    expect([code, stderr.includes('No credential yet.')]).to.equal([0, true]);
    const [hook] = (await world.client.hooks.list()).hooks;
    expect(hook?.actionConfig.reply).to.be.undefined();
  });

  it('are set by flags, which errors name', async () => {
    await credential();
    const refused = await create('--reply', 'gitea', '--reply-mode', 'update');
    expect([refused.code, refused.stderr.split('\n').slice(1, 3)]).to.equal([
      2,
      [
        '  --reply-credential-id  is required',
        '  --reply-url            is required for gitea: the address of your server',
      ],
    ]);
    const flags = ['--reply', 'github', '--reply-credential-id', 'bot', '--reply-mode', 'update'];
    expect((await create(...flags)).code).to.equal(0);
    const [hook] = (await world.client.hooks.list()).hooks;
    expect(hook?.actionConfig.reply).to.include({ preset: 'github', mode: 'update' });
  });

  it('are listed with what to do next, and resent', async () => {
    await credential();
    await create('--reply', 'github', '--reply-credential-id', 'bot');
    const empty = await world.cli(['hooks', 'replies', 'issues'], { terminal: 120 });
    expect(empty.stderr).to.equal('No replies. Let the hook reply: adjutant hooks update --help\n');
    const [hook] = (await world.client.hooks.list()).hooks;
    const hookId = hook?.id ?? '';
    const executionId = 'execution_01kjmmby28jmvw9ntt390y69w5';
    const id = await seedLostReply(world.app, { hookId, executionId });
    const listed = await world.cli(['hooks', 'replies', 'issues'], { terminal: 120 });
    expect(listed.stdout).to.match(/unknown +octo\/hello#7/);
    expect(listed.stderr).to.equal(
      `Resend it: adjutant hooks resend-reply issues ${id.slice(-6)}\n`,
    );
    const again = await world.cli(['hooks', 'resend-reply', 'issues', id.slice(-6)]);
    expect([again.code, again.stdout.split('\t')[0]], again.stderr).to.equal([0, id]);
  });
});
