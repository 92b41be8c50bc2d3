import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { findFirstSample, hookSample, sampleNames } from '../../../cli/hooks/sample.js';
import { senders } from '../../../cli/hooks/senders/form.js';
import { loadSenders, type SenderVerification } from '../../../src/client/index.js';
import { frozenClock, until } from '../../harness/app.js';
import { openForSuite } from '../../harness/suite.js';
import { openWorld } from '../world.js';

export const lab = Lab.script();
const { describe, it } = lab;

const SECRET = 'a secret of the samples';
/** As GitLab generates one: 32 bytes. */
const SIGNING_TOKEN = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
/** GitHub sends it when a webhook is created. It runs no action. */
const PING = 'github/ping';

describe('hooks send --sample', () => {
  const world = openForSuite(lab, openWorld);

  const hookOn = async (
    name: string,
    secret: string,
    verify?: SenderVerification,
  ): Promise<string> => {
    const { id } = await world.client.hooks.create({
      body: {
        name,
        trigger: 'webhook',
        triggerConfig: { webhookPath: name, webhookSecret: secret, verify },
        action: 'notify',
        actionConfig: { notifyMessage: 'It came' },
      },
    });
    return id;
  };
  /** What the daemon stored of the one delivery, when its execution has ended. */
  const runOf = async (id: string) => {
    const { executions } = await until(
      () => world.client.hooks.executions({ id }),
      (found) => found.executions.some(({ finishedAt }) => finishedAt !== null),
    );
    const [{ event, webhook } = { event: null, webhook: null }] = executions.map(
      ({ triggerContext }) => triggerContext,
    );
    const headers = Object.keys(webhook?.headers ?? {});
    return { status: executions[0]?.status, event, headers };
  };
  const send = async (hook: string, sample: string, secret: string) => {
    const words = ['hooks', 'send', hook, '--sample', sample, '--secret-file', '-'];
    return world.cli(words, { stdin: secret });
  };

  const eventsSent = async (names: string[], before: string, isVerified: boolean) => {
    const events: Record<string, unknown> = {};
    for (const [at, sample] of names.entries()) {
      const hook = `${before}-${at}`;
      const { sender } = hookSample(sample);
      const verify = sender === 'other' || !isVerified ? undefined : sender;
      const id = await hookOn(hook, SECRET, verify);
      const { code, stderr } = await send(hook, sample, SECRET);
      expect([sample, code, stderr]).to.match(/,0,POST /);
      const { status, event } = await runOf(id);
      expect([sample, status]).to.equal([sample, sample === PING ? 'skipped' : 'success']);
      events[sample] = event;
    }
    return events;
  };

  it('is signed as the hook’s sender signs', async () => {
    const events = await eventsSent(sampleNames, 'verified', true);
    expect(Object.values(events)).not.to.include(null);
    expect(events).to.include({
      'gitlab/push': 'Push Hook',
      'stripe/refund.created': 'refund.created',
      'slack/message': 'message',
      'jira/issue_created': 'jira:issue_created',
      'shopify/orders.create': 'orders/create',
      'linear/issue.create': 'Issue',
      'sentry/event_alert': 'event_alert',
      'grafana/firing': 'firing',
      'pagerduty/incident.triggered': 'incident.triggered',
      'gitea/push': 'push',
      'bitbucket-cloud/push': 'repo:push',
    });
  });

  it('is taken by a hook that names no sender', async () => {
    const known = sampleNames.filter((name) => /^(github|gitlab|gitea|stripe)\//.test(name));
    expect(await eventsSent(known, 'plain', false)).to.equal({
      [PING]: 'ping',
      'github/issues.opened': 'issues',
      'github/pull_request.opened': 'pull_request',
      'github/push': 'push',
      'gitlab/issue': 'Issue Hook',
      'gitlab/merge_request': 'Merge Request Hook',
      'gitlab/push': 'Push Hook',
      'gitea/issues.opened': 'issues',
      'gitea/push': 'push',
      'stripe/payment_intent.succeeded': 'payment_intent.succeeded',
      'stripe/refund.created': 'refund.created',
    });
  });

  it('is signed --as another sender, and says so if the hook expects its own', async () => {
    await hookOn('gogs', SECRET, 'gogs');
    const words = ['hooks', 'send', 'gogs', '--sample', 'gitea/push', '--secret-file', '-'];
    expect((await world.cli([...words, '--as', 'gogs'], { stdin: SECRET })).code).to.equal(0);
    const other = await world.cli([...words, '--as', 'jira'], { stdin: SECRET });
    expect(other.stderr).to.contain('adjutant hooks update gogs --verify jira');
    const sns = await world.cli([...words, '--as', 'sns'], { stdin: SECRET });
    expect([sns.code, sns.stderr]).to.equal([
      1,
      'Only Amazon can sign SNS messages. Publish a test message in Amazon SNS.\n',
    ]);
    const unknown = await world.cli([...words, '--as', 'nobody'], { stdin: SECRET });
    expect([unknown.code, unknown.stderr.split('\n')[0]]).to.equal([
      ...[2, 'Unknown sender "nobody" for --as.'],
    ]);
  });

  it('is signed as GitLab does with a signing token, and shown without one', async () => {
    const id = await hookOn('signed', SIGNING_TOKEN);
    const signed = await send('signed', 'gitlab/push', SIGNING_TOKEN);
    expect(signed.stderr).to.contain('/api/webhooks/signed').and.to.contain('bytes, signed');
    expect((await runOf(id)).headers).to.include(['webhook-id', 'webhook-timestamp']);
    await hookOn('shown', SECRET);
    const shown = await send('shown', 'gitlab/push', SECRET);
    expect(shown.stderr).to.contain('/api/hooks/incoming/').and.to.contain('with its secret');
  });

  it('is refused with another secret, whoever sends it', async () => {
    await hookOn('other', SECRET);
    for (const sender of ['github/push', 'gitlab/push', 'gitea/push', 'stripe/refund.created']) {
      const { code, stderr } = await send('other', sender, 'not the secret');
      expect([sender, code, stderr.split('\n')[0]?.slice(0, 16)]).to.equal([
        ...[sender, 1, 'Refused with 401'],
      ]);
    }
  });
});

describe('hooks settings --await-token', () => {
  const world = openForSuite(lab, openWorld);

  const arrive = (token: string) =>
    world.client.with({ token: undefined }).request({
      method: 'POST',
      path: '/api/webhooks/pages',
      body: JSON.stringify({ verification_token: token }),
      headers: { 'content-type': 'application/json' },
    });

  it('makes the token that came the secret of the hook', async () => {
    const { id } = await world.client.hooks.create({
      body: {
        name: 'pages',
        trigger: 'webhook',
        triggerConfig: { webhookPath: 'pages', verify: 'notion' },
        action: 'notify',
        actionConfig: { notifyMessage: 'It came' },
      },
    });
    const awaiting = world.cli(['hooks', 'settings', 'pages', '--await-token', '--yes']);
    await until(
      () => world.client.hooks['awaited-token']({ id }),
      (found) => found.until !== null,
    );
    await arrive('secret_of_Notion');
    const { code, stdout, stderr } = await awaiting;
    expect([code, stdout]).to.equal([0, 'secret_of_Notion\n']);
    expect(stderr).to.match(/Webhook URL .+\/api\/webhooks\/pages\n[\s\S]*Waiting for a token/);
    const words = ['hooks', 'send', 'pages', '--sample', 'github/push', '--secret-file', '-'];
    expect((await world.cli(words, { stdin: 'secret_of_Notion' })).code).to.equal(0);
    expect((await world.cli(words, { stdin: 'another' })).code).to.equal(1);
  });

  it('shows all that came, and confirms none of several', async () => {
    const id = (await world.client.hooks.list()).hooks[0]?.id ?? '';
    const clock = frozenClock();
    const awaiting = world.cli(['hooks', 'await-token', 'pages', '--yes'], { clock });
    await clock.waiting(1000);
    await Promise.all([arrive('secret_of_Notion'), arrive('secret_of_another')]);
    clock.forward(1000);
    const { code, stdout, stderr } = await awaiting;
    expect([code, stdout.split('\n').sort()]).to.equal([
      ...[1, ['', 'secret_of_Notion', 'secret_of_another']],
    ]);
    expect(stderr).to.contain(`adjutant api POST /api/hooks/${id}/confirm-token`);
  });
});

describe('hooks create at a terminal', () => {
  const world = openForSuite(lab, openWorld);

  const asked = async (choice: string) => {
    const { stderr } = await world.cli(['hooks', 'create'], {
      terminal: 100,
      answers: [choice, '', '2', '', ''],
    });
    const [, pasted = ''] = stderr.split('\nPaste into ');
    return pasted.split('\n').flatMap((line) => /^ {2}(\w[\w ]*?) {2,}/.exec(line)?.[1] ?? []);
  };

  it('names the fields of each form as the sender does', async () => {
    expect(await asked('1')).to.equal([
      ...['Payload URL', 'Content type', 'Secret', 'SSL verification', 'Events'],
    ]);
    expect(await asked('gitlab')).to.equal(['URL', 'Secret token', 'Trigger', 'SSL verification']);
    expect(await asked('Gitea, Forgejo')).to.equal([
      ...['Target URL', 'HTTP Method', 'POST Content Type', 'Secret', 'Trigger On'],
    ]);
    expect(await asked('Jira')).to.equal(['Name', 'Status', 'URL', 'Secret', 'Events']);
    expect(await asked('other')).to.equal(['Address', 'Body', 'Signature', 'Secret']);
  });

  it('asks for a secret that the sender makes, which may come later', async () => {
    const answers = ['stripe', 'later', '2', '', ''];
    const later = await world.cli(['hooks', 'create'], {
      terminal: 100,
      answers: [...answers, ''],
    });
    expect(later.stderr).to.contain('adjutant hooks update later --secret-file -');
    expect(later.stdout).to.equal('');
    answers[1] = 'now';
    const secret = 'whsec_of Stripe';
    const now = await world.cli(['hooks', 'create'], {
      terminal: 100,
      answers: [...answers, secret],
    });
    expect(now.stderr).not.to.contain('--secret-file -').and.not.to.contain(secret);
    const { hooks } = await world.client.hooks.list();
    const made = hooks.map(({ name, triggerConfig }) => [
      name,
      triggerConfig.verify,
      triggerConfig.webhookSecretSet,
    ]);
    expect(made).to.include([
      ['later', 'stripe', false],
      ['now', 'stripe', true],
    ]);
  });

  it('has a form for every preset, and a sample for each of the ten most used', async () => {
    const { PRESET_NAMES } = await loadSenders();
    expect([...senders].map(String).sort()).to.equal([...PRESET_NAMES, 'other'].sort());
    expect(senders.slice(0, 12).filter((sender) => findFirstSample(sender) === undefined)).to.equal(
      [],
    );
  });
});
