import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { openForSuite } from '../../harness/suite.js';
import { openWorld } from '../world.js';

export const lab = Lab.script();
const { describe, it } = lab;

const TOPIC = 'arn:aws:sns:eu-west-1:123456789012:orders';
const PUBLIC_KEY = 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a';

describe('hooks of senders', () => {
  const world = openForSuite(lab, openWorld);

  const notify = ['--action', 'notify', '--notify-message', 'It came'];
  const create = (name: string, verify: string, words: string[] = [], stdin = '') =>
    world.cli(
      [
        ...['hooks', 'create', '--name', name, '--trigger', 'webhook', '--webhook-path', name],
        ...['--verify', verify, ...notify, ...words],
      ],
      { stdin },
    );
  const given = ['--secret-file', '-'];

  it('of Amazon have no secret: none is made, none is asked for, none is changed', async () => {
    const made = await create('sns', JSON.stringify({ preset: 'sns', topicArn: TOPIC }));
    expect(made.code).to.equal(0);
    expect(made.stderr).to.contain('there is no secret');
    expect(made.stderr).to.not.contain('shown only once').and.to.not.contain('Try:');
    const [hook] = (await world.client.hooks.list()).hooks;
    expect(hook?.triggerConfig.webhookSecretSet).to.be.false();
    const sent = await world.cli(['hooks', 'send', 'sns', '-'], { stdin: '{}' });
    expect([sent.code, sent.stderr.split('\n')[0]]).to.equal([
      1,
      'Only Amazon can sign a message of SNS.',
    ]);
    const { code, stderr } = await world.cli(['hooks', 'rotate-secret', 'sns']);
    expect([code, stderr]).to.match(/^1,Amazon signs with its own key/);
  });

  it('are asked for the topic on a terminal, and for a key until it is one', async () => {
    const answers = ['sns', 'orders', 'orders', TOPIC, '2', '', '', ''];
    const made = await world.cli(['hooks', 'create'], { terminal: 100, answers });
    expect([made.code, made.stderr]).to.match(/^0,/);
    expect(made.stderr)
      .to.contain('ARN of the topic')
      .and.to.contain('Enter an ARN like arn:aws:sns:');
    const [sns] = (await world.client.hooks.list()).hooks;
    expect(sns?.triggerConfig.verify).to.equal({ preset: 'sns', topicArn: TOPIC });

    const typed = ['discord', 'events', '2', '', '', 'zz', PUBLIC_KEY];
    const { code, stderr } = await world.cli(['hooks', 'create'], {
      terminal: 100,
      answers: typed,
    });
    expect([code, stderr]).to.match(/^0,/);
    expect(stderr).to.contain("The secret must be the sender's public key");
    const [discord] = (await world.client.hooks.list()).hooks;
    expect(discord?.triggerConfig).to.include({ verify: 'discord', webhookSecretSet: true });
  });

  it('may be none: an e-mail fires it, of one account and folder or of each', async () => {
    const every = await world.cli(['hooks', 'create'], {
      terminal: 100,
      answers: ['email', '', '', '2', '', ''],
    });
    expect([every.code, every.stderr]).to.match(/^0,/);
    expect(every.stderr).to.contain('No mail account yet. Add one: adjutant email setup');
    const hookNow = async () => (await world.client.hooks.list()).hooks[0];
    expect(await hookNow()).to.include({ name: 'mail', trigger: 'email', triggerConfig: {} });

    const value = { name: 'box', type: 'password', value: 'sample' } as const;
    const { id: credentialId } = await world.client.vault.create({ body: value });
    const server = { host: 'mail.invalid', port: 993, tls: 'implicit' } as const;
    const body = { address: 'ada@example.org', credentialId, imap: server, smtp: server };
    const account = await world.client.mailaccounts.create({ body });
    const typed = ['an e-mail', 'bills', '2', 'Work', '2', '', 'category = invoice'];
    const made = await world.cli(['hooks', 'create'], { terminal: 100, answers: typed });
    expect([made.code, made.stderr]).to.match(/^0,/);
    expect(made.stderr).to.contain('Only some e-mails? e.g. category = invoice');
    expect(made.stderr.replace(/\s+/g, ' ')).to.contain(
      'No mailbox is watched, so new mail fires the hook only after it is processed: adjutant email accounts update ada@example.org --watch',
    );
    expect(made.stderr.replace(/\s+/g, ' ')).to.contain(
      'The folder could not be checked, because the mail server could not be read: mail.invalid',
    );
    expect(await hookNow()).to.include({
      name: 'bills',
      trigger: 'email',
      triggerConfig: { accountId: account.id, folder: 'Work' },
      actionConfig: { notifyMessage: '{{email.from}}: {{email.subject}}' },
      conditions: [{ field: 'email.category', operator: 'equals', value: 'invoice' }],
    });
  });

  it('that describe their signature are told what to send', async () => {
    const token = { header: 'Authorization', algorithm: 'token', prefix: 'Bearer ' };
    const made = await create('bearer', JSON.stringify(token), given, 'the secret');
    expect(made.stderr).to.contain('Header Authorization  Bearer <the secret>');
    expect(made.stderr).to.not.contain('X-Hub-Signature-256');
    const paddle = {
      ...{
        header: 'Paddle-Signature',
        format: 'pairs',
        parts: { timestamp: 'ts', signature: 'h1' },
      },
      ...{ signed: '{timestamp}:{body}', idFrom: 'headers.X-Id', bodies: ['json'] },
    };
    await create('paddle', JSON.stringify(paddle), given, 'the secret');
    const { stdout } = await world.cli(['hooks', 'settings', 'paddle'], { terminal: 120 });
    expect(stdout).to.contain(
      'Header Paddle-Signature  ts=<the time>,h1=<hex HMAC-SHA256 of {timestamp}:{body}>',
    );
    expect(stdout).to.contain('Header X-Id').and.to.contain('json, by POST');
  });

  it('are told of the sender’s own secret where another was used', async () => {
    await create('zoom', 'zoom', given, 'the secret');
    const sent = await world.cli(
      ['hooks', 'send', 'zoom', '-', '--secret-file', await world.file('s', 'x')],
      {
        stdin: '{"event":"a"}',
      },
    );
    expect(sent.code).to.equal(1);
    expect(sent.stderr).to.contain('The secret differs. Zoom uses: the Secret Token of the page.');
    expect(sent.stderr).to.contain('adjutant hooks update zoom --secret-file -');
    const rotated = await world.cli(['hooks', 'rotate-secret', 'zoom']);
    expect([rotated.code, rotated.stderr]).to.match(
      /^1,This secret cannot be rotated here, because Zoom generates it\./,
    );
    await create('later', 'notion');
    const none = await world.cli(
      ['hooks', 'send', 'later', '-', '--secret-file', await world.file('s', 'x')],
      {
        stdin: '{"id":"a"}',
      },
    );
    expect(none.stderr).to.contain('The hook has no secret yet.');
  });

  it('answer handshakes, which is said and is no failure', async () => {
    await create('slack', 'slack', given, 'the secret');
    const words = [
      'hooks',
      'send',
      'slack',
      '-',
      '--secret-file',
      await world.file('s', 'the secret'),
    ];
    const stdin = '{"type":"url_verification","challenge":"c1"}';
    const piped = await world.cli(words, { stdin });
    expect([piped.code, piped.stdout]).to.equal([0, '\t\thandshake\n']);
  });
});
