import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { teams } from '../../../src/providers/chat/teams.js';
import {
  ADA,
  linesOf,
  openWorkflow,
  SECURITY_TOKEN,
  said,
  signed,
  TENANT,
} from '../../harness/teams.js';
import { flipped, reachOf } from './reach.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const NOW = Date.parse('2026-11-20T14:00:00Z');
const TO = `${TENANT}:${ADA.id}`;
const EVENT = {
  kind: 'message' as const,
  sender: { id: TO, name: ADA.name },
  eventId: '19:253b1f341670408fb6fe51050b6e5ceb@thread.skype;messageid=1485983194839:1485983408511',
  replyTo: '19:253b1f341670408fb6fe51050b6e5ceb@thread.skype;messageid=1485983194839',
  isReadByOthers: true as const,
};

const SETTINGS = { baseUrl: 'https://teams.microsoft.com', values: {}, secrets: {} };

const verify = (
  { headers, body }: { headers: Record<string, string>; body: string | Buffer },
  securityToken = SECURITY_TOKEN,
  now = NOW,
) => {
  const settings = { ...SETTINGS, secrets: { securityToken } };
  return teams.verify({ headers, body: Buffer.from(body) }, settings, now);
};
const parse = (body: string) => teams.parse({ headers: {}, body: Buffer.from(body) }, SETTINGS);
const heard = (text: string, more = {}) => parse(said(text, NOW, more).body);

describe('teams inbound', () => {
  it('believes what is signed with the security token, and no other byte', () => {
    const { headers, body } = said('hello', NOW);
    expect(teams.matchesHeaders(headers)).to.be.true();
    expect(verify({ headers, body })).to.be.true();
    expect(verify({ headers, body: flipped(body) })).to.be.false();
    expect(verify({ headers: {}, body })).to.be.false();
    expect(verify({ headers: { authorization: 'HMAC ' }, body })).to.be.false();
    const raw = headers.authorization.replace('HMAC ', '');
    expect(verify({ headers: { authorization: `Bearer ${raw}` }, body })).to.be.false();
  });

  it('believes nothing while no token is set, or one that is none', () => {
    for (const token of ['', '!!!!', '====================', 'AAAA']) {
      expect(verify(said('hello', NOW, { token }), token)).to.be.false();
    }
    expect(verify(said('hello', NOW, { token: 'A'.repeat(44) }))).to.be.false();
  });

  it('believes nothing that was said more than five minutes ago, or at no time', () => {
    const request = said('hello', NOW);
    expect(verify(request, SECURITY_TOKEN, NOW + 5 * 60_000)).to.be.true();
    expect(verify(request, SECURITY_TOKEN, NOW + 5 * 60_000 + 1)).to.be.false();
    expect(verify(request, SECURITY_TOKEN, NOW - 5 * 60_000 - 1)).to.be.false();
    const body = '{"type":"message","text":"hello"}';
    expect(verify({ headers: signed(body, SECURITY_TOKEN), body })).to.be.false();
  });

  it('hears what is said behind the mention', () => {
    expect(heard('/link')).to.equal([{ ...EVENT, text: '/link' }]);
    expect(heard('&nbsp;a &lt;b&gt; &amp;lt;<br>c</p>')).to.equal([
      { ...EVENT, text: 'a <b> &lt;\nc' },
    ]);
    expect(heard('if a < b and c > d')).to.equal([{ ...EVENT, text: 'if a < b and c > d' }]);
  });

  it('knows what somebody has only handed on', () => {
    const attachments = [{ contentType: 'forwardedMessageReference', content: '{}' }];
    expect(heard('yes', { attachments })).to.equal([
      { ...EVENT, text: 'yes', isForwarded: true as const },
    ]);
  });

  it('takes the message that is quoted, and whose it is', () => {
    const quoted = (id: string) => {
      const content = { messagePreview: 'no backup', messageSender: { user: { id } } };
      return [{ contentType: 'messageReference', content: JSON.stringify(content) }];
    };
    const own = EVENT.sender.id.slice(EVENT.sender.id.indexOf(':') + 1);
    expect([own, 'another'].map((id) => heard('why?', { attachments: quoted(id) }))).to.equal([
      [{ ...EVENT, text: 'why?', quoted: { text: 'no backup', by: 'sender' as const } }],
      [{ ...EVENT, text: 'why?', quoted: { text: 'no backup', by: 'other' as const } }],
    ]);
  });

  it("ignores what is nobody's, of no tenant, or says nothing", () => {
    const unnamed = [{ from: { name: 'x' } }, { conversation: {}, channelData: {} }];
    for (const more of unnamed) {
      const ignored = { kind: 'ignored' as const, reason: 'it contains no tenant or no sender' };
      expect(parse(said('x', NOW, more).body)).to.equal([ignored]);
    }
    const nothing = [said('x', NOW, { type: 'reaction' }), said(' ', NOW)].map(({ body }) => body);
    for (const body of [...nothing, '', '[]', '{"from":1}', '<p'.repeat(500_000)]) {
      expect(parse(body)).to.equal([{ kind: 'ignored' }]);
    }
  });
});

