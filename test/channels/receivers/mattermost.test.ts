import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startStage } from '../../agents/stage.js';
import { until, untilAtLeast } from '../../harness/app.js';
import { askApproval } from '../../harness/approval.js';
import { linkChannel } from '../../harness/channel.js';
import * as chat from '../../harness/mattermost.js';
import { says } from '../../harness/openai.js';
import { openForSuite } from '../../harness/suite.js';
import { deliver, effects, forget, moveOn, movingClock, type Request, setUp } from './desk.js';

export const lab = Lab.script();
const { afterEach, beforeEach, describe, it } = lab;

const FIELDS = { botToken: chat.BOT_TOKEN, commandTokens: chat.COMMAND_TOKEN };

describe('the team chat endpoint, with Mattermost', () => {
  const stage = openForSuite(lab, () => startStage({}, clock));
  let server: Awaited<ReturnType<typeof chat.openMattermost>>;

  let began: string;
  const clock = movingClock();
  beforeEach(async () => {
    server = await chat.openMattermost();
    began = await moveOn(stage, clock);
    await setUp(stage, 'mattermost', { baseUrl: server.baseUrl, fields: FIELDS });
  });
  afterEach(async () => {
    await forget(stage);
    server.close();
  });

  const arrives = (request: Request) => deliver(stage, '/api/teamchat-webhook', request);
  const posted = (count: number) => untilAtLeast(async () => server.posts, count);
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
      message: 'It is @\u200ball noon, see this (<https://x.example>).',
      props: { attachments: [] },
    });
    expect((await stage.ask('GET', '/api/agents')).body.agents.length).to.equal(1);
    const messages = stage.app.store.db
      .selectFrom('sendings')
      .select(['status', 'receipt'])
      .where('kind', '=', 'agent_completed');
    // The server has the post before the daemon has its reply.
    const rows = await until(
      () => messages.execute(),
      ([row]) => row?.status === 'sent',
    );
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

  describe('a button under a question', () => {
    const OTHER = 'zzj6qck3rfgtujs86w5r6rckzh';
    const ask = async () => {
      await link();
      const id = await askApproval(stage, stage.userId);
      const [question] = await posted(1);
      const [approve, deny] = chat.buttonsOf(question);
      if (!approve || !deny) throw new Error('No buttons');
      return { id, question, approve: approve.integration, deny: deny.integration };
    };
    const state = async (id: string) => (await stage.ask('GET', `/api/chat/approvals/${id}`)).body;

    it('decides it once, and takes the buttons away', async () => {
      const { id, approve, deny } = await ask();
      expect(approve.url).to.equal(`${stage.url}/api/teamchat-webhook`);
      const { status, body } = await arrives(chat.pressed(approve.context));
      const { digest } = await state(id);
      const message = `Approved: http.request ${digest.slice(0, 8)}`;
      expect([status, body]).to.equal([200, { update: { message, props: {} } }]);
      const late = await arrives(chat.pressed(deny.context, { trigger: 'dDI' }));
      expect(late.body.update.message).to.match(
        /^The approval was already approved at .*: http.request/,
      );
      expect((await state(id)).status).to.equal('approved');
      const audited = `/api/admin/audit?action=approvals.approve&since=${began}`;
      const { entries } = (await stage.ask('GET', audited)).body;
      expect(entries.map(({ target }: { target: string }) => target)).to.equal([id]);
    });

    it('is of the one whom it was shown to, and of the call that was', async () => {
      const { id, approve, deny } = await ask();
      const { context } = approve;
      await linkChannel(stage, (await stage.register('bob')).id, {
        ...{ kind: 'mattermost', id: OTHER, name: 'bob' },
      });
      const before = await effects(stage);
      for (const request of [
        chat.pressed(context, { user: OTHER }),
        chat.pressed({ ...context, digest: '0'.repeat(64) }),
        chat.pressed({ ...context, approvalId: 'approval_other' }),
        chat.pressed({ ...deny.context, answer: 'approve' }),
        chat.pressed({ ...context, mac: '' }),
        chat.pressed({ ...context, mac: [context.mac] }),
        chat.pressed({}),
      ]) {
        expect((await arrives(request)).status).to.equal(401);
      }
      await stage.ask('PUT', '/api/admin/platforms/mattermost', {
        fields: { commandTokens: null },
      });
      expect((await arrives(chat.pressed(context))).status).to.equal(401);
      expect(await effects(stage)).to.equal(before);
      expect((await state(id)).status).to.equal('pending');
    });

    it('is too late once its time is over, and says so', async () => {
      const { id, approve } = await ask();
      const past = new Date(clock.now() - 1000).toISOString();
      const { db } = stage.app.store;
      await db.updateTable('approvals').set({ expires_at: past }).where('id', '=', id).execute();
      const { body } = await arrives(chat.pressed(approve.context));
      expect(body.update.message).to.match(/^The approval was already expired at .*/);
    });

    it('is not there where nothing comes of it, and the answer may be typed', async () => {
      await stage.ask('PUT', '/api/admin/platforms/mattermost', {
        fields: { commandTokens: null },
      });
      await link();
      await askApproval(stage, stage.userId);
      const [question] = await posted(1);
      expect(question?.props).to.equal({ attachments: [] });
      expect(question?.message).to.contain('Or reply: approve');
    });
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
    expect(await say('approve 00000000', 't1')).to.equal('No pending request matches that digest.');
    expect(await say(`approve ${short}`, 't2')).to.match(/^Approved: /);
    expect((await stage.ask('GET', `/api/chat/approvals/${id}`)).body.status).to.equal('approved');
  });
});
