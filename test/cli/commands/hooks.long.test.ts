import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { senders } from '../../../cli/hooks/senders/form.js';
import { until } from '../../harness/app.js';
import { openForSuite } from '../../harness/suite.js';
import { start } from '../harness.js';
import { openWorld } from '../world.js';

export const lab = Lab.script();
const { describe, it, beforeEach } = lab;

const notify = ['--action', 'notify', '--notify-message', '{{event}} came'];
const webhook = (name: string) => ['--name', name, '--trigger', 'webhook', '--webhook-path', name];
const lines = (text: string): string[] => text.trimEnd().split('\n');

const LOSS =
  'This also deletes its 0 executions. Its senders are refused. Deliveries and spawned agents are kept until their retention ends.';

describe('hooks', () => {
  const world = openForSuite(lab, openWorld);
  beforeEach(() => world.arrive());

  const create = (name: string, ...words: string[]) =>
    world.cli(['hooks', 'create', ...webhook(name), ...notify, ...words]);
  const tsv = async (...words: string[]) => (await world.cli(['hooks', ...words])).stdout;

  it('creates from flags, and puts the new secret alone on stdout', async () => {
    const { code, stdout, stderr } = await create('github');
    expect([code, /^[\w-]{43}\n$/.test(stdout)]).to.equal([0, true]);
    expect(stderr).to.contain('Created github, enabled.');
    expect(stderr).to.contain(`Payload URL       ${world.app.url}/api/webhooks/github`);
    expect(stderr).to.not.contain(stdout.trim());
    const [hook] = (await world.client.hooks.list()).hooks;
    expect([hook?.triggerConfig.webhookSecretSet, hook?.actionConfig]).to.equal([
      true,
      { notifyMessage: '{{event}} came' },
    ]);
  });

  it('adds the secret to the reply with --json, and wants one where it has no place', async () => {
    const { id, secret } = JSON.parse((await create('github', '--json')).stdout);
    expect([typeof id, secret.length]).to.equal(['string', 43]);
    const { code, stderr } = await create('gitlab', '--output', 'id');
    expect([code, stderr]).to.equal([
      2,
      'This output cannot show the new secret. Pass your own: --secret-file\n',
    ]);
  });

  it('takes a secret of one’s own and does not show it', async () => {
    const file = await world.file('secret', 'my own secret\n');
    const { code, stdout, stderr } = await create('github', '--secret-file', file);
    expect([code, stdout.split('\t')[1]]).to.equal([0, 'github']);
    expect(stdout + stderr).to.not.contain('my own secret');
  });

  it('names what is missing or wrong by its flag', async () => {
    const { code, stderr } = await world.cli(['hooks', 'create', '--name', 'x', '--action', 'fly']);
    expect([code, lines(stderr)]).to.equal([
      2,
      [
        'Invalid request: 2 fields are invalid.',
        '  --trigger  is missing',
        '  --action   must be one of [spawn_agent, notify, webhook, execute_tool, start_pipeline] (got "fly")',
        'Help: adjutant hooks create --help',
      ],
    ]);
    const late = await world.cli(['hooks', 'create', ...webhook('x'), '--action', 'notify']);
    expect([late.code, lines(late.stderr)[1]]).to.equal([2, '  --notify-message  is required']);
  });

  it('asks for a whole hook at a terminal', async () => {
    const answers = ['1', '', '1', 'Triage it.', '', 'action = opened', 'y', 'web.read', ''];
    const { code, stdout, stderr } = await world.cli(['hooks', 'create'], {
      terminal: 100,
      answers,
    });
    expect([code, /^[\w-]{43}\n$/.test(stdout)]).to.equal([0, true]);
    expect(stderr).to.match(/Paste into GitHub[\s\S]+ Secret +below, shown only once\n/);
    expect(stderr).to.endWith('adjutant hooks send github --sample github/issues.opened\n');
    const [hook] = (await world.client.hooks.list()).hooks;
    expect(hook).to.include({
      name: 'github',
      trigger: 'webhook',
      action: 'spawn_agent',
      actionConfig: { agentPrompt: 'Triage it.', notifyOwner: true, agentTools: ['web.read'] },
      conditions: [{ field: 'webhook.body.action', operator: 'equals', value: 'opened' }],
    });
  });

  it('asks for a schedule as well', async () => {
    const answers = [
      `${senders.length + 1}`,
      'morning',
      '0 7 * * *',
      'Europe/Berlin',
      '2',
      'Good morning',
    ];
    const { code, stdout } = await world.cli(['hooks', 'create'], { terminal: 100, answers });
    expect([code, stdout]).to.equal([0, '']);
    const [hook] = (await world.client.hooks.list()).hooks;
    expect(hook?.triggerConfig).to.include({ cron: '0 7 * * *', timezone: 'Europe/Berlin' });
  });

  it('lists for a person with what to do next, and whole for a pipe', async () => {
    const empty = await world.cli(['hooks', 'list'], { terminal: 80 });
    expect([empty.code, empty.stdout, empty.stderr]).to.equal([
      0,
      '',
      'No hooks. Create one: adjutant hooks create\n',
    ]);
    await create('github');
    expect((await world.cli(['hooks', 'list'], { terminal: 80 })).stdout).to.equal(
      'NAME    STATE    TRIGGER         ACTION  RUNS  LAST\n' +
        'github  enabled  webhook github  notify     0  never\n',
    );
    const [hook] = (await world.client.hooks.list()).hooks;
    expect(await tsv('list')).to.equal(
      `${hook?.id}\tgithub\tenabled\twebhook\tnotify\t0\t\t\tgithub\t\n`,
    );
    expect(await tsv('list', '--fields', 'name,path,stats.executions')).to.equal(
      'github\tgithub\t0\n',
    );
    expect(await tsv('list', '--trigger', 'schedule')).to.equal('');
  });

  it('reads every page with --all', async () => {
    for (const name of ['one', 'two', 'three']) await create(name);
    const names = ['list', '--fields', 'name', '--limit', '2'];
    expect(lines(await tsv(...names))).to.equal(['three', 'two']);
    expect(lines(await tsv(...names, '--all'))).to.equal(['three', 'two', 'one']);
    const { hooks, nextCursor } = JSON.parse(await tsv('list', '--limit', '1', '--all', '--json'));
    expect([hooks.length, nextCursor]).to.equal([3, null]);
  });

  it('watches a list, and gives a row when it is new or has changed', async () => {
    await create('one');
    const fields = ['--fields', 'name,state'];
    const watching = start(['hooks', 'list', '--watch', ...fields, '--server', world.app.url]);
    expect(await watching.line()).to.equal('one\tenabled');
    await create('two');
    expect(await watching.line()).to.equal('two\tenabled');
    await tsv('disable', 'one');
    expect(await watching.line()).to.equal('one\tdisabled');
    watching.interrupt();
    expect(await watching.ended).to.equal(130);
  });

  it('changes one field and keeps the others beside it', async () => {
    await create('github', '--notify-channels', 'email,slack');
    const { code } = await world.cli(['hooks', 'update', 'github', '--notify-message', 'New']);
    const [hook] = (await world.client.hooks.list()).hooks;
    expect([code, hook?.actionConfig]).to.equal([
      0,
      { notifyMessage: 'New', notifyChannels: ['email', 'slack'] },
    ]);
    expect(hook?.triggerConfig.webhookSecretSet).to.be.true();
    expect((await world.cli(['hooks', 'update', 'github'])).code).to.equal(2);
  });

  it('disables, enables and deletes, the latter not unasked', async () => {
    await create('github');
    expect((await tsv('disable', 'github')).split('\t')[2]).to.equal('disabled');
    expect((await tsv('enable', 'github')).split('\t')[2]).to.equal('enabled');
    const unasked = await world.cli(['hooks', 'delete', 'github']);
    expect([unasked.code, unasked.stderr]).to.equal([
      2,
      `${LOSS}\nConfirmation is required, but there is no terminal. Add --yes.\n`,
    ]);
    const kept = await world.cli(['hooks', 'delete', 'github'], { terminal: 200, answers: ['n'] });
    expect([kept.code, await tsv('list', '--fields', 'name')]).to.equal([1, 'github\n']);
    expect(kept.stderr.split('\n')[0]).to.equal(LOSS);
    expect(kept.stderr).to.include('Delete hook github? This cannot be undone. [y/N] ');
    expect(kept.stderr).to.endWith('Not confirmed. Nothing was done.\n');
    expect((await world.cli(['hooks', 'rm', 'github', '--yes'])).code).to.equal(0);
    expect(await tsv('list')).to.equal('');
  });

  it('sends signed payloads, and shows the secret to the other receiver', async () => {
    const secret = await world.file('secret', (await create('github')).stdout);
    const payload = await world.file('p.json', '{"action":"opened"}');
    const send = (...words: string[]) =>
      world.cli(['hooks', 'send', 'github', payload, '--event', 'issues', ...words]);
    const signed = await send('--secret-file', secret);
    const incoming = await send('--secret-file', secret, '--incoming');
    expect([signed.code, incoming.code]).to.equal([0, 0]);
    expect(signed.stdout).to.match(/^delivery_\w+\texecution_\w+\taccepted\n$/);
    const wrong = await send('--secret-file', payload);
    expect([wrong.code, lines(wrong.stderr)[1]]).to.equal([
      1,
      'The secret differs. Create a new one: adjutant hooks rotate-secret github',
    ]);
    const runs = () => tsv('executions', 'github', '--fields', 'status,event');
    await until(runs, (text) => text === 'success\tissues\nsuccess\tissues\n');
  });

  it('sends a sample in place of a file', async () => {
    const secret = await world.file('secret', (await create('github')).stdout);
    const send = (...words: string[]) =>
      world.cli(['hooks', 'send', 'github', '--secret-file', secret, ...words]);
    expect((await send('--sample', 'github/issues.opened')).code).to.equal(0);
    const runs = () => tsv('executions', 'github', '--fields', 'status,event');
    await until(runs, (text) => text === 'success\tissues\n');
    const unknown = await send('--sample', 'github/none');
    expect([unknown.code, lines(unknown.stderr)[0]]).to.equal([2, 'Unknown sample "github/none".']);
    expect((await send()).code).to.equal(2);
    expect((await send(secret, '--sample', 'github/push')).code).to.equal(2);
  });

  it('tests, shows, replays and says what a test would do', async () => {
    await create('github');
    const payload = await world.file('p.json', '{"a":1}');
    const would = JSON.parse(
      await tsv('test', 'github', payload, '--dry-run', '--event', 'push', '--json'),
    );
    expect([would.wouldRun, would.rendered.body]).to.equal([true, 'push came']);
    const facts = await tsv('test', 'github', payload, '--dry-run', '--event', 'push');
    expect(lines(facts)).to.include([
      'wouldRun\ttrue',
      'action\tnotify',
      'rendered.body\tpush came',
    ]);
    const tested = (await tsv('test', 'github', payload, '--output', 'id')).trim();
    await until(
      () => tsv('execution', 'github', tested),
      (text) => text.includes('success'),
    );
    const run = JSON.parse(await tsv('execution', 'github', tested.slice(-6), '--json'));
    expect([run.id, run.triggerContext.webhook.body]).to.equal([tested, { a: 1 }]);
    const again = JSON.parse(await tsv('replay', 'github', tested.slice(-6), '--json'));
    expect(again.replayOf).to.equal(tested);
    const bad = await world.cli(['hooks', 'test', 'github', '-'], { stdin: '{' });
    expect([bad.code, bad.stderr.startsWith('- is not JSON')]).to.equal([2, true]);
  });

  it('prints what each sender wants to know', async () => {
    await create('github');
    const [hook] = (await world.client.hooks.list()).hooks;
    const shown = async (sender: string) =>
      JSON.parse(await tsv('settings', 'github', '--sender', sender, '--json')).facts[0][1];
    expect(await shown('gitea')).to.equal(`${world.app.url}/api/webhooks/github`);
    expect(await shown('gitlab')).to.equal(`${world.app.url}/api/hooks/incoming/${hook?.id}`);
    const { code, stderr } = await world.cli(['hooks', 'settings', 'github', '--sender', 'x']);
    expect([code, stderr]).to.equal([
      2,
      `--sender must be one of ${senders.join(', ')} (got "x")\n`,
    ]);
  });

  it('rotates a secret and puts the new one alone on stdout', async () => {
    const old = (await create('github')).stdout;
    const { code, stdout, stderr } = await world.cli([
      ...['hooks', 'rotate-secret', 'github', '--overlap-minutes', '30'],
    ]);
    expect([code, lines(stdout).length, stdout === old]).to.equal([0, 1, false]);
    expect(stderr).to.contain('The old secret stays valid until ');
  });
});
