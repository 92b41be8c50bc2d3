import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { call } from '../../agents/stage.js';
import { until, untilAtLeast } from '../../harness/app.js';
import { linkChannel } from '../../harness/channel.js';
import { says } from '../../harness/openai.js';
import { ADA, commanded, signed, written } from '../../harness/slack.js';
import { openForSuite } from '../../harness/suite.js';
import { effects, openPlatforms } from './desk.js';

export const lab = Lab.script();
const { beforeEach, describe, it } = lab;

const MINUTE_MS = 60_000;

describe('the team chat endpoint, with Slack', () => {
  const desk = openForSuite(lab, openPlatforms);
  beforeEach(() => desk.anew());

  /** Linked, and the notice of it forgotten. */
  const link = async () => {
    const channel = await linkChannel(desk, desk.userId, { kind: 'slack', ...ADA });
    await desk.inSlack(1);
    desk.slack.calls.length = 0;
    return channel;
  };
  const agents = async () => (await desk.ask('GET', '/api/agents')).body.agents;

  it('answers the challenge of a new request URL', async () => {
    const body = JSON.stringify({ type: 'url_verification', challenge: '3eZbrw1aBm2rZgRNFdxV' });
    const reply = await desk.toTeamchat(signed(body, desk.now()));
    expect([reply.status, reply.body]).to.equal([200, { challenge: '3eZbrw1aBm2rZgRNFdxV' }]);
  });

  it('refuses a changed bit, an old time and a wrong secret, and does nothing', async () => {
    await link();
    const right = written('hello', desk.now());
    const wrong = [
      { ...right, body: right.body.replace('hello', 'hellO') },
      { ...right, headers: { ...right.headers, 'x-slack-signature': 'v0=' } },
      { ...right, headers: { 'x-slack-signature': right.headers['x-slack-signature'] ?? '' } },
      { ...right, headers: {} },
      written('hello', desk.now() - 6 * MINUTE_MS),
      written('hello', desk.now() + 6 * MINUTE_MS),
      signed(right.body, desk.now(), 'another'),
    ];
    const before = await effects(desk);
    for (const request of wrong) expect((await desk.toTeamchat(request)).status).to.equal(401);
    expect((await desk.toMessenger(right)).status).to.equal(401);
    expect(await effects(desk)).to.equal(before);
  });

  it('is closed until the secret is set, and again once it is forgotten', async () => {
    await link();
    const before = await effects(desk);
    const forget = { fields: { signingSecret: null } };
    await desk.ask('PUT', '/api/admin/platforms/slack', forget);
    expect((await desk.toTeamchat(written('hello', desk.now()))).status).to.equal(401);
    const emptyKey = signed(written('hello', desk.now()).body, desk.now(), '');
    expect((await desk.toTeamchat(emptyKey)).status).to.equal(401);
    await desk.ask('DELETE', '/api/admin/platforms/slack');
    expect((await desk.toTeamchat(written('hello', desk.now()))).status).to.equal(401);
    expect(await effects(desk)).to.equal(before);
  });

  it('refuses over a megabyte, and takes nonsense that is signed as nothing', async () => {
    const long = signed('x'.repeat(1024 * 1024 + 1), desk.now());
    expect((await desk.toTeamchat(long)).status).to.equal(413);
    for (const body of ['', '{', '[]', 'null', 'payload=%7B', '\u0000', '{"type":7}']) {
      const reply = await desk.toTeamchat(signed(body, desk.now()));
      expect([reply.status, reply.text]).to.equal([200, '']);
    }
  });

  it('takes the words of a linked sender as a chat message, and sends the answer back once', async () => {
    await link();
    desk.model.script(says({ text: 'It is <b>noon</b> & *late* <!channel>.' }));
    const reply = await desk.toTeamchat(written('What time is it?', desk.now()));
    expect([reply.status, reply.text]).to.equal([200, '']);
    const [answer] = await desk.inSlack(1);
    expect(answer).to.equal({
      method: 'chat.postMessage',
      channel: 'U2CERLKJA',
      text: 'It is &lt;b&gt;noon&lt;/b&gt; &amp; late &lt;!channel&gt;.',
      mrkdwn: false,
      parse: 'none',
      link_names: false,
      unfurl_links: false,
      unfurl_media: false,
      blocks: [
        {
          type: 'rich_text',
          elements: [
            {
              type: 'rich_text_section',
              elements: [
                { type: 'text', text: 'It is <b>noon</b> & ' },
                { type: 'text', text: 'late', style: { italic: true } },
                { type: 'text', text: ' <!channel>.' },
              ],
            },
          ],
        },
      ],
    });
    const [session] = (await desk.ask('GET', '/api/sessions')).body.sessions;
    expect([session.channel, session.title]).to.equal(['slack', 'What time is it?']);
    // Slack has the message before the daemon has its reply.
    const rows = await until(
      () =>
        desk.app.store.db
          .selectFrom('sendings')
          .select(['status', 'receipt'])
          .where('kind', '=', 'agent_completed')
          .execute(),
      (found) => found.every(({ status }) => status !== 'sending'),
    );
    expect(rows).to.equal([{ status: 'sent', receipt: 'D024BE91L:1503435956.000001' }]);
  });

  it('goes on in one conversation until a new one is asked for', async () => {
    await link();
    desk.model.script(...['one', 'two', 'three'].map((text) => says({ text })));
    await desk.toTeamchat(written('first', desk.now()));
    await desk.inSlack(1);
    await desk.toTeamchat(written('second', desk.now()));
    await desk.inSlack(2);
    await desk.toTeamchat(written('!new', desk.now()));
    await desk.inSlack(3);
    await desk.toTeamchat(written('third', desk.now()));
    await desk.inSlack(4);
    expect(desk.slack.texts()).to.equal([
      'one',
      'two',
      'Your next message starts a new conversation.',
      'three',
    ]);
    const { sessions } = (await desk.ask('GET', '/api/sessions?channel=slack')).body;
    expect(sessions.map(({ messageCount }: { messageCount: number }) => messageCount)).to.equal([
      2, 4,
    ]);
  });

  it('runs an event once, however often and at once Slack sends it', async () => {
    await link();
    desk.model.script(says({ text: 'once' }));
    const request = written('go', desk.now(), { event_id: 'Ev0PV52K21' });
    const retry = { ...request, headers: { ...request.headers, 'x-slack-retry-num': '1' } };
    const replies = await Promise.all([request, retry, retry, retry].map(desk.toTeamchat));
    expect(replies.map(({ status }) => status)).to.equal([200, 200, 200, 200]);
    await desk.inSlack(1);
    await desk.restart();
    expect((await desk.toTeamchat(retry)).status).to.equal(200);
    expect([(await agents()).length, desk.model.asked.length]).to.equal([1, 1]);
    expect(desk.slack.texts()).to.equal(['once']);
  });

  it('does not hear bots, edits, or what is said in a channel to others', async () => {
    await link();
    const before = await effects(desk);
    for (const event of [
      { bot_id: 'B19LU7CSY' },
      { subtype: 'message_changed' },
      { channel_type: 'channel' },
      { type: 'reaction_added' },
      { user: undefined },
    ]) {
      expect((await desk.toTeamchat(written('hello', desk.now(), { event }))).status).to.equal(200);
    }
    expect(await effects(desk)).to.equal(before);
  });

  it('hears a mention, without the mention', async () => {
    await link();
    desk.model.script(says({ text: 'yes' }));
    const event = { type: 'app_mention', channel_type: undefined, channel: 'C1' };
    await desk.toTeamchat(
      written('<@U0LAN0Z89> read <http://a.example|this> &amp; tell', desk.now(), { event }),
    );
    const [hint] = await desk.inSlack(2);
    expect(hint).to.include({
      ...{ method: 'chat.postEphemeral', channel: 'C1', user: 'U2CERLKJA' },
      thread_ts: '1503435956.000247',
      text: 'Your agents receive only this message, not the thread or the channel. The reply is sent to our private chat.',
    });
    expect((await agents())[0].prompt).to.equal('read this (http://a.example) & tell');
  });

  it('links by a code of the sender, given by a slash command', async () => {
    const { status, body } = await desk.toTeamchat(commanded('/link', '', desk.now()));
    expect([status, body.response_type]).to.equal([200, 'ephemeral']);
    const [, code] = /code is (\w{6})\./.exec(body.text) ?? [];
    const linked = await desk.ask('POST', '/api/auth/link', { code });
    expect([linked.status, linked.body.address]).to.equal([201, ADA.id]);
    const again = await desk.toTeamchat(commanded('/adjutant', '', desk.now()));
    expect(again.body.text).to.match(/^Messages you write here go to your agents/);
  });

  it('links by a code of the user, and audits where it was said', async () => {
    const { code } = (await desk.ask('POST', '/api/channels/codes')).body;
    const { body } = await desk.toTeamchat(commanded('/link', code, desk.now()));
    expect(body.text).to.match(/^Linked\. /);
    const [channel] = (await desk.ask('GET', '/api/channels')).body.channels;
    expect([channel.kind, channel.address]).to.equal(['slack', ADA.id]);
    const entries = await desk.audited('channels.link');
    expect([entries[0].target, entries[0].actorId]).to.equal([channel.id, desk.userId]);
  });

  it('links by the word alone, behind its own command or its name', async () => {
    const { code } = (await desk.ask('POST', '/api/channels/codes')).body;
    const event = { type: 'app_mention', channel_type: undefined, channel: 'C1' };
    await desk.toTeamchat(
      written(`<@U0LAN0Z89> Link ${code}`, desk.now(), { event: { ...event, user: 'U2OTHER' } }),
    );
    await until(
      async () => desk.slack.texts(),
      (texts) => texts.some((text) => text.startsWith('Linked. ')),
    );
    const { body } = await desk.toTeamchat(commanded('/adjutant', 'link', desk.now()));
    expect(body.text).to.match(/^Your code is \w{6}\./);
    const other = commanded('/adjutant', 'link my accounts please', desk.now());
    expect((await desk.toTeamchat(other)).body.text).to.match(/^This chat is not linked/);
  });

  it('says that it cannot answer there, and has nothing done, where it can only hear', async () => {
    await desk.ask('PUT', '/api/admin/platforms/slack', { fields: { botToken: null } });
    const { code } = (await desk.ask('POST', '/api/channels/codes')).body;
    const why =
      'slack is not configured for sending, so no reply can be sent here. An admin can configure it with: adjutant channels setup slack';
    const linked = await desk.toTeamchat(commanded('/link', code, desk.now()));
    expect(linked.body.text).to.equal(`Linked. But ${why}`);
    const asked = await desk.toTeamchat(commanded('/adjutant', 'What time is it?', desk.now()));
    expect(asked.body.text).to.equal(`Nothing was done: ${why}`);
    const status = await desk.toTeamchat(commanded('/adjutant', '/status', desk.now()));
    expect(status.body.text).to.equal('0 agents running, 0 approvals pending.');
    expect((await agents()).length).to.equal(0);
  });

  it('tells a stranger how to link and nothing else, five times a minute', async () => {
    for (const text of ['hello', '!status', 'approve 12345678', '!new']) {
      await desk.toTeamchat(written(text, desk.now()));
    }
    const texts = await untilAtLeast(async () => desk.slack.texts(), 4);
    expect(new Set(texts).size).to.equal(1);
    expect(texts[0]).to.match(/^This chat is not linked to an account/);
    for (const n of [1, 2, 3]) await desk.toTeamchat(written(`again ${n}`, desk.now()));
    await desk.inSlack(5);
    const { status, text } = await desk.toTeamchat(commanded('/link', '', desk.now()));
    expect([status, text, (await agents()).length]).to.equal([200, '', 0]);
  });

  it('does not count the words of a disabled user, nor of one who is not linked any more', async () => {
    const channel = await link();
    const { db } = desk.app.store;
    const disable = (disabled_at: string | null) =>
      db.updateTable('users').set({ disabled_at }).where('id', '=', desk.userId).execute();
    await disable(new Date().toISOString());
    await desk.toTeamchat(written('hello', desk.now()));
    await desk.inSlack(1);
    await disable(null);
    await desk.ask('DELETE', `/api/channels/${channel.id}`);
    await desk.toTeamchat(written('hello again', desk.now()));
    await desk.inSlack(2);
    for (const text of desk.slack.texts()) expect(text).to.match(/^This chat is not linked/);
    expect((await agents()).length).to.equal(0);
  });

  it('says what went wrong with an agent, and how things are', async () => {
    await link();
    const again = says({ toolCalls: [call('time_now')] });
    desk.model.script(...Array.from({ length: 6 }, () => again));
    await desk.toTeamchat(written('Loop', desk.now()));
    const [failed] = await desk.inSlack(1);
    expect(failed?.text).to.match(/^The agent failed: /);
    const { body } = await desk.toTeamchat(commanded('/adjutant', '/status', desk.now()));
    expect(body.text).to.equal('0 agents running, 0 approvals pending.');
  });
});
