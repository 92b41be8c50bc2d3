import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { ChannelMessage, PlatformSettings } from '../../../src/providers/chat/platform.js';
import { whatsapp } from '../../../src/providers/chat/whatsapp.js';
import {
  ACCESS_TOKEN,
  ADA,
  APP_SECRET,
  notification,
  openWhatsapp,
  PHONE_NUMBER_ID,
  pressed,
  refuse,
  sent,
  VERIFY_TOKEN,
  written,
} from '../../harness/whatsapp.js';
import { flipped, reachOf } from './reach.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const NOW = Date.parse('2026-11-20T14:00:00Z');
const SETTINGS = {
  baseUrl: 'https://graph.facebook.com/v23.0',
  values: { phoneNumberId: PHONE_NUMBER_ID },
  secrets: { appSecret: APP_SECRET, verifyToken: VERIFY_TOKEN, accessToken: ACCESS_TOKEN },
};
const SENDER = { sender: ADA, eventId: 'wamid.HBgL', replyTo: ADA.id };
const DIGEST = '4f2a91c0'.repeat(8);
const QUESTION = { approvalId: 'approval_01k9x', digest: DIGEST };

const verify = (
  { headers, body }: { headers: Record<string, string>; body: string | Buffer },
  secrets = SETTINGS.secrets,
) => whatsapp.verify({ headers, body: Buffer.from(body) }, { ...SETTINGS, secrets }, NOW);
const parse = ({ body }: { body: string | Buffer }, settings: PlatformSettings = SETTINGS) =>
  whatsapp.parse({ headers: {}, body: Buffer.from(body) }, settings);
const plain = (text: string): ChannelMessage => ({ title: null, text });
const bodies = (message: ChannelMessage) =>
  whatsapp.render(message).map(({ text }) => (text as { body: string }).body);

