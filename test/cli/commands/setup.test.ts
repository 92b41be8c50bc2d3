import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import * as chat from '../../harness/discord.js';
import { BOT_TOKEN, COMMAND_TOKEN, openMattermost } from '../../harness/mattermost.js';
import { codeIn, openNtfy, TOPIC } from '../../harness/ntfy.js';
import { openForSuite } from '../../harness/suite.js';
import { openWorkflow, SECURITY_TOKEN } from '../../harness/teams.js';
import { openTelegram, TOKEN } from '../../harness/telegram.js';
import { ACCESS_TOKEN, APP_SECRET, openWhatsapp, PHONE_NUMBER_ID } from '../../harness/whatsapp.js';
import { forgetPlatforms, openWorld } from '../world.js';

export const lab = Lab.script();
const { afterEach, beforeEach, describe, it } = lab;

describe('channels setup', () => {
  const world = openForSuite(lab, () =>
    openWorld({
      config: { publicUrl: 'https://adjutant.example.org', registration: 'open' },
    }),
  );
  let server: Awaited<ReturnType<typeof openMattermost>>;

  beforeEach(async () => {
    server = await openMattermost();
  });
  afterEach(async () => {
    server.close();
    await forgetPlatforms(world);
  });

  const setup = (words: string[], answers: string[] = []) =>
    world.cli(['channels', 'setup', ...words], { terminal: 80, answers });
  const stored = async (kind: string) =>
    (await world.client.platforms.list()).platforms.find((one) => one.kind === kind);

  it('walks through it on a terminal, and echoes no secret', async () => {
    const answers = [server.baseUrl, BOT_TOKEN, COMMAND_TOKEN];
    const { code, stdout, stderr } = await setup(['mattermost'], answers);
    expect([code, stdout]).to.equal([0, '']);
    expect(stderr).to.contain('https://adjutant.example.org/api/teamchat-webhook');
    expect(stderr).to.contain('mattermost works: @adjutant');
    expect(stderr).to.contain('/link <code>');
    expect(stderr).to.not.contain(BOT_TOKEN);
    expect(stderr).to.not.contain(COMMAND_TOKEN);
    expect(await stored('mattermost')).to.include({ sends: true, receives: true });
  });

  it('keeps on a second walk what it is not told anew', async () => {
    await setup(['mattermost'], [server.baseUrl, BOT_TOKEN, COMMAND_TOKEN]);
    const { code, stderr } = await setup(['mattermost'], ['', '']);
    expect([code, stderr.includes('botToken (enter keeps it)')]).to.equal([0, true]);
    expect(await stored('mattermost')).to.include({ sends: true, receives: true });
  });

  it('says what the platform refuses, with all stored', async () => {
    const { code, stderr } = await setup(['mattermost'], [server.baseUrl, 'wrong', COMMAND_TOKEN]);
    expect([
      code,
      stderr.includes('mattermost rejects the settings: Mattermost returned 401'),
    ]).to.equal([1, true]);
    expect(await stored('mattermost')).to.include({ sends: true, receives: true });
  });

  it('works by its flags without a terminal, and names the one that is missing', async () => {
    const token = await world.file('token', BOT_TOKEN);
    const words = ['mattermost', '--base-url', server.baseUrl, '--bot-token-file', token];
    const short = await world.cli(['channels', 'setup', ...words]);
    expect(short.code).to.equal(2);
    expect(short.stderr).to.contain('Add --command-tokens-file.');
    expect(await stored('mattermost')).to.include({ updatedAt: null });
    const whole = [...words, '--command-tokens-file', '-'];
    const done = await world.cli(['channels', 'setup', ...whole], { stdin: COMMAND_TOKEN });
    expect([done.code, done.stdout.split('\t').slice(0, 3)]).to.equal([
      0,
      ['mattermost', 'true', 'true'],
    ]);
  });

  it('makes the secrets that are of our own choice, and shows the one to paste', async () => {
    const cloud = await openWhatsapp();
    await world.cli(['platforms', 'set', 'whatsapp', '--base-url', cloud.baseUrl]);
    const { code, stderr } = await setup(
      ['whatsapp'],
      [APP_SECRET, '', PHONE_NUMBER_ID, ACCESS_TOKEN, 'assistant_news', 'en', ''],
    );
    cloud.close();
    const { fields = [] } = (await stored('whatsapp')) ?? {};
    expect(fields.filter(({ isOptional }) => isOptional).map(({ value }) => value)).to.equal([
      ...['assistant_news', 'en', null],
    ]);
    expect([code, stderr.includes('whatsapp works: Adjutant +1 555-010-0100')]).to.equal([0, true]);
    expect(stderr).to.match(/verifyToken, to enter at the platform:\s[0-9a-f]{64}\n/);
    const token = /platform:\s(\w+)/.exec(stderr)?.[1];
    const query = `hub.mode=subscribe&hub.challenge=42&hub.verify_token=${token}`;
    const reply = await fetch(`${world.app.url}/api/messenger-webhook?${query}`);
    expect([reply.status, await reply.text()]).to.equal([200, '42']);
  });

  it('registers its commands and our address at Discord', async () => {
    const discord = await chat.openDiscord();
    discord.daemon = world.app.url;
    const words = ['discord', '--base-url', discord.baseUrl];
    const done = await setup(words, [chat.BOT_TOKEN, chat.PUBLIC_KEY]);
    discord.close();
    expect([done.code, done.stderr.includes('discord works: Adjutant')]).to.equal([0, true]);
    expect(discord.registered.length).to.equal(5);
    expect(await stored('discord')).to.include({ sends: true, receives: true });
  });

  it('sets up ntfy by its address alone, where a topic is then linked by a code', async () => {
    const ntfy = await openNtfy();
    const done = await setup(['ntfy'], [ntfy.baseUrl, '']);
    expect([done.code, done.stderr.includes(`ntfy works: ${ntfy.baseUrl}`)]).to.equal([0, true]);
    expect(done.stderr).to.contain('adjutant channels add ntfy <topic>');
    expect(await stored('ntfy')).to.include({ sends: true, receives: false, receiver: null });
    const added = await world.cli(['channels', 'add', 'ntfy', TOPIC]);
    expect([added.code, added.stdout.split('\t').slice(0, 2)]).to.equal([
      ...[0, ['ntfy', `${ntfy.baseUrl}/${TOPIC}`]],
    ]);
    const shown = await world.cli(['channels', 'link', codeIn(ntfy.published)], {
      ...{ terminal: 80, answers: ['y'] },
    });
    ntfy.close();
    expect(shown.stderr).to.contain('Your notifications will be sent there.');
    expect(shown.stderr).to.endWith(`Linked ${TOPIC} on ntfy.\n`);
    expect((await world.cli(['channels', 'add', 'slack', 'x'])).code).to.equal(2);
  });

  it('asks for what e-mail needs, and again for its password with another server', async () => {
    const answers = [
      'adjutant@example.org',
      'mail.invalid',
      '',
      'starttls',
      'adjutant',
      'a-secret',
    ];
    const done = await setup(['email'], answers);
    expect([done.code, done.stderr.includes('email rejects the settings: mail.invalid')]).to.equal([
      1,
      true,
    ]);
    expect(await stored('email')).to.include({ sends: true, receives: false, receiver: null });
    const moved = await setup(['email', '--host', 'other.invalid'], ['', '', '', '', 'another']);
    expect(moved.stderr).to.include('email rejects the settings: other.invalid');
    expect(await stored('email')).to.include({ sends: true });
    const kept = await setup(['email', '--from', 'ada@example.org'], ['', '', '', '', '']);
    expect(kept.stderr).to.include('password (enter keeps it)');
  });

  it('prints the manifest of a Slack app alone', async () => {
    const { stdout, stderr } = await world.cli(['channels', 'setup', 'slack', '--manifest']);
    const { settings } = JSON.parse(stdout);
    expect([stderr, settings.event_subscriptions.request_url]).to.equal([
      '',
      'https://adjutant.example.org/api/teamchat-webhook',
    ]);
    expect((await setup(['teams', '--manifest'])).code).to.equal(2);
  });

  it('refuses a flag of another platform, and who is no admin', async () => {
    const foreign = await world.cli(['channels', 'setup', 'slack', '--phone-number-id', '1']);
    expect([foreign.code, foreign.stderr.split('\n').at(-3)]).to.equal([
      2,
      'slack has no setting phoneNumberId.',
    ]);
    const { token } = await world.app.register('bob');
    const refused = await world.cli(['channels', 'setup', 'slack', '--server-token', token]);
    expect(refused.code).to.equal(1);
  });

  it('tells Telegram where we are, and says what is missing where nobody reaches us', async () => {
    const telegram = await openTelegram();
    const words = ['telegram', '--base-url', telegram.baseUrl];
    const done = await setup(words, [TOKEN, '']);
    expect([done.code, done.stderr.includes('telegram works: @adj_bot')]).to.equal([0, true]);
    const [{ method, url, secret_token } = { method: 'none' }] = telegram.calls;
    expect([method, url]).to.equal([
      'setWebhook',
      'https://adjutant.example.org/api/messenger-webhook',
    ]);
    expect(secret_token).to.match(/^[0-9a-f]{64}$/);
    expect(done.stderr).to.not.contain(String(secret_token));
    const local = await openWorld();
    const alone = await local.cli(['channels', 'setup', ...words], {
      terminal: 80,
      answers: [TOKEN, ''],
    });
    await local.stop();
    telegram.close();
    expect(alone.code).to.equal(1);
    expect(alone.stderr).to.contain('telegram works: @adj_bot\n');
    expect(alone.stderr).to.contain('telegram does not have the receiver address yet: This daemon');
    expect(alone.stderr).to.endWith('Register it: adjutant platforms install telegram\n');
  });

  it('says no more of Teams than holds', async () => {
    const flow = await openWorkflow();
    const { code, stderr } = await setup(['teams'], [SECURITY_TOKEN, flow.url]);
    flow.close();
    expect([code, stderr.includes('@Adjutant /link <code>')]).to.equal([0, true]);
    expect(stderr).to.not.contain('send /link there first');
  });

  it('tells how a webhook channel is made', async () => {
    const { code, stderr } = await setup(['webhook']);
    expect([code, stderr.includes('adjutant channels create')]).to.equal([0, true]);
  });
});
