import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startStage } from '../../agents/stage.js';
import { until, untilAtLeast } from '../../harness/app.js';
import { askApproval } from '../../harness/approval.js';
import { linkChannel } from '../../harness/channel.js';
import { says } from '../../harness/openai.js';
import { openForSuite } from '../../harness/suite.js';
import * as teams from '../../harness/teams.js';
import { deliver, effects, forget, moveOn, movingClock, type Request, setUp } from './desk.js';

export const lab = Lab.script();
const { afterEach, beforeEach, describe, it } = lab;

const MINUTE_MS = 60_000;
const ADA = { kind: 'teams' as const, id: `${teams.TENANT}:${teams.ADA.id}`, name: teams.ADA.name };

describe('the team chat endpoint, with Teams', () => {
  const stage = openForSuite(lab, () => startStage({ egressAllow: ['127.0.0.1'] }, clock));
  let flow: Awaited<ReturnType<typeof teams.openWorkflow>>;

  const clock = movingClock();
  beforeEach(async () => {
    flow = await teams.openWorkflow();
    const fields = { securityToken: teams.SECURITY_TOKEN, workflowUrl: flow.url };
    await setUp(stage, 'teams', { fields });
  });
  afterEach(async () => {
    await forget(stage);
    flow.close();
    await moveOn(stage, clock);
  });

  const arrives = (request: Request) => deliver(stage, '/api/teamchat-webhook', request);
  const say = async (text: string, id: string) =>
    teams.linesOf((await arrives(teams.said(text, clock.now(), { id }))).body).join('\n');
  const posted = (count: number) => untilAtLeast(async () => flow.posted, count);
  const link = async () => {
    await linkChannel(stage, stage.userId, ADA);
    await posted(1);
    flow.posted.length = 0;
  };

  it('answers in the reply, and links by a code of the user', async () => {
    expect(await say('hello', '1')).to.contain('not linked');
    const { code } = (await stage.ask('POST', '/api/channels/codes', {})).body;
    expect(await say(`/link ${code}`, '2')).to.startWith('Linked.');
    const { channels } = (await stage.ask('GET', '/api/channels')).body;
    expect(channels.map(({ address }: { address: string }) => address)).to.equal([ADA.id]);
  });

  it('shows no code where all read it, and says how to link instead', async () => {
    const sentence = [
      'This chat is not linked to an account, so messages here are ignored.',
      'Other people can read this chat, so no code is shown here. Create a code with: adjutant channels link',
      'Then write here within five minutes: /link CODE',
    ].join('\n');
    expect([await say('/link', '1'), await say('!link', '2'), await say('hello', '3')]).to.equal([
      sentence,
      sentence,
      sentence,
    ]);
    expect(await stage.app.store.db.selectFrom('link_codes').selectAll().execute()).to.equal([]);
  });

  it('takes words once, and hands the answer to the workflow', async () => {
    await link();
    stage.model.script(says({ text: 'It is <at>noon</at>,\n**really**.' }));
    const request = teams.said('What time is it?', clock.now());
    const replies = await Promise.all([request, request, request].map(arrives));
    expect(replies.map(({ status }) => status)).to.equal([200, 200, 200]);
    for (const { body } of replies) expect(teams.linesOf(body)).to.equal(['One moment.']);
    const [answer] = await posted(1);
    expect(answer?.recipient).to.equal(teams.ADA.id);
    expect(teams.linesOf(answer)).to.equal(['It is <at>noon</at>,', 'really.']);
    expect((await stage.ask('GET', '/api/agents')).body.agents.length).to.equal(1);
    const kept = () =>
      stage.app.store.db
        .selectFrom('sendings')
        .select(['status', 'receipt'])
        .where('kind', '=', 'agent_completed')
        .execute();
    const rows = await until(kept, ([row]) => row?.status !== 'sending');
    expect(rows).to.equal([{ status: 'sent', receipt: 'run1' }]);
  });

  it('refuses a changed bit, an old time, another token and none, and does nothing', async () => {
    await link();
    const right = teams.said('hello', clock.now());
    const before = await effects(stage);
    const wrong: Request[] = [
      { ...right, body: right.body.replace('hello', 'hellO') },
      { ...right, headers: { authorization: 'HMAC ' } },
      { ...right, headers: {} },
      teams.said('hello', clock.now() - 6 * MINUTE_MS),
      teams.said('hello', clock.now(), { token: 'A'.repeat(44) }),
    ];
    for (const request of wrong) {
      expect((await arrives(request)).status).to.equal(401);
    }
    const forget = { fields: { securityToken: null } };
    await stage.ask('PUT', '/api/admin/platforms/teams', forget);
    expect((await arrives(right)).status).to.equal(401);
    expect(await effects(stage)).to.equal(before);
  });

  it('asks by the workflow, and takes the answer by what is said', async () => {
    await link();
    const id = await askApproval(stage, stage.userId);
    const [question] = await posted(1);
    const { digest } = (await stage.ask('GET', `/api/chat/approvals/${id}`)).body;
    const short = digest.slice(0, 8);
    expect(teams.linesOf(question).at(-1)).to.contain(`approve ${short}`);
    expect(await say(`deny ${short}`, '3')).to.startWith('Denied: ');
    expect((await stage.ask('GET', `/api/chat/approvals/${id}`)).body.status).to.equal('denied');
  });
});
