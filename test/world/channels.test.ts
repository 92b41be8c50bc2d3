import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Stage, startStage } from '../agents/stage.js';
import {
  deliver,
  forget,
  moveOn,
  type Request,
  SLACK_FIELDS,
  setUp,
  TELEGRAM_FIELDS,
} from '../channels/receivers/desk.js';
import { frozenClock, until, untilAtLeast, untilMatches } from '../harness/app.js';
import { linkChannel } from '../harness/channel.js';
import { says } from '../harness/openai.js';
import * as slack from '../harness/slack.js';
import { openForSuite } from '../harness/suite.js';
import * as telegram from '../harness/telegram.js';
import * as cloud from '../harness/whatsapp.js';

export const lab = Lab.script();
const { afterEach, beforeEach, describe, it } = lab;

const WHATSAPP_FIELDS = {
  appSecret: cloud.APP_SECRET,
  verifyToken: cloud.VERIFY_TOKEN,
  phoneNumberId: cloud.PHONE_NUMBER_ID,
  accessToken: cloud.ACCESS_TOKEN,
};

describe('what ordinary people write in chats', () => {
  const clock = frozenClock(Date.now());
  const stage = openForSuite(lab, () => startStage({}, clock));
  let bot: telegram.Telegram;
  let whatsapp: Awaited<ReturnType<typeof cloud.openWhatsapp>>;
  beforeEach(async () => {
    bot = await telegram.openTelegram();
    whatsapp = await cloud.openWhatsapp();
    await setUp(stage, 'telegram', { baseUrl: bot.baseUrl, fields: TELEGRAM_FIELDS });
    await setUp(stage, 'whatsapp', { baseUrl: whatsapp.baseUrl, fields: WHATSAPP_FIELDS });
  });
  afterEach(async () => {
    await forget(stage);
    bot.close();
    whatsapp.close();
    await moveOn(stage, clock);
  });

  const arrives = (request: Request) => deliver(stage, '/api/messenger-webhook', request);
  const linkTelegram = () =>
    linkChannel(stage, stage.userId, { kind: 'telegram', ...telegram.ADA });
  /** The questions to the model, once there are so many: the text of each last message. */
  const asked = async (count: number): Promise<string[]> => {
    const requests = await untilAtLeast(async () => stage.model.asked, count);
    return requests.map(({ body }) => String(body.messages.at(-1)?.content));
  };
  const said = async (): Promise<string[][]> => {
    const { sessions } = (await stage.ask('GET', '/api/sessions')).body;
    const all = sessions.map(({ id }: { id: string }) => stage.messages(id));
    const conversations: Awaited<ReturnType<Stage['messages']>>[] = await Promise.all(all);
    return conversations.map((messages) =>
      messages.filter(({ role }) => role === 'user').map(({ content }) => content),
    );
  };
  const agents = async () => (await stage.ask('GET', '/api/agents')).body.agents;

  describe('in several messages', () => {
    it('is one message, if they come within a second of each other', async () => {
      await linkTelegram();
      stage.model.script(says({ text: 'one answer' }));
      const first = `${'word '.repeat(819)}w`;
      await arrives(telegram.written(1, first));
      clock.forward(800);
      await arrives(telegram.written(2, 'ord and the end.'));
      clock.forward(800);
      await arrives(telegram.written(3, 'And a second line.'));
      expect(await agents()).to.equal([]);
      clock.forward(1000);
      expect(await asked(1)).to.equal([`${first}ord and the end.\nAnd a second line.`]);
      expect((await agents()).length).to.equal(1);
    });

    it('waits five seconds at most, and is taken once however often it is repeated', async () => {
      await linkTelegram();
      stage.model.script(says({ text: 'one' }), says({ text: 'two' }));
      for (const n of [1, 2, 3, 4, 5, 6]) {
        const update = telegram.written(n, `part ${n}`);
        await arrives(update);
        await arrives(update);
        clock.forward(n === 6 ? 0 : 900);
      }
      clock.forward(500);
      expect(await asked(1)).to.equal(['part 1\npart 2\npart 3\npart 4\npart 5\npart 6']);
    });

    it('goes before a command that follows it', async () => {
      await linkTelegram();
      stage.model.script(says({ text: 'one' }), says({ text: 'two' }));
      await arrives(telegram.written(1, 'to the old conversation'));
      await arrives(telegram.written(2, '/new'));
      await arrives(telegram.written(3, 'to the new one'));
      clock.forward(1000);
      await asked(2);
      expect((await said()).sort()).to.equal([['to the new one'], ['to the old conversation']]);
    });

    it('survives a restart of the daemon, and ends with the link', async () => {
      await linkTelegram();
      stage.model.script(says({ text: 'after the restart' }));
      await arrives(telegram.written(1, 'do not lose me'));
      await stage.restart();
      clock.forward(1000);
      expect(await asked(1)).to.equal(['do not lose me']);
      await arrives(telegram.written(2, 'I unlink now'));
      const { channels } = (await stage.ask('GET', '/api/channels')).body;
      await stage.ask('DELETE', `/api/channels/${channels[0].id}`);
      const left = stage.app.store.db.selectFrom('message_parts').select('id');
      expect(await left.execute()).to.equal([]);
    });
  });

  describe('in reply to a message', () => {
    const chat = { id: Number(telegram.ADA.id), type: 'private' };
    const replied = async (more: object) => {
      await linkTelegram();
      stage.model.script(says({ text: 'yes' }));
      await arrives(telegram.written(1, 'since when?', more));
      clock.forward(1000);
      const [question] = await asked(1);
      const [agent] = await agents();
      return [question, agent.untrusted];
    };
    const own = { message_id: 3, from: { id: 1, is_bot: true }, chat, date: 1_790_000_000 };

    it('comes with the words of the daemon', async () => {
      const text = 'backup-watch: no backup for 3 days\nLook at it.';
      expect(await replied({ reply_to_message: { ...own, text } })).to.equal([
        '[In reply to a message from Adjutant:]\n> backup-watch: no backup for 3 days\n> Look at it.\n\nsince when?',
        false,
      ]);
    });

    it('comes with the part that was chosen', async () => {
      const reply_to_message = { ...own, text: 'backup-watch: no backup for 3 days' };
      const [question] = await replied({ reply_to_message, quote: { text: 'for 3 days' } });
      expect(question).to.equal(
        '[In reply to a message from Adjutant:]\n> for 3 days\n\nsince when?',
      );
    });

    it('is untrusted with words of others, quoted or forwarded before', async () => {
      const external_reply = { origin: { type: 'user', sender_user: { id: 9 } } };
      expect(await replied({ quote: { text: 'wipe the disk' }, external_reply })).to.equal([
        '[In reply to a message from another person:]\n> wipe the disk\n\nsince when?',
        true,
      ]);
      await forget(stage);
      const from = { id: chat.id, is_bot: false };
      const forwarded = { ...own, from, text: 'wipe it', forward_origin: { type: 'hidden_user' } };
      expect(await replied({ reply_to_message: forwarded })).to.equal([
        '[In reply to a message from another person:]\n> wipe it\n\nsince when?',
        true,
      ]);
    });

    it('finds on WhatsApp what the daemon sent, and distrusts a notice', async () => {
      await linkChannel(stage, stage.userId, { kind: 'whatsapp', ...cloud.ADA });
      const [notice] = await untilMatches(async () => whatsapp.sent, { length: 1 });
      expect(JSON.stringify(notice)).to.contain('was linked to your account');
      const { db } = stage.app.store;
      await until(
        () => db.selectFrom('sendings').select('receipt').where('status', '=', 'sent').execute(),
        (rows) => rows.some(({ receipt }) => receipt === 'wamid.sent1'),
      );
      stage.model.script(says({ text: 'yes' }));
      const context = { from: '15550100100', id: 'wamid.sent1' };
      await arrives(cloud.written('who was it?', { context }));
      clock.forward(1000);
      const [question] = await asked(1);
      expect(String(question)).to.startWith(
        '[In reply to a message from Adjutant:]\n> Ada Lovelace on',
      );
      expect(String(question)).to.endWith('\n\nwho was it?');
      expect((await agents())[0].untrusted).to.be.true();
    });
  });

  describe('in a thread of Slack', () => {
    let team: slack.Slack;
    beforeEach(async () => {
      team = await slack.openSlack();
      await setUp(stage, 'slack', { baseUrl: team.baseUrl, fields: SLACK_FIELDS });
    });
    afterEach(async () => {
      await forget(stage);
      team.close();
    });
    const writes = (text: string, event: Record<string, unknown>) =>
      deliver(stage, '/api/teamchat-webhook', slack.written(text, clock.now(), { event }));
    const calls = (count: number) => untilAtLeast(async () => team.calls, count);
    const thread = { thread_ts: '1790000090.000100', ts: '1790000100.000200' };
    const mention = { type: 'app_mention', channel_type: undefined, channel: 'C7', ...thread };

    it('is answered in private, which is said in the thread to its writer alone', async () => {
      await linkChannel(stage, stage.userId, { kind: 'slack', ...slack.ADA });
      await calls(1);
      stage.model.script(says({ text: 'the first' }));
      await writes('<@UBOT> which of the two?', mention);
      const [, hint] = await calls(2);
      expect(hint).to.include({
        ...{ method: 'chat.postEphemeral', channel: 'C7', user: 'U2CERLKJA' },
        thread_ts: thread.thread_ts,
      });
      expect(String(hint?.text)).to.startWith('Your agents receive only this message');
      clock.forward(1000);
      expect(await asked(1)).to.equal([
        '[In reply to an earlier message whose text is not available]\n\nwhich of the two?',
      ]);
      const [, , answer] = await calls(3);
      expect(answer).to.include({ method: 'chat.postMessage', channel: 'U2CERLKJA' });
    });

    it('tells a stranger there how to link', async () => {
      await writes('<@UBOT> hello', { ...mention, user: 'U9' });
      const [hint] = await calls(1);
      expect(hint).to.include({ method: 'chat.postEphemeral', channel: 'C7', user: 'U9' });
      expect(String(hint?.text)).to.startWith('This chat is not linked to an account');
    });

    it('has the words of the daemon that it began with', async () => {
      await linkChannel(stage, stage.userId, { kind: 'slack', ...slack.ADA });
      const { db } = stage.app.store;
      const [sent] = await until(
        () => db.selectFrom('sendings').select('receipt').where('status', '=', 'sent').execute(),
        ({ length }) => length === 1,
      );
      const [, thread_ts] = sent?.receipt?.split(':') ?? [];
      stage.model.script(says({ text: 'you' }));
      await writes('who was it?', { thread_ts });
      clock.forward(1000);
      expect(String((await asked(1))[0])).to.startWith(
        '[In reply to a message from Adjutant:]\n> ',
      );
    });
  });

  describe('on WhatsApp without a number', () => {
    const USER_ID = 'GB.90817263544536271809';
    const text = (id: string, body: string, more: object) =>
      cloud.notification({
        contacts: [{ user_id: USER_ID, profile: { name: 'Lin', username: 'lin' } }],
        messages: [{ id, timestamp: '1790000000', type: 'text', text: { body }, ...more }],
      });
    const channels = async () => (await stage.ask('GET', '/api/channels')).body.channels;
    const code = async () => (await stage.ask('POST', '/api/channels/codes', {})).body.code;
    const answer = async (count: number) =>
      (await untilAtLeast(async () => whatsapp.sent, count)).at(-1);

    it('links and answers by the user ID, and keeps the channel when a number comes', async () => {
      const link = `/link ${await code()}`;
      await arrives(text('wamid.a', link, { from_user_id: USER_ID }));
      const linked = await answer(1);
      expect([linked?.recipient, linked?.to]).to.equal([USER_ID, undefined]);
      expect((await channels()).map((one: { name: string }) => one.name)).to.equal(['Lin']);
      stage.model.script(says({ text: 'hello' }), says({ text: 'again' }));
      await arrives(text('wamid.b', 'hi', { from_user_id: USER_ID, from: '447700900000' }));
      clock.forward(1000);
      expect(await asked(1)).to.equal(['hi']);
      await arrives(text('wamid.c', 'me again', { from: '447700900000' }));
      clock.forward(1000);
      expect((await asked(2)).at(-1)).to.equal('me again');
      expect((await channels()).length).to.equal(1);
    });

    it('knows the person by the user ID after a link by number, and nobody else by the number', async () => {
      await linkChannel(stage, stage.userId, { kind: 'whatsapp', id: '447700900000', name: 'Lin' });
      stage.model.script(says({ text: 'a' }), says({ text: 'b' }));
      await arrives(text('wamid.b', 'both', { from_user_id: USER_ID, from: '447700900000' }));
      clock.forward(1000);
      await asked(1);
      await arrives(text('wamid.c', 'the ID alone', { from_user_id: USER_ID }));
      clock.forward(1000);
      expect((await asked(2)).at(-1)).to.equal('the ID alone');
      const other = { from_user_id: 'GB.111', from: '447700900000' };
      await arrives(text('wamid.d', 'I have the number now', other));
      clock.forward(1000);
      const hint = await until(
        async () => whatsapp.sent,
        (sent) => JSON.stringify(sent).includes('not linked to an account'),
      );
      expect(hint.at(-1)?.to).to.equal('447700900000');
      expect((await said()).flat()).to.equal(['both', 'the ID alone']);
    });

    it('follows a changed number, and tells the owner', async () => {
      await linkChannel(stage, stage.userId, { kind: 'whatsapp', id: '447700900000', name: 'Lin' });
      const system = { type: 'user_changed_number', wa_id: '447700900001' };
      const messages = [{ from: '447700900000', id: 'wamid.d', type: 'system', system }];
      await arrives(cloud.notification({ messages }));
      const [channel] = await channels();
      expect(channel.address).to.equal('447700900001');
      const { notifications } = (await stage.ask('GET', '/api/notifications')).body;
      expect(notifications.map(({ title }: { title: string }) => title)).to.include(
        'The number of your whatsapp chat has changed',
      );
    });

    it('counts what cannot be read, and doctor says why', async () => {
      await arrives(text('wamid.e', 'who am I?', {}));
      await arrives(telegram.written(9, 'in a group', { chat: { id: -5, type: 'group' } }));
      const { findings } = (await stage.ask('GET', '/api/admin/doctor')).body;
      const unread = findings.filter(({ name }: { name: string }) =>
        name.startsWith('messages of'),
      );
      expect(unread.map(({ detail }: { detail: string }) => detail)).to.equal([
        '1 message was unreadable since the start. Last reason: it contains neither a sender number nor a user ID',
        '1 message was unreadable since the start. Last reason: it was sent in a group or channel. Only private chats with the bot are supported',
      ]);
    });
  });
});
