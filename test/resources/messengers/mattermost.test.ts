import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { until } from '../../harness/app.js';
import { askApproval } from '../../harness/approval.js';
import { linkChannel } from '../../harness/channel.js';
import * as chat from '../../harness/mattermost.js';
import { says } from '../../harness/openai.js';
import { type Stage, startStage } from '../../runtime/agents/stage.js';
import { deliver, effects, type Request } from './desk.js';

export const lab = Lab.script();
const { afterEach, beforeEach, describe, it } = lab;

const FIELDS = { botToken: chat.BOT_TOKEN, commandTokens: chat.COMMAND_TOKEN };

describe('the team chat endpoint, with Mattermost', () => {
  let stage: Stage;
  let server: Awaited<ReturnType<typeof chat.openMattermost>>;

  beforeEach(async () => {
    server = await chat.openMattermost();
    stage = await startStage();
    const body = { baseUrl: server.baseUrl, fields: FIELDS };
    expect((await stage.ask('PUT', '/api/admin/platforms/mattermost', body)).status).to.equal(200);
  });
  afterEach(async () => {
    await stage.stop();
    server.close();
  });

  const arrives = (request: Request) => deliver(stage, '/api/teamchat-webhook', request);
  const posted = (count: number) =>
    until(
      async () => server.posts,
      ({ length }) => length >= count,
    );
  const link = async () => {
    await linkChannel(stage, stage.userId, { kind: 'mattermost', ...chat.ADA });
    await posted(1);
    server.posts.length = 0;
  };

  it('gives a stranger a code that only the stranger sees', async () => {
    const { body } = await arrives(chat.command('link', ''));
    expect(body.response_type).to.equal('ephemeral');
    const [, code] = /channels link (\w{6})/.exec(body.text) ?? [];
    expect((await stage.ask('POST', '/api/auth/link', { code })).body).to.include({
      kind: 'mattermost',
      address: chat.ADA.id,
      name: chat.ADA.name,
    });
  });

  it('links by a code of the user', async () => {
    const { code } = (await stage.ask('POST', '/api/channels/codes', {})).body;
    const { body } = await arrives(chat.command('link', code));
    expect(body.text).to.match(/^Linked\./);
    const { channels } = (await stage.ask('GET', '/api/channels')).body;
    expect(channels.map(({ address }: { address: string }) => address)).to.equal([chat.ADA.id]);
  });

  it('takes a post once, and answers in a direct message', async () => {
    await link();
    stage.model.script(says({ text: 'It is @all noon, see [this](https://x.example).' }));
    const request = chat.post('adjutant what time is it?');
    const replies = await Promise.all([request, request, request].map(arrives));
    expect(replies.map(({ status }) => status)).to.equal([200, 200, 200]);
    const [answer] = await posted(1);
    expect(answer).to.equal({
      channel_id: 'd1r3ctchann3lofthebotandan',
      message: 'It is @\u200ball noon, see \\[this\\](https://x.example).',
    });
    expect((await stage.ask('GET', '/api/agents')).body.agents.length).to.equal(1);
    const rows = await stage.app.store.db
      .selectFrom('sendings')
      .select(['status', 'receipt'])
      .where('kind', '=', 'agent_completed')
      .execute();
    expect(rows).to.equal([{ status: 'sent', receipt: 'post1' }]);
  });

  it('refuses another token, none, and every one while none is set', async () => {
    await link();
    const before = await effects(stage);
    for (const token of ['', chat.COMMAND_TOKEN.slice(1), chat.COMMAND_TOKEN.replace('q', 'r')]) {
      expect((await arrives(chat.command('adjutant', 'hello', { token }))).status).to.equal(401);
      expect((await arrives(chat.post('hello', { token }))).status).to.equal(401);
    }
    const { headers, body } = chat.command('adjutant', 'hello');
    expect(
      (await arrives({ headers: { ...headers, 'user-agent': 'x', authorization: '' }, body }))
        .status,
    ).to.equal(401);
    await stage.ask('PUT', '/api/admin/platforms/mattermost', { fields: { commandTokens: null } });
    expect((await arrives({ headers, body })).status).to.equal(401);
    expect(await effects(stage)).to.equal(before);
  });

  it('asks in a direct message, and takes the answer by a command', async () => {
    await link();
    const id = await askApproval(stage, stage.userId);
    const [question] = await posted(1);
    const { digest } = (await stage.ask('GET', `/api/chat/approvals/${id}`)).body;
    const short = digest.slice(0, 8);
    expect(question?.message).to.contain(`Or reply: approve ${short}`);
    const say = async (text: string, trigger: string) =>
      (await arrives(chat.command('adjutant', text, { trigger }))).body.text;
    expect(await say('approve 00000000', 't1')).to.equal('Nothing with that digest waits for you.');
    expect(await say(`approve ${short}`, 't2')).to.match(/^Approved: /);
    expect((await stage.ask('GET', `/api/chat/approvals/${id}`)).body.status).to.equal('approved');
  });
});
