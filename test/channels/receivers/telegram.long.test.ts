import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { until } from '../../harness/app.js';
import { linkChannel } from '../../harness/channel.js';
import { says } from '../../harness/openai.js';
import { openForSuite } from '../../harness/suite.js';
import { ADA, pressed, refuse, written } from '../../harness/telegram.js';
import { deliver, effects, openPlatforms } from './desk.js';

export const lab = Lab.script();
const { beforeEach, describe, it } = lab;

describe('the messenger endpoint, with Telegram', () => {
  const desk = openForSuite(lab, openPlatforms);
  beforeEach(() => desk.anew());

  const link = async () => {
    await linkChannel(desk, desk.userId, { kind: 'telegram', ...ADA });
    await desk.inTelegram(1);
    desk.telegram.calls.length = 0;
  };
  const texts = () => desk.telegram.calls.map(({ text }) => text);
  const agents = async () => (await desk.ask('GET', '/api/agents')).body.agents;

  it('refuses without the secret token, or with another, and does nothing', async () => {
    await link();
    const right = written(1, 'hello');
    const token = right.headers['x-telegram-bot-api-secret-token'] ?? '';
    const before = await effects(desk);
    for (const given of ['', `${token}x`, token.slice(1), token.replace('a', 'b')]) {
      const headers = { 'x-telegram-bot-api-secret-token': given };
      expect((await desk.toMessenger({ ...right, headers })).status).to.equal(401);
    }
    expect((await desk.toMessenger({ ...right, headers: {} })).status).to.equal(401);
    expect((await desk.toTeamchat(right)).status).to.equal(401);
    await desk.ask('DELETE', '/api/admin/platforms/telegram');
    expect((await desk.toMessenger(right)).status).to.equal(401);
    const empty = { 'x-telegram-bot-api-secret-token': '' };
    expect((await desk.toMessenger({ ...right, headers: empty })).status).to.equal(401);
    expect(await effects(desk)).to.equal(before);
  });

  it('has no handshake of its own', async () => {
    const reply = await desk.call('GET', '/api/messenger-webhook?hub.mode=subscribe');
    expect(reply.status).to.equal(401);
  });

  it('takes the words of a linked sender once, and sends the answer back', async () => {
    await link();
    desk.model.script(says({ text: '**bold** <b>[x](http://a.example)</b> @all' }));
    const update = written(10000, 'Hello?');
    const replies = await Promise.all([update, update, update].map(desk.toMessenger));
    expect(replies.map(({ status, text }) => [status, text])).to.equal([
      [200, ''],
      [200, ''],
      [200, ''],
    ]);
    expect(await desk.inTelegram(1)).to.equal([
      {
        method: 'sendMessage',
        chat_id: ADA.id,
        text: 'bold <b>x (http://a.example)</b> @all',
        link_preview_options: { is_disabled: true },
        entities: [
          { type: 'bold', offset: 0, length: 4 },
          { type: 'code', offset: 33, length: 4 },
        ],
      },
    ]);
    expect((await desk.toMessenger(update)).status).to.equal(200);
    expect((await agents()).length).to.equal(1);
  });

  it('links both ways, the second by a link to the bot', async () => {
    const asked = await desk.toMessenger(written(1, '/link@adj_bot'));
    expect(asked.body).to.include({ method: 'sendMessage', chat_id: ADA.id });
    const [, code] = /code is (\w{6})\./.exec(asked.body.text) ?? [];
    const linked = await desk.ask('POST', '/api/auth/link', { code });
    expect([linked.status, linked.body.name]).to.equal([201, ADA.name]);
    await desk.ask('DELETE', `/api/channels/${linked.body.id}`);
    const made = (await desk.ask('POST', '/api/channels/codes')).body;
    const said = await desk.toMessenger(written(2, `/start ${made.code}`));
    expect(said.body.text).to.match(/^Linked\. /);
    expect((await desk.ask('GET', '/api/channels')).body.channels.length).to.equal(1);
  });

  it('tells a stranger how to link, a code that is wrong, and no more than five times', async () => {
    const said = async (id: number, text: string) =>
      (await desk.toMessenger(written(id, text))).text;
    expect(await said(1, '/start')).to.match(/not linked to an account/);
    expect(await said(2, '/link AAAAAA')).to.match(/The code is invalid/);
    expect(await said(3, 'approve 12345678')).to.match(/not linked to an account/);
    const press = pressed(4, `y:approval_01jcx2kq7m8f3k2a9v5ztw4e6r:${'a'.repeat(24)}`);
    expect((await desk.toMessenger(press)).body).to.include({ method: 'answerCallbackQuery' });
    await said(5, 'x');
    expect(await said(6, 'x')).to.equal('');
    expect((await agents()).length).to.equal(0);
    expect(desk.telegram.calls).to.equal([]);
  });

  it('hears neither groups, nor bots, nor what was forwarded', async () => {
    await link();
    const before = await effects(desk);
    const group = { chat: { id: -100, type: 'supergroup' } };
    const bot = { from: { id: 1111111, is_bot: true, first_name: 'Ada' } };
    for (const [at, more] of [group, bot, { text: undefined }].entries()) {
      const reply = await desk.toMessenger(written(at + 1, 'hello', more));
      expect([reply.status, reply.text]).to.equal([200, '']);
    }
    expect(await effects(desk)).to.equal(before);
    const origin = {
      forward_origin: { type: 'hidden_user', sender_user_name: 'Mallory', date: 1 },
    };
    const forwarded = await desk.toMessenger(written(9, 'run rm -rf', origin));
    expect(forwarded.body.text).to.match(/Forwarded messages are not executed/);
    expect((await agents()).length).to.equal(0);
  });

  it('says once a minute what is understood, and nothing of it to strangers', async () => {
    const video = { text: undefined, video: { file_id: 'AwAC', duration: 2 } };
    const told = async (id: number, more: object) =>
      (await desk.toMessenger(written(id, '', more))).text;
    expect(await told(1, video)).to.equal('');
    await link();
    expect(await told(2, { ...video, chat: { id: -100, type: 'group' } })).to.equal('');
    expect(JSON.parse(await told(3, video))).to.include({
      ...{ method: 'sendMessage', chat_id: ADA.id },
      text: 'Only text, pictures, documents and voice messages are supported. The message was ignored.',
    });
    expect([await told(4, video), await told(3, video)]).to.equal(['', '']);
    expect([await agents(), desk.telegram.calls]).to.equal([[], []]);
    desk.model.script(says({ text: 'a cat' }));
    await told(5, { ...video, caption: 'What is a cat?' });
    await desk.inTelegram(1);
    expect((await agents()).length).to.equal(1);
  });

  it('takes nonsense under its token as nothing', async () => {
    const { headers } = written(1, '');
    for (const body of ['', '{', '[]', '7', '{"update_id":{}}', '{"update_id":1,"message":[]}']) {
      const reply = await deliver(desk, '/api/messenger-webhook', { headers, body });
      expect([reply.status, reply.text]).to.equal([200, '']);
    }
  });

  it('splits a long answer at its lines, and waits as long as it is told to', async () => {
    await link();
    const lines = Array.from({ length: 300 }, (_, n) => `${n} ${'🦊'.repeat(5)} ${'x'.repeat(30)}`);
    desk.model.script(says({ text: lines.join('\n') }));
    desk.telegram.refuse(refuse(429, 'Too Many Requests: retry after 1', { retry_after: 1 }));
    await desk.toMessenger(written(1, 'Say much'));
    await desk.inTelegram(4);
    expect(texts().every((text) => String(text).length <= 4096)).to.be.true();
    expect(texts().join('\n')).to.equal(lines.join('\n'));
    const [message] = await desk.app.store.db
      .selectFrom('sendings as s')
      .innerJoin('sending_attempts as a', 'a.sending_id', 's.id')
      .select(['a.verdict', 'a.status'])
      .where('s.kind', '=', 'agent_completed')
      .where('a.number', '=', 1)
      .execute();
    expect(message).to.equal({ verdict: 'retry', status: 429 });
  });

  it('goes on behind the messages that arrived, and sends what may have arrived not again', async () => {
    await link();
    const lines = Array.from({ length: 200 }, (_, n) => `${n} ${'x'.repeat(60)}`);
    desk.model.script(says({ text: lines.join('\n') }));
    const pass = (response: Parameters<ReturnType<typeof refuse>>[0]) => {
      desk.telegram.refuse(refuse(429, 'later', { retry_after: 1 }));
      response.writeHead(200).end(JSON.stringify({ ok: true, result: { message_id: 99 } }));
    };
    desk.telegram.refuse(pass);
    await desk.toMessenger(written(1, 'Say much'));
    await desk.inTelegram(3);
    expect(String(texts()[0]).startsWith('0 ')).to.be.false();
    expect(lines.join('\n').endsWith(texts().join('\n'))).to.be.true();
    desk.model.script(says({ text: 'lost' }));
    desk.telegram.refuse((response) => void response.destroy());
    await desk.toMessenger(written(2, 'Once'));
    const lost = () =>
      desk.app.store.db
        .selectFrom('sendings')
        .select(['status', 'attempts'])
        .where('status', 'in', ['unknown', 'failed'])
        .execute();
    const [ended] = await until(lost, ({ length }) => length > 0);
    expect(ended).to.equal({ status: 'unknown', attempts: 1 });
    expect(texts()).to.not.include('lost');
  });
});
