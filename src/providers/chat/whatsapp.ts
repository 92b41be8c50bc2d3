import { isBodySigned, isSame } from '../../kernel/signature.js';
import { type ButtonChoice, SCOPE_LABELS } from './buttonscopes.js';
import { asText, callPlatform, toPlatformCheck, toPlatformSent } from './call.js';
import { splitIntoMessages } from './markdown/fit.js';
import { messageLines } from './markdown/message.js';
import { splitText } from './markdown/split.js';
import {
  unmarked,
  WHATSAPP_FENCES,
  whatsappSize,
  writeWhatsapp,
} from './markdown/whatsappmarks.js';
import type {
  ChannelMessage,
  Platform,
  PlatformBody,
  PlatformQuestion,
  PlatformSettings,
} from './platform.js';
import { buttonWhatsapp, parseWhatsapp, toObjectList } from './whatsappinbound.js';
import { whatsappRefusal } from './whatsapprefusal.js';
import { createWhatsappTemplate, templateFields } from './whatsapptemplate.js';

const MAX_TEXT_LENGTH = 4_096;
const MAX_ASKED_LENGTH = 1_024;

/** Meta's Cloud API. A sender is identified by the phone number. */
export const whatsapp: Platform = {
  kind: 'whatsapp',
  endpoint: 'messenger',
  baseUrl: 'https://graph.facebook.com/v23.0',
  fields: [
    {
      name: 'appSecret',
      doc: 'App settings, Basic: App secret. Meta signs each request with this secret',
      isSecret: true,
      requiredFor: ['receive'],
    },
    {
      name: 'verifyToken',
      doc: 'Long random text of your choice, entered at Meta next to the callback URL',
      isSecret: true,
      requiredFor: ['receive'],
    },
    {
      name: 'phoneNumberId',
      doc: 'WhatsApp, API Setup: Phone number ID (not the phone number)',
      isSecret: false,
      form: { pattern: /^\d{5,30}$/, fault: 'must be digits (the phone number ID)' },
      requiredFor: ['send'],
    },
    {
      name: 'accessToken',
      doc: 'Business settings, System users: a token with the permission whatsapp_business_messaging',
      isSecret: true,
      requiredFor: ['send'],
    },
    ...templateFields,
  ],
  setup: (receiver) => [
    'developers.facebook.com/apps: Create App, of the type Business, and add WhatsApp to it',
    'App settings, Basic: copy the App secret. WhatsApp, API Setup: copy the Phone number ID',
    'business.facebook.com, Settings, System users: create a token that never expires, with the permission whatsapp_business_messaging',
    'Set these three values here, and verifyToken to a random text, for example from: openssl rand -hex 32',
    `WhatsApp, Configuration: enter the callback URL ${receiver} and the verify token, and subscribe to the field messages`,
    'For messages more than 24 hours after the last message of the user: create a utility template whose body has one parameter (WhatsApp Manager, Message templates). Set its name here after Meta has approved it',
    'Send /link to your number and redeem the code: adjutant channels link CODE',
  ],

  matchesHeaders: (headers) => headers['x-hub-signature-256'] !== undefined,
  verify: ({ headers, body }, { secrets: { appSecret } }) =>
    appSecret !== undefined && appSecret !== '' && isBodySigned(appSecret, body, headers),
  parse: ({ body }, settings) => parseWhatsapp(body, settings),
  handshake: (query, { secrets }) => {
    if (!secrets.verifyToken || query['hub.mode'] !== 'subscribe') return null;
    const input = Buffer.from(asText(query['hub.verify_token']));
    return isSame(input, Buffer.from(secrets.verifyToken)) ? asText(query['hub.challenge']) : null;
  },
  reply: () => null,

  freeTextMs: 24 * 3600_000,
  late: (settings) => createWhatsappTemplate(settings, unmarked),
  render: (message) =>
    message.question ? asking(message, message.question) : buildTextBodies(message),
  send: async (reach, to, part) => {
    // Meta treats a user id in `to` as a number and drops the message without an error.
    const address = /^\d+$/.test(to) ? { to } : { recipient: to };
    const recipient = { messaging_product: 'whatsapp', recipient_type: 'individual', ...address };
    const reply = await callPlatform(reach, {
      url: `${buildPhoneNumberUrl(reach.settings)}/messages`,
      headers: bearer(reach.settings),
      body: { ...recipient, ...part },
      refusalIn: whatsappRefusal,
    });
    return toPlatformSent(reply, ({ body }) => asText(toObjectList(body.messages)[0]?.id) || null);
  },
  files: {
    hosts: ['lookaside.fbsbx.com'],
    find: async (reach, { name, ref }) => {
      const headers = bearer(reach.settings);
      const { baseUrl, values } = reach.settings;
      const number = encodeURIComponent(values.phoneNumberId ?? '');
      const url = `${baseUrl}/${encodeURIComponent(ref)}?phone_number_id=${number}`;
      const requested = { method: 'GET', url, headers, refusalIn: whatsappRefusal } as const;
      const reply = await callPlatform(reach, requested);
      if (reply.verdict !== 'replied') return reply;
      return {
        verdict: 'found',
        url: asText(reply.body.url),
        headers,
        name: name ?? mediaName(reply.body.mime_type),
        bytes: reply.body.file_size,
      };
    },
  },
  check: async (reach) => {
    const reply = await callPlatform(reach, {
      method: 'GET',
      url: `${buildPhoneNumberUrl(reach.settings)}?fields=display_phone_number,verified_name`,
      headers: bearer(reach.settings),
      refusalIn: whatsappRefusal,
    });
    return toPlatformCheck(
      reply,
      ({ body: { verified_name: name, display_phone_number: number } }) =>
        `${asText(name)} ${asText(number)}`.trim(),
    );
  },
};