describe('whatsapp inbound', () => {
  it('believes the signatures that are published for this header', () => {
    const published = [
      [
        "It's a Secret to Everybody",
        'Hello, World!',
        '757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
      ],
      ['secret', 'test', '0329a06b62cd16b33eb6792be8c60b158d89a2ee3a876fce9a881ebb488c0914'],
    ];
    for (const [appSecret = '', body = '', mac = ''] of published) {
      const headers = { 'x-hub-signature-256': `sha256=${mac}` };
      const secrets = { ...SETTINGS.secrets, appSecret };
      expect(verify({ headers, body }, secrets)).to.be.true();
      expect(verify({ headers, body: flipped(body) }, secrets)).to.be.false();
      const bad = {
        'x-hub-signature-256': `sha256=${mac.replace(/.$/, (d) => (d === '7' ? '6' : '7'))}`,
      };
      expect(verify({ headers: bad, body }, secrets)).to.be.false();
    }
  });

  it('believes nothing without a signature, a secret, or with another one', () => {
    const { headers, body } = written('hello');
    expect(verify({ headers, body })).to.be.true();
    expect(verify({ headers, body: flipped(body) })).to.be.false();
    expect(verify({ headers: {}, body })).to.be.false();
    expect(verify({ headers: { 'x-hub-signature-256': 'sha256=' }, body })).to.be.false();
    expect(verify({ headers, body }, { ...SETTINGS.secrets, appSecret: '' })).to.be.false();
    expect(verify(notification({}, 'another'))).to.be.false();
  });

  it('answers the handshake to the verify token alone', () => {
    const query = {
      'hub.mode': 'subscribe',
      'hub.challenge': '1158201444',
      'hub.verify_token': VERIFY_TOKEN,
    };
    const shake = (given: object, secrets = SETTINGS.secrets) =>
      whatsapp.handshake?.({ ...query, ...given }, { ...SETTINGS, secrets });
    expect(shake({})).to.equal('1158201444');
    expect(shake({ 'hub.verify_token': 'meatyhamhocl' })).to.be.null();
    expect(shake({ 'hub.verify_token': [VERIFY_TOKEN] })).to.be.null();
    expect(shake({ 'hub.mode': 'unsubscribe' })).to.be.null();
    expect(
      shake({ 'hub.verify_token': '' }, { ...SETTINGS.secrets, verifyToken: '' }),
    ).to.be.null();
  });

  it('hears a text, with who wrote it', () => {
    expect(parse(written('/link'))).to.equal([{ ...SENDER, kind: 'message', text: '/link' }]);
  });

  it('reads the caption as the words, and tells apart what has none', () => {
    const said = { ...SENDER, kind: 'message' as const };
    const file = {
      id: '1003383421387256',
      mime_type: 'image/jpeg',
      sha256: 'SfInY0gGKTsJlUWbwxC1k',
    };
    const kept = (type: string) =>
      ['image', 'document'].includes(type)
        ? { files: [{ name: null, bytes: null, ref: file.id }] }
        : {};
    for (const type of ['image', 'video', 'document']) {
      const captioned = sent(type, { ...file, caption: ' look ' });
      expect(parse(captioned)).to.equal([{ ...said, text: 'look', ...kept(type) }]);
    }
    const voice = { name: 'voice message', bytes: null, ref: file.id, isVoice: true as const };
    const spoken = { ...said, text: '', hasNoText: true as const, files: [voice] };
    expect(parse(sent('audio', file))).to.equal([spoken]);
    for (const type of ['image', 'video', 'document', 'sticker', 'location']) {
      const heard = { ...said, text: '', hasNoText: true as const, ...kept(type) };
      expect(parse(sent(type, file))).to.equal([heard]);
    }
  });

  it('hears its own number alone, where several post to one address', () => {
    const other = { display_phone_number: '15550100101', phone_number_id: '206540352242922' };
    const failed = { id: 'wamid.sent1', status: 'failed', recipient_id: ADA.id };
    const messages = [{ from: ADA.id, id: 'wamid.HBgL', type: 'text', text: { body: 'hi' } }];
    for (const value of [{ messages }, { statuses: [failed] }]) {
      const theirs = notification({ ...value, metadata: other });
      expect(parse(theirs)).to.equal([]);
      expect(parse(notification(value)).length).to.equal(1);
      // Whoever only receives may have named none.
      expect(parse(theirs, { ...SETTINGS, values: {} }).length).to.equal(1);
    }
  });

  it('knows what somebody has only handed on', () => {
    const heard = parse(written('approve all', { context: { forwarded: true } } as object));
    expect(heard).to.equal([
      { ...SENDER, kind: 'message', text: 'approve all', isForwarded: true },
    ]);
  });

  it('hears a button of ours, bound to the call that was shown', () => {
    const [button] = whatsapp.render({ title: null, text: 'Run it?', question: QUESTION });
    const ids = JSON.stringify(button).match(/(approve|deny):[^"]*/g) ?? [];
    const heard = ids.map((id) => parse(pressed(id, 'Approve')));
    const event = { ...SENDER, eventId: 'wamid.HBgP', kind: 'button' as const, ...QUESTION };
    expect(heard).to.equal([[{ ...event, approved: true }], [{ ...event, approved: false }]]);
  });

  it('offers one scope beside them, since there may be three buttons of 20 characters', () => {
    const question = { ...QUESTION, grantScopes: ['conversation', 'host'] as const };
    const [part] = whatsapp.render({ title: null, text: 'Run it?', question });
    const { buttons }: { buttons: { reply: { id: string; title: string } }[] } = JSON.parse(
      JSON.stringify(part?.interactive),
    ).action;
    expect(buttons.length).to.equal(3);
    for (const { reply } of buttons) expect(reply.title.length).to.be.below(21);
    const id = buttons[2]?.reply.id ?? '';
    expect(id.length).to.be.below(257);
    const [heard] = parse(pressed(id, 'This conversation'));
    expect(heard).to.include({ approved: true, scope: 'conversation' });
    const host = parse(pressed(id.replace('conversation', 'host'), 'x'));
    expect(host[0]).to.include({ approved: true, scope: 'host' });
  });

  it('ignores receipts, reactions, buttons of others, and whatever is no notification', () => {
    const status = { id: 'wamid.sent1', status: 'read', recipient_id: ADA.id };
    expect(parse(notification({ statuses: [status] }))).to.equal([]);
    expect(parse(pressed('approve:approval_1:short', 'Approve'))).to.equal([{ kind: 'ignored' }]);
    const reaction = { message_id: 'wamid.sent1', emoji: '\u{1f44d}' };
    expect(parse(sent('reaction', reaction))).to.equal([{ kind: 'ignored' }]);
    expect(parse(written(' '))).to.equal([{ kind: 'ignored' }]);
    for (const body of [
      '',
      '[]',
      'null',
      '{"entry":7}',
      '{"entry":[{"changes":[null]}]}',
      '\u0000'.repeat(1e6),
    ]) {
      expect(parse({ body })).to.equal([]);
    }
  });
});

describe('whatsapp outbound', () => {
  let cloud: Awaited<ReturnType<typeof openWhatsapp>>;
  let reach: ReturnType<typeof reachOf>;

  before(async () => {
    cloud = await openWhatsapp();
    reach = reachOf({ ...SETTINGS, baseUrl: cloud.baseUrl });
  });

  after(async () => {
    await reach.close();
    cloud.close();
  });

  it('sends a text, and keeps what WhatsApp calls it', async () => {
    const [part = {}] = whatsapp.render({ title: 'Nightly report', text: 'Nothing new' });
    const sent = await whatsapp.send(reach, ADA.id, part);
    expect(sent).to.include({
      verdict: 'sent',
      status: 200,
      receipt: `wamid.sent${cloud.sent.length}`,
    });
    expect(cloud.sent.at(-1)).to.equal({
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      to: ADA.id,
      type: 'text',
      text: { preview_url: false, body: '*Nightly report*\n\nNothing new' },
    });
  });

  it('splits at 4,096 characters, and loses none', () => {
    const text = `${'é😀 word\n'.repeat(2_000)}end`;
    const pieces = bodies(plain(text));
    expect(pieces.every((piece) => piece.length <= 4_096)).to.be.true();
    expect(pieces.join('\n')).to.equal(text);
    // Most messages are full: each line is counted with all that could be written around it.
    expect(pieces.length).to.be.below(15);
    expect(bodies(plain(' \n '))).to.equal([]);
  });

  it('puts the end of a long question on its buttons, in 1,024 characters', () => {
    const text = 'npm test '.repeat(300).trim();
    const parts = whatsapp.render({ title: null, text, question: QUESTION });
    const shown = parts.map(
      ({ text: said, interactive }) =>
        (said as { body: string })?.body ?? (interactive as { body: { text: string } }).body.text,
    );
    expect(parts.map(({ type }) => type)).to.equal(['text', 'interactive']);
    expect(shown.join('')).to.equal(text);
    expect((shown[1] ?? '').length).to.be.below(1_025);
  });

  it('leaves no mark of WhatsApp where it could open', () => {
    const opens = /(?<![\p{L}\p{N}])[*_~`](?=[^\s\u2060])|^[ \t]*([>-]|\d+\.)/mu;
    for (const text of [
      '*bold*',
      '_it_ ~no~ `x` ```y```',
      '> said\n- one\n1. two',
      '**a**',
      '(*b*)',
    ]) {
      const [body = ''] = bodies(plain(text));
      expect(opens.test(text)).to.be.true();
      expect(opens.test(body)).to.be.false();
      expect(body.replaceAll('\u2060', '')).to.equal(text);
    }
    expect(bodies(plain('https://x.example/a_b_c 2*3*4'))).to.equal([
      'https://x.example/a_b_c 2*3*4',
    ]);
  });

  it('puts no mark of its own into an address', () => {
    for (const [text, shown] of [
      ['https://x.example/_a?*b*=~c', 'https://x.example/%5Fa?%2Ab*=%7Ec'],
      ['(http://x.example/__a)', '(http://x.example/%5F%5Fa)'],
      ['see www.x.example/*a', 'see www.x.example/%2Aa'],
      ['x.example/`a b.c', 'x.example/%60a b.c'],
    ] as const) {
      expect(bodies(plain(text))).to.equal([shown]);
    }
    bodies(plain('a.'.repeat(200_000)));
    bodies(plain('a-'.repeat(200_000)));
  });

  it('tells by the codes of Meta what is over and what passes', async () => {
    const outcome = async (answer: ReturnType<typeof refuse>) => {
      cloud.refuse(answer);
      const [part = {}] = whatsapp.render(plain('hi'));
      const { verdict, ...rest } = await whatsapp.send(reach, ADA.id, part);
      return [verdict, 'afterMs' in rest ? rest.afterMs : null];
    };
    expect(await outcome(refuse(131047))).to.equal(['failed', null]);
    expect(await outcome(refuse(131026))).to.equal(['failed', null]);
    expect(await outcome(refuse(131056))).to.equal(['retry', 6_000]);
    expect(await outcome(refuse(130429, 429))).to.equal(['retry', 5_000]);
    expect(await outcome(refuse(0, 429, { 'retry-after': '17' }))).to.equal(['retry', 17_000]);
    expect(await outcome(refuse(131016, 503))).to.equal(['retry', null]);
    expect(await outcome(refuse(1, 500))).to.equal(['unknown', null]);
    expect(await outcome((response) => void response.destroy())).to.equal(['unknown', null]);
  });

  it('says that 24 hours are over', async () => {
    cloud.refuse(refuse(131047));
    expect(await whatsapp.send(reach, ADA.id, {})).to.include({
      verdict: 'failed',
      error:
        'WhatsApp accepts free text only within 24 hours after the last message of the user. Send a message from WhatsApp, then resend this one. Or an admin sets an approved template: adjutant channels setup whatsapp (131047)',
      isLate: true,
    });
  });

  it('checks who we are, and says that a token is refused', async () => {
    expect(await whatsapp.check(reach)).to.equal({ ok: true, account: 'Adjutant +1 555-010-0100' });
    const { settings } = reach;
    const other = { ...reach, settings: { ...settings, secrets: { accessToken: 'no' } } };
    expect(await whatsapp.check(other)).to.equal({
      ok: false,
      error: 'WhatsApp rejected the access token. The token is invalid or expired (190)',
    });
  });
});
