import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { type ServedFile, serveFile, sizeOf } from './servedfile.js';
import { openTarget } from './target.js';
import { type Template, whatsappFault } from './whatsapprules.js';

export const APP_SECRET = 'dd1a3c5b7e9f00112233445566778899';
export const VERIFY_TOKEN = 'meatyhamhock';
export const PHONE_NUMBER_ID = '106540352242922';
export const ACCESS_TOKEN = 'EAAJB-system-user';
/** A number reserved for fiction. */
export const ADA = { id: '15550783881', name: 'Ada Lovelace' };

/** The used part of the Cloud API: identity and sending. */
export const openWhatsapp = async () => {
  const target = await openTarget();
  const sent: Record<string, unknown>[] = [];
  let count = 0;
  const templates: Template[] = [];
  const refusals: ((response: ServerResponse) => void)[] = [];
  const files = new Map<string, ServedFile>();
  target.answer = (response, nth) => {
    const { method, path, headers, body } = target.received[nth - 1] ?? {};
    if (headers?.authorization !== `Bearer ${ACCESS_TOKEN}`) return refuse(190, 401)(response);
    if (method === 'GET' && path?.startsWith(`/v23.0/${PHONE_NUMBER_ID}?`)) {
      return say(response, 200, {
        display_phone_number: '+1 555-010-0100',
        verified_name: 'Adjutant',
        id: PHONE_NUMBER_ID,
      });
    }
    const { pathname, searchParams } = new URL(path ?? '', target.url);
    const id = searchParams.get('mid') ?? pathname.replace('/v23.0/', '');
    const file = files.get(id);
    if (file && pathname === '/whatsapp_business/attachments/') return serveFile(response, file);
    if (file && searchParams.get('phone_number_id') === PHONE_NUMBER_ID) {
      return say(response, 200, {
        url: file.url ?? `${target.url}/whatsapp_business/attachments/?mid=${id}&ext=1&hash=x`,
        ...{ mime_type: 'image/png', sha256: 'x', file_size: sizeOf(file), id },
        messaging_product: 'whatsapp',
      });
    }
    if (path !== `/v23.0/${PHONE_NUMBER_ID}/messages`) return refuse(100, 400)(response);
    const refusal = refusals.shift();
    if (refusal) return refusal(response);
    const message = JSON.parse(body ?? '');
    const fault = whatsappFault(message, templates);
    if (fault !== null) return refuse(fault[0], 400)(response);
    sent.push(message);
    say(response, 200, {
      messaging_product: 'whatsapp',
      contacts: [{ input: message.to, wa_id: message.to }],
      messages: [{ id: `wamid.sent${++count}` }],
    });
  };
  return {
    baseUrl: `${target.url}/v23.0`,
    address: target.address,
    files,
    sent,
    /** Approved templates. */
    templates,
    /** Next replies to messages, one each. */
    refuse: (...next: ((response: ServerResponse) => void)[]) => void refusals.push(...next),
    close: target.close,
  };
};

/** Error of the Graph API. */
export const refuse =
  (code: number, status = 400, headers = {}) =>
  (response: ServerResponse): void =>
    say(
      response,
      status,
      {
        error: {
          message: `(#${code}) refused`,
          type: 'OAuthException',
          code,
          error_data: { messaging_product: 'whatsapp', details: `details of ${code}` },
          fbtrace_id: 'A1b2',
        },
      },
      headers,
    );

/** Signed notification of Meta for the field `messages`. */
export const notification = (value: object, secret = APP_SECRET) => {
  const body = JSON.stringify({
    object: 'whatsapp_business_account',
    entry: [
      {
        id: '102290129340398',
        changes: [
          {
            value: {
              messaging_product: 'whatsapp',
              metadata: { display_phone_number: '15550100100', phone_number_id: PHONE_NUMBER_ID },
              ...value,
            },
            field: 'messages',
          },
        ],
      },
    ],
  });
  return { headers: signed(body, secret), body };
};

export const signed = (body: string, secret: string) => ({
  'content-type': 'application/json',
  'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
});

export const written = (
  text: string,
  { id = 'wamid.HBgL', ...more }: { id?: string; context?: object } = {},
) => from({ id, type: 'text', text: { body: text }, ...more });

/** Message that is not text, in the form of its type. */
export const sent = (type: string, content: object) =>
  from({ id: 'wamid.HBgL', type, [type]: content });

/** Later status of a sent message. */
export const became = (status: string, id: string, errors: object[] = []) =>
  notification({
    statuses: [
      {
        id,
        status,
        timestamp: '1749416384',
        recipient_id: ADA.id,
        ...(errors.length > 0 && { errors }),
      },
    ],
  });

/** A pressed button. */
export const pressed = (buttonId: string, title: string, id = 'wamid.HBgP') =>
  from({
    id,
    type: 'interactive',
    interactive: { type: 'button_reply', button_reply: { id: buttonId, title } },
    context: { from: '15550100100', id: 'wamid.sent1' },
  });

const from = (message: object) =>
  notification({
    contacts: [{ profile: { name: ADA.name }, wa_id: ADA.id }],
    messages: [{ from: ADA.id, timestamp: '1749416383', ...message }],
  });

const say = (response: ServerResponse, status: number, body: object, headers = {}): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
};
