import { createHmac } from 'node:crypto';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Stage, startStage } from '../../agents/stage.js';
import { type FrozenClock, frozenClock, untilAtLeast } from '../../harness/app.js';
import { openSlack, type Slack } from '../../harness/slack.js';
import { openTelegram, type Telegram } from '../../harness/telegram.js';
import { openWhatsapp } from '../../harness/whatsapp.js';
import { deliver, effects, type Request, SLACK_FIELDS, TELEGRAM_FIELDS } from './desk.js';

export const lab = Lab.script();
const { afterEach, beforeEach, describe, it } = lab;

const MINUTE_MS = 60_000;

/** Of Slack's page on verifying requests: secret `8f742231b10e8888abcd99yyyzzz85a5`. */
const SLACK = {
  at: 1531420618,
  body: 'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
  signature: 'a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
};
/** Of Telegram's guide to webhooks, which leaves the chat's type out. */
const PERSON = {
  last_name: 'Test Lastname',
  id: 1111111,
  first_name: 'Test',
  username: 'Test',
};
const MESSAGE = { date: 1441645532, chat: PERSON, message_id: 1365, from: PERSON };
const UPDATE = { update_id: 10000, message: { ...MESSAGE, text: '/start' } };
/** Of Meta's reference of the webhook `messages`. */
const META = {
  object: 'whatsapp_business_account',
  entry: [
    {
      id: '102290129340398',
      changes: [
        {
          value: {
            messaging_product: 'whatsapp',
            metadata: { display_phone_number: '15550783881', phone_number_id: '106540352242922' },
            contacts: [{ profile: { name: 'Sheena Nelson' }, wa_id: '16505551234' }],
            messages: [
              {
                from: '16505551234',
                id: 'wamid.HBgLMTY1MDM4Nzk0MzkVAgASGBQzQTRBNjU5OUFFRTAzODEwMTQ0RgA=',
                timestamp: '1749416383',
                type: 'text',
                text: { body: 'Does it come in another color?' },
              },
            ],
          },
          field: 'messages',
        },
      ],
    },
  ],
};

/** The request with one bit of it changed, bit by bit: of its body, or of one header. */
const flips = ({ headers, body }: Request, header: string): Request[] => {
  const of = (text: string, at: number) => {
    const bytes = Buffer.from(text);
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    return bytes.toString();
  };
  const value = headers[header] ?? '';
  return [
    ...[0, Math.floor(body.length / 2), body.length - 1].map((at) => ({
      headers,
      body: of(body, at),
    })),
    ...[...value].map((_, at) => ({ headers: { ...headers, [header]: of(value, at) }, body })),
  ];
};

