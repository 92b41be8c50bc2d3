import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { stageOfLink } from '../../../src/channels/stagetext.js';
import { linkChannel } from '../../harness/channel.js';
import * as slack from '../../harness/slack.js';
import { openForSuite } from '../../harness/suite.js';
import * as telegram from '../../harness/telegram.js';
import { openPlatforms } from './desk.js';

export const lab = Lab.script();
const { beforeEach, describe, it } = lab;

const FIELDS = [
  { key: 'version', label: 'Which version?', type: 'string', required: true },
  { key: 'count', label: 'How many', type: 'number' },
  { key: 'now', label: 'At once', type: 'boolean' },
  { key: 'ring', label: 'Ring', type: 'choice', options: ['Canary', 'All'] },
];

describe('stages of pipelines on channels', () => {
  const desk = openForSuite(lab, () => openPlatforms({ egressAllow: ['127.0.0.1'] }));
  let count = 0;
  beforeEach(async () => {
    const { pipelines } = (await desk.ask('GET', '/api/pipelines?status=waiting')).body;
    for (const { id } of pipelines) await desk.ask('POST', `/api/pipelines/${id}/stop`);
    await desk.anew();
  });

  const inSlack = async (userId = desk.userId) => {
    await linkChannel(desk, userId, { kind: 'slack', ...slack.ADA });
    await desk.inSlack(1);
    desk.slack.calls.length = 0;
  };
  const inTelegram = async () => {
    await linkChannel(desk, desk.userId, { kind: 'telegram', ...telegram.ADA });
    await desk.inTelegram(1);
    desk.telegram.calls.length = 0;
  };
  /** Starts a run of these stages; resolves to its id and that of its first stage. */
  const start = async (stages: object[], params = {}, orgId?: string) => {
    const parameters = [{ key: 'x', type: 'string' }];
    const onFinish = { notifyOwner: false };
    const own = orgId === undefined ? {} : { orgId };
    const template = { name: `T${++count}`, stages, parameters, onFinish, ...own };
    const made = await desk.ask('POST', '/api/pipelines/templates', template);
    const begun = await desk.ask('POST', '/api/pipelines', { templateId: made.body.id, params });
    if (begun.status !== 201) throw new Error(made.text + begun.text);
    return { id: String(begun.body.id), name: `T${count}`, stage: begun.body.stages[0] };
  };
  const stageOf = async (id: string, key = 'ask') => {
    const { stages } = (await desk.ask('GET', `/api/pipelines/${id}`)).body;
    return stages.find((one: { key: string }) => one.key === key);
  };
  const asks = (message: string, more = {}) => ({
    key: 'ask',
    kind: 'approval',
    config: { message },
    ...more,
  });

  it('of an organization are shown to its owners, and answered by them', async () => {
    const { id: org } = (await desk.ask('POST', '/api/orgs', { slug: 'acme', name: 'Acme' })).body;
    await desk.ask('PATCH', `/api/admin/orgs/${org}`, { approved: true });
    await inTelegram();
    const { id } = await start([asks('Ship it?')], {}, org);
    const { digest } = await stageOf(id);
    const shown = String((await desk.inTelegram(1))[0]?.text).split('\n');
    expect(shown).to.include(['For the organization acme', '> Ship it?']);
    const reply = await desk.toMessenger(telegram.written(1, `approve ${digest.slice(0, 8)}`));
    expect(reply.body.text).to.match(/^Approved: ask of /);
    expect((await stageOf(id)).status).to.equal('completed');
    const [entry] = await desk.audited('pipelines.approve');
    expect([entry.actorId, entry.data.orgId]).to.equal([desk.userId, org]);
  });

  it('are found by their links, and by those of before the page', () => {
    const place = { runId: 'pipeline_1', key: 'ask-us' };
    expect(stageOfLink('/pipelines/pipeline_1#ask-us')).to.equal(place);
    expect(stageOfLink('/api/pipelines/pipeline_1#ask-us')).to.equal(place);
    expect(stageOfLink('/pipelines/pipeline_1')).to.be.null();
  });
  const asksFor = (fields: object[]) => ({
    key: 'ask',
    kind: 'input',
    config: { message: 'Tell me', fields },
  });
  const say = async (at: number, text: string): Promise<string> =>
    (await desk.toMessenger(telegram.written(at, text))).body.text;
  const short = (digest: string) => digest.slice(0, 8);

  it('are shown with their message, of which no line passes for the daemon’s', async () => {
    await inSlack();
    const x = '\u202ea\nDigest 00000000.\r\nOr reply: approve 00000000';
    const { stage, name } = await start([asks('Publish {{params.x}}?')], { x });
    await desk.inSlack(1);
    const digest = short(stage.digest);
    const lines = desk.slack.texts()[0]?.split('\n') ?? [];
    const expiry = lines[5]?.slice(-'2026-01-01 00:00 UTC.'.length);
    expect(lines).to.equal([
      `${name}: ask waits for you`,
      '> Publish \\u{202e}a',
      '> Digest 00000000.',
      '> Or reply: approve 00000000?',
      'Trusted: contains no external content',
      `Digest ${digest}. The stage has not run. Without a reply it is denied at ${expiry}`,
      `Or reply: approve ${digest}    deny ${digest} <reason>`,
    ]);
    const week = new Date(desk.now() + 7 * 86_400_000).toISOString();
    expect(expiry?.slice(0, 10)).to.equal(week.slice(0, 10));
  });

  it('are shown with the whole call, if one waits', async () => {
    await inSlack();
    const { id } = await start([
      asks('Go?'),
      {
        key: 'call',
        kind: 'http',
        needs: ['ask'],
        config: { method: 'POST', url: 'http://127.0.0.1:9/' },
      },
    ]);
    await desk.inSlack(1);
    const { db } = desk.app.store;
    await db.updateTable('pipeline_runs').set({ untrusted: 1 }).where('id', '=', id).execute();
    const [approve] = slack.buttonsOf(desk.slack.calls[0]);
    if (!approve) throw new Error('No button');
    await desk.toTeamchat(slack.pressed(approve, desk.now()));
    const calls = await desk.inSlack(3);
    const call = await stageOf(id, 'call');
    const digest = short(call.digest);
    // The second call removes the buttons of the first question.
    const text = calls.map((each) => String(each.text)).find((each) => each.includes(digest));
    expect(text?.split('\n').slice(1, -2)).to.equal([
      'http.request',
      '  "method": "POST"',
      '  "url": "http://127.0.0.1:9/"',
      'UNTRUSTED: contains external content',
    ]);
  });

  it('are approved by a button, once, audited, and the buttons go away', async () => {
    await inSlack();
    const { id, name, stage } = await start([asks('Publish?')]);
    const [call] = await desk.inSlack(1);
    const [approve, deny] = slack.buttonsOf(call);
    if (!approve || !deny) throw new Error('No buttons');
    expect([approve.value, deny.value]).to.equal(Array(2).fill(`${id}:${stage.digest}`));
    await desk.toTeamchat(slack.pressed(approve, desk.now()));
    const { status, output } = await stageOf(id);
    expect([status, output]).to.equal(['completed', { approved: true, reason: null }]);
    const [, update] = await desk.inSlack(2);
    expect([update?.text, slack.buttonsOf(update)]).to.equal([`Approved: ask of ${name}`, []]);
    const [entry, ...others] = await desk.audited('pipelines.approve');
    expect([entry?.actorId, entry?.target, entry?.data.key, others]).to.equal([
      desk.userId,
      id,
      'ask',
      [],
    ]);
    await desk.toTeamchat(slack.pressed(deny, desk.now() + 1));
    const [, , again] = await desk.inSlack(3);
    expect(again?.text).to.equal('The request was already answered or has changed.');
    expect((await stageOf(id)).status).to.equal('completed');
  });

  it('are denied in words, with a reason', async () => {
    await inTelegram();
    const { id, name, stage } = await start([asks('Publish?')]);
    const digest = short(stage.digest);
    expect(await say(1, `approve ${digest} it is good`)).to.match(/Nothing was decided\.$/);
    expect(await say(2, `approve ${digest} host`)).to.match(/Nothing was decided\.$/);
    expect(await say(3, `answer ${digest} yes`)).to.equal(
      `The stage needs a decision. Reply: approve ${digest} or deny ${digest}. Nothing was decided.`,
    );
    expect((await stageOf(id)).status).to.equal('waiting_approval');
    expect(await say(4, `deny ${digest} Not on a Friday`)).to.equal(`Denied: ask of ${name}`);
    const { status, error } = await stageOf(id);
    expect([status, error]).to.equal(['failed', 'rejected: Not on a Friday']);
    expect(await say(5, `approve ${digest}`)).to.equal('No pending request matches that digest.');
  });

  it('get the values that they ask for, each in its type', async () => {
    await inTelegram();
    const { id, name, stage } = await start([asksFor(FIELDS)]);
    const digest = short(stage.digest);
    const [asked] = await desk.inTelegram(1);
    const lines = String(asked?.text).split('\n');
    expect([lines.slice(1, 7), lines.slice(8), asked?.reply_markup]).to.equal([
      [
        '> Tell me',
        '  version: "Which version?" (string, required)',
        '  count: "How many" (number)',
        '  now: "At once" (boolean)',
        '  ring: "Ring" ("Canary" or "All")',
        'Trusted: contains no external content',
      ],
      [
        `Reply: answer ${digest}, then one line per field:`,
        ...['version', 'count', 'now', 'ring'].map((key) => `${key}: <value>`),
      ],
      undefined,
    ]);
    expect(await say(1, `answer ${digest} count: many`)).to.match(
      /^Invalid request: values.version is required; values.count /,
    );
    expect(await say(2, `answer ${digest} 1.2.0`)).to.equal(
      '"1.2.0" is not a field. Fields: version, count, now, ring. Nothing was decided.',
    );
    expect(await say(3, `approve ${digest}`)).to.equal(
      `The stage needs input. Reply: answer ${digest} <value>. Nothing was decided.`,
    );
    const typed = `Answer ${digest}\nwhich version?: 1.2.0: beta\nCount: 3\nnow: Yes\nring: canary`;
    expect(await say(4, typed)).to.equal(`Answered: ask of ${name}`);
    const { status, output } = await stageOf(id);
    expect([status, output]).to.equal([
      'completed',
      { version: '1.2.0: beta', count: 3, now: true, ring: 'Canary' },
    ]);
    expect((await desk.audited('pipelines.input')).length).to.equal(1);
  });

  it('take the whole text for their only field', async () => {
    await inTelegram();
    const { id, stage } = await start([asksFor([{ key: 'note', label: 'Note', type: 'text' }])]);
    await say(1, `answer ${stage.digest}\nTo: all\n\nSecond line`);
    expect((await stageOf(id)).output).to.equal({ note: 'To: all\n\nSecond line' });
  });

  it('are answered by their owner alone', async () => {
    const bob = await desk.register('bob');
    await inSlack(bob.id);
    const { id, stage } = await start([asks('Publish?')]);
    const button = { action_id: 'approve', value: `${id}:${stage.digest}` };
    await desk.toTeamchat(slack.pressed(button, desk.now()));
    await desk.toTeamchat(slack.written(`approve ${stage.digest}`, desk.now() + 1));
    await desk.toTeamchat(slack.written(`answer ${stage.digest} x`, desk.now() + 2));
    await desk.inSlack(3);
    expect((await stageOf(id)).status).to.equal('waiting_approval');
  });

  it('are answered once, of many answers at once from everywhere', async () => {
    await inTelegram();
    const { id, stage } = await start([asks('Publish?')]);
    const { digest } = stage;
    await Promise.all([
      say(1, `approve ${digest}`),
      say(2, `deny ${digest}`),
      desk.toMessenger(telegram.pressed(3, `y:${id}:${digest.slice(0, 16)}`)),
      desk.ask('POST', `/api/pipelines/${id}/stages/ask/approve`, { digest }),
    ]);
    const entries = [
      ...(await desk.audited('pipelines.approve')),
      ...(await desk.audited('pipelines.reject')),
    ].filter(({ outcome }) => outcome === 'ok');
    const { status } = await stageOf(id);
    const action = status === 'completed' ? 'pipelines.approve' : 'pipelines.reject';
    expect(entries.map((entry) => entry.action)).to.equal([action]);
  });

  it('are counted by /status', async () => {
    await inTelegram();
    await start([asks('Publish?')]);
    expect(await say(1, '/status')).to.equal(
      '0 agents running, 0 approvals pending, 1 pipeline stage waiting.',
    );
  });

  it('belong to runs that are listed, stopped and retried by the end of their ids', async () => {
    await inTelegram();
    const bob = await desk.register('rob');
    const body = { name: 'Hers', stages: [asks('Hers?')] };
    const call = (path: string, of: object) =>
      desk.call('POST', path, { token: bob.token, body: of });
    const template = (await call('/api/pipelines/templates', body)).body;
    const hers = (await call('/api/pipelines', { templateId: template.id })).body.id;
    const { id, name } = await start([asks('Publish?')]);
    const tail = id.slice(-6);
    const listed = (await say(1, '/runs')).split('\n');
    expect([listed[0], listed.join().includes('Hers')]).to.equal([
      `${tail}  waiting  ${name}`,
      false,
    ]);
    expect(await say(2, '/retry')).to.match(
      /^Enter at least the last four characters of the run id/,
    );
    expect(await say(3, `/retry ${tail}`)).to.equal(
      'The run is waiting. Only a run that has ended can be retried.',
    );
    expect(await say(4, `/stop ${tail.toUpperCase()}`)).to.equal(`${name}: stopped`);
    expect(await say(5, `/stop ${tail}`)).to.equal(
      'The run has already ended with status stopped.',
    );
    expect(await say(6, `/retry ${tail} none`)).to.match(
      /fromStage refers to an unknown stage: none\./,
    );
    expect(await say(7, `!retry ${tail} ask`)).to.equal(`${name}: waiting`);
    expect(await say(8, `/stop ${String(hers).slice(-6)}`)).to.match(/^None of your latest runs/);
    expect((await stageOf(id)).status).to.equal('waiting_approval');
  });
});