describe('teams outbound', () => {
  let flow: Awaited<ReturnType<typeof openWorkflow>>;
  let reach: ReturnType<typeof reachOf>;

  before(async () => {
    flow = await openWorkflow();
    const settings = { secrets: { workflowUrl: flow.url } };
    reach = reachOf(settings, undefined, [flow.address]);
  });

  after(async () => {
    await reach.close();
    flow.close();
  });

  it('hands a card to the workflow, with whom it is for, and keeps the run', async () => {
    const [part = {}] = teams.render({ title: 'Nightly report', text: 'Nothing\n\nnew' });
    const sent = await teams.send(reach, TO, part);
    expect(sent).to.include({ verdict: 'sent', status: 202, receipt: `run${flow.posted.length}` });
    const posted = flow.posted.at(-1);
    expect(posted).to.include({ type: 'message', recipient: ADA.id });
    expect(linesOf(posted)).to.equal(['Nightly report', 'Nothing', ' ', 'new']);
  });

  it('answers a message with a card as well', () => {
    const [event] = parse(said('hello', NOW).body);
    const reply = event?.kind === 'message' ? teams.reply(event, 'Hi, <at>Ada</at>') : null;
    expect(linesOf(reply)).to.equal(['Hi, <at>Ada</at>']);
    expect(JSON.stringify(reply)).to.not.match(/mention|"TextBlock"|textFormat/);
  });

  it('takes what is marked up as text', () => {
    const text = '<at>everyone</at> [bank](https://evil.example) **b** <b>x</b>';
    const card = teams.render({ title: null, text });
    expect(linesOf(card)).to.equal([text]);
    expect(JSON.stringify(card)).to.not.match(/"TextBlock"|entities/);
    const url = 'https://evil.example';
    expect(JSON.stringify(card).match(/"selectAction":\{[^}]*\}/g)).to.equal([
      `"selectAction":{"type":"Action.OpenUrl","url":"${url}"}`,
    ]);
  });

  it('splits before 28 KB, as Teams counts', () => {
    const text = `${'ü "quoted" word\n'.repeat(800)}end`;
    const parts = teams.render({ title: null, text });
    const sizes = parts.map((part) => 2 * JSON.stringify({ ...part, recipient: ADA.id }).length);
    expect(sizes.every((size) => size < 28 * 1024)).to.be.true();
    expect(parts.length).to.be.above(1);
    const words = parts.flatMap(linesOf).join(' ').match(/\S+/g);
    expect(words).to.equal(text.match(/\S+/g));
  });

  it('tells what failed and what passes, also where a connector answers 200', async () => {
    const outcome = async (status: number, headers = {}, body = '') => {
      flow.refuse((response) => response.writeHead(status, headers).end(body));
      const { verdict, ...rest } = await teams.send(reach, TO, {});
      return [verdict, 'afterMs' in rest ? rest.afterMs : null];
    };
    const told =
      'Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429';
    expect(await outcome(429, { 'retry-after': '9' })).to.equal(['retry', 9_000]);
    expect(await outcome(200, {}, told)).to.equal(['retry', null]);
    expect(await outcome(401)).to.equal(['failed', null]);
    expect(await outcome(413)).to.equal(['failed', null]);
    expect(await outcome(500)).to.equal(['unknown', null]);
  });

  it('refuses a workflow in a private network that is not allowed', async () => {
    const guarded = reachOf({ secrets: { workflowUrl: flow.url } });
    expect(await teams.send(guarded, TO, {})).to.include({ verdict: 'failed' });
    await guarded.close();
  });
});