describe('what the platforms publish', () => {
  let clock: FrozenClock;
  let stage: Stage;
  let slack: Slack;
  let telegram: Telegram;
  let cloud: Awaited<ReturnType<typeof openWhatsapp>>;

  beforeEach(async () => {
    clock = frozenClock(SLACK.at * 1000);
    [slack, telegram, cloud] = [await openSlack(), await openTelegram(), await openWhatsapp()];
    stage = await startStage({}, clock);
  });
  afterEach(async () => {
    await stage.stop();
    for (const fake of [slack, telegram, cloud]) fake.close();
  });

  const set = async (kind: string, body: object) =>
    expect((await stage.ask('PUT', `/api/admin/platforms/${kind}`, body)).status).to.equal(200);
  const toTeamchat = (request: Request) => deliver(stage, '/api/teamchat-webhook', request);
  const toMessenger = (request: Request) => deliver(stage, '/api/messenger-webhook', request);
  const refused = async (send: typeof toTeamchat, requests: Request[]) => {
    const before = await effects(stage);
    for (const request of requests) {
      const { status, body } = await send(request);
      expect([status, body.message]).to.equal([
        401,
        'The request has no valid signature of a configured platform. Check the settings of the platform',
      ]);
    }
    expect(await effects(stage)).to.equal(before);
  };

  it('by Slack is believed, and with one bit changed, late, or without a secret is not', async () => {
    const request = {
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'x-slack-request-timestamp': String(SLACK.at),
        'x-slack-signature': `v0=${SLACK.signature}`,
      },
      body: SLACK.body,
    };
    await refused(toTeamchat, [request]);
    await set('slack', { baseUrl: slack.baseUrl, fields: { botToken: SLACK_FIELDS.botToken } });
    await refused(toTeamchat, [request]);
    await set('slack', { fields: SLACK_FIELDS });
    await refused(toTeamchat, [
      ...flips(request, 'x-slack-signature'),
      ...flips(request, 'x-slack-request-timestamp'),
    ]);
    const { status, body } = await toTeamchat(request);
    expect([status, body.response_type]).to.equal([200, 'ephemeral']);
    expect(body.text).to.match(/^This chat is not linked to an account/);
    clock.forward(5 * MINUTE_MS + 1);
    await refused(toTeamchat, [request]);
  });

  it('by Telegram is heard behind its token, and without it is not', async () => {
    const header = 'x-telegram-bot-api-secret-token';
    const headers = { 'content-type': 'application/json' };
    const request = {
      headers: { ...headers, [header]: TELEGRAM_FIELDS.webhookSecret },
      body: JSON.stringify(UPDATE),
    };
    const empty = { headers: { ...headers, [header]: '' }, body: request.body };
    await refused(toMessenger, [request, empty]);
    const { botToken } = TELEGRAM_FIELDS;
    await set('telegram', { baseUrl: telegram.baseUrl, fields: { botToken } });
    await refused(toMessenger, [request, empty]);
    await set('telegram', { fields: TELEGRAM_FIELDS });
    const flipped = flips(request, header).filter((one) => one.body === request.body);
    await refused(toMessenger, [...flipped, { headers, body: request.body }]);
    const { status, body } = await toMessenger(request);
    expect([status, body.method, body.chat_id]).to.equal([200, 'sendMessage', '1111111']);
    const other = [
      { update_id: 10001, edited_message: { ...MESSAGE, text: 'Edited', edit_date: 1441646600 } },
      { update_id: 10002, message: { ...MESSAGE, audio: { file_id: 'AwADBAADbXX', duration: 2 } } },
      { update_id: 10003, inline_query: { id: '134567890097', from: PERSON, query: 'q' } },
      { update_id: 10004, callback_query: { id: '4382bfdwdsb323b2d9', from: PERSON, data: 'D' } },
      { update_id: 10005, message: { ...MESSAGE, chat: { id: -100, type: 'group' }, text: 'x' } },
    ];
    for (const update of other) {
      const reply = await toMessenger({ ...request, body: JSON.stringify(update) });
      expect([reply.status, reply.text]).to.equal([200, '']);
    }
  });

  it('by Meta is believed byte for byte, escapes as they are, and otherwise is not', async () => {
    const text = JSON.stringify(META).replace(
      'another color?',
      'a different \\u00e4\\u00f6\\u00e5?',
    );
    const secret = "It's a Secret to Everybody";
    const mac = (body: string, key = secret) =>
      createHmac('sha256', key).update(body).digest('hex');
    const request = (body: string, hex = mac(body)): Request => ({
      headers: { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${hex}` },
      body,
    });
    await refused(toMessenger, [request(text), request(text, mac(text, ''))]);
    const fields = {
      verifyToken: 'v',
      phoneNumberId: '106540352242922',
      accessToken: 'EAAJB-system-user',
    };
    await set('whatsapp', { baseUrl: cloud.baseUrl, fields });
    await refused(toMessenger, [request(text), request(text, mac(text, ''))]);
    await set('whatsapp', { fields: { appSecret: secret } });
    const decoded = text.replace('\\u00e4\\u00f6\\u00e5', 'äöå');
    await refused(toMessenger, [
      ...flips(request(text), 'x-hub-signature-256'),
      request(decoded, mac(text)),
      request(JSON.stringify(JSON.parse(text), null, 1), mac(text)),
    ]);
    // The vector that is published for this header; it is no notification.
    const hello = '757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';
    expect((await toMessenger(request('Hello, World!', hello))).status).to.equal(200);
    expect((await toMessenger(request(text))).status).to.equal(200);
    const [answer] = await untilAtLeast(async () => cloud.sent, 1);
    expect(answer?.to).to.equal('16505551234');
    expect(JSON.stringify(answer)).to.contain('This chat is not linked to an account');
  });
});
