import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startStage } from '../../agents/stage.js';
import { untilAtLeast } from '../../harness/app.js';
import { askApproval } from '../../harness/approval.js';
import { linkChannel } from '../../harness/channel.js';
import * as chat from '../../harness/discord.js';
import { says } from '../../harness/openai.js';
import { openForSuite } from '../../harness/suite.js';
import { deliver, effects, forget, moveOn, movingClock, setUp } from './desk.js';

export const lab = Lab.script();
const { afterEach, beforeEach, describe, it } = lab;

const VALUES = { botToken: chat.BOT_TOKEN, publicKey: chat.PUBLIC_KEY };

describe('the team chat endpoint, with Discord', () => {
  const stage = openForSuite(lab, () =>
    startStage({ publicUrl: 'https://adjutant.example.org' }, clock),
  );
  let discord: chat.Discord;

  const clock = movingClock();
  beforeEach(async () => {
    discord = await chat.openDiscord();
    discord.daemon = stage.url;
    await moveOn(stage, clock);
    await setUp(stage, 'discord', { baseUrl: discord.baseUrl, values: VALUES });
  });
  afterEach(async () => {
    await forget(stage);
    discord.close();
  });

  const arrives = (request: chat.Request) => deliver(stage, '/api/teamchat-webhook', request);
  const say = (interaction: object) => arrives(chat.signed(interaction, { at: clock.now() }));
  const sent = (count: number) => untilAtLeast(async () => discord.messages, count);
  const link = async () => {
    await linkChannel(stage, stage.userId, { kind: 'discord', ...chat.ADA });
    await sent(1);
    discord.messages.length = 0;
  };

  it('is told where to send, which it checks with a right and a wrong signature', async () => {
    clock.forward(Date.now() - clock.now());
    const { body } = await stage.ask('POST', '/api/admin/platforms/discord/install');
    const account = 'https://adjutant.example.org/api/teamchat-webhook';
    expect(body).to.equal({ ok: true, account, error: null });
    expect(discord.registered.map((one) => Reflect.get(one, 'name'))).to.equal([
      ...['ask', 'link', 'new', 'status', 'help'],
    ]);
    await stage.ask('PUT', '/api/admin/platforms/discord', { values: { publicKey: null } });
    const closed = await stage.ask('POST', '/api/admin/platforms/discord/install');
    expect(closed.body.ok).to.be.false();
  });

  it('gives a stranger a code that only the stranger sees', async () => {
    const { status, body } = await say(chat.commanded('link', undefined, { isOnServer: true }));
    expect([status, body.type, body.data.flags]).to.equal([200, 4, 68]);
    const [, code] = /channels link (\w{6})/.exec(body.data.content) ?? [];
    expect((await stage.ask('POST', '/api/auth/link', { code })).body).to.include({
      kind: 'discord',
      address: chat.ADA.id,
      name: chat.ADA.name,
    });
  });

  it('links by a code of the user', async () => {
    const { code } = (await stage.ask('POST', '/api/channels/codes', {})).body;
    const { body } = await say(chat.commanded('link', code));
    expect(body.data.content).to.match(/^Linked\\?\./);
  });

  it('takes a command once, and answers in a direct message', async () => {
    await link();
    stage.model.script(says({ text: 'It is <@all> noon.' }));
    const request = chat.signed(chat.commanded('ask', 'What time is it?'), { at: clock.now() });
    const replies = await Promise.all([request, request, request].map(arrives));
    expect(replies.map(({ status }) => status)).to.equal([200, 200, 200]);
    expect(replies[0]?.body.data.content).to.equal(
      'One moment. The reply is sent as a direct message.',
    );
    const [answer] = await sent(1);
    expect(answer?.content).to.equal('It is \\<@\u200ball\\> noon.');
    expect((await stage.ask('GET', '/api/agents')).body.agents.length).to.equal(1);
  });

  it('refuses another key, an old request and none, and does nothing', async () => {
    await link();
    const before = await effects(stage);
    const hello = chat.commanded('ask', 'hello');
    const right = chat.signed(hello, { at: clock.now() });
    for (const request of [
      chat.signed(hello, { at: clock.now(), key: chat.OTHER }),
      chat.signed(hello, { at: clock.now() - 301_000 }),
      { ...right, body: right.body.replace('hello', 'hellO') },
      { ...right, headers: { 'x-signature-ed25519': '', 'x-signature-timestamp': '' } },
    ]) {
      expect((await arrives(request)).status).to.equal(401);
    }
    await stage.ask('PUT', '/api/admin/platforms/discord', { values: { publicKey: null } });
    expect((await arrives(right)).status).to.equal(401);
    expect(await effects(stage)).to.equal(before);
  });

  it('asks with buttons, and takes the answer of the owner alone', async () => {
    await link();
    const id = await askApproval(stage, stage.userId);
    const [question] = await sent(1);
    const [approve, deny] = chat.buttonsOf(question).map(({ custom_id }) => custom_id);
    const wrong = `${approve?.slice(0, -1)}${approve?.endsWith('0') ? '1' : '0'}`;
    const state = async () => (await stage.ask('GET', `/api/chat/approvals/${id}`)).body.status;
    const stranger = { ...chat.pressed(approve ?? ''), user: { id: '1', username: 'eve' } };
    for (const press of [chat.pressed(wrong), stranger]) {
      expect((await say(press)).body.type).to.equal(4);
      expect(await state()).to.equal('pending');
    }
    const { body } = await say(chat.pressed(approve ?? ''));
    expect([body.type, body.data.components]).to.equal([7, []]);
    expect(body.data.content).to.match(/^Approved: http.request/);
    expect(await state()).to.equal('approved');
    const late = await say(chat.pressed(deny ?? ''));
    expect(late.body.data.content).to.match(/^The approval was already approved at .*/);
  });
});