const mediaName = (mediaType: unknown): string => {
  const [, family = '', form = ''] = /^(\w{1,20})\/(\w{1,10})/.exec(asText(mediaType)) ?? [];
  if (family === 'image') return `picture.${form}`;
  return `document.${form === 'plain' ? 'txt' : form || 'bin'}`;
};

const buildPhoneNumberUrl = ({ baseUrl, values }: PlatformSettings): string =>
  `${baseUrl}/${encodeURIComponent(values.phoneNumberId ?? '')}`;

const bearer = ({ secrets }: PlatformSettings) => ({
  authorization: `Bearer ${secrets.accessToken}`,
});

const renderMessageTexts = (message: ChannelMessage, most: number): string[] => {
  const limits = { most: most - WHATSAPP_FENCES, sizeOf: whatsappSize };
  return splitIntoMessages(messageLines(message, true), limits).map(writeWhatsapp);
};

const buildTextBody = (body: string): PlatformBody => ({
  type: 'text',
  text: { preview_url: false, body },
});

const buildTextBodies = (message: ChannelMessage): PlatformBody[] =>
  renderMessageTexts(message, MAX_TEXT_LENGTH).map(buildTextBody);

/** The last message contains the end of the text and the buttons. */
const asking = (message: ChannelMessage, question: PlatformQuestion): PlatformBody[] => {
  const [text = ''] = renderMessageTexts(message, Number.MAX_SAFE_INTEGER);
  const end = splitText(text, MAX_ASKED_LENGTH).at(-1) ?? '';
  const button = (choice: ButtonChoice, title: string) => ({
    type: 'reply',
    reply: { id: buttonWhatsapp(question, choice), title },
  });
  // At most three buttons: only the narrower scope gets one.
  const [scope] = question.grantScopes ?? [];
  const buttons = [
    button('approve', 'Approve'),
    button('deny', 'Deny'),
    ...(scope ? [button(scope, SCOPE_LABELS[scope])] : []),
  ];
  const interactive = { type: 'button', body: { text: end || 'Approve?' }, action: { buttons } };
  return [
    ...splitText(text.slice(0, text.length - end.length), MAX_TEXT_LENGTH).map(buildTextBody),
    { type: 'interactive', interactive },
  ];
};
