import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { openTarget } from './target.js';

export const BOT_TOKEN = 'MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs';
export const APPLICATION = '845027738276462632';
export const ADA = { id: '53908232506183680', name: 'Ada Lovelace @ada' };
const USER = { id: ADA.id, username: 'ada', global_name: 'Ada Lovelace', discriminator: '0' };
const DIRECT = '1100000000000000001';

const pair = generateKeyPairSync('ed25519');
export const PUBLIC_KEY = pair.publicKey
  .export({ type: 'spki', format: 'der' })
  .subarray(-32)
  .toString('hex');
export const OTHER = generateKeyPairSync('ed25519').privateKey;

/** Token with which an interaction is answered later. */
const INTERACTION_TOKEN = 'aW50ZXJhY3Rpb246ODQ2NDYyNjM5';

export interface DiscordButton {
  type: number;
  style: number;
  label: string;
  custom_id: string;
}

export interface DiscordMessage {
  content: string;
  flags?: number;
  allowed_mentions?: { parse: string[] };
  components?: { type: number; components: DiscordButton[] }[];
}

export interface DiscordCall {
  asked: string;
  body: DiscordMessage;
}

/** The used part of the REST API for a bot. */
export const openDiscord = async () => {
  const target = await openTarget();
  const messages: DiscordMessage[] = [];
  const later: DiscordCall[] = [];
  const registered: object[] = [];
  const refusals: ((response: ServerResponse) => void)[] = [];
  const fake = { daemon: '' };
  const answer = async (response: ServerResponse, nth: number): Promise<void> => {
    const { method, path, headers, body } = target.received[nth - 1] ?? {};
    const asked = `${method} ${path?.replace('/api/v10/', '')}`;
    const json = body ? JSON.parse(body) : {};
    if (headers?.authorization !== `Bot ${BOT_TOKEN}`) return refuse(401, 0)(response);
    // Cloudflare checks the user agent before Discord does.
    if (!/^DiscordBot \(\S+, \S+\)$/.test(headers['user-agent'] ?? ''))
      return refuse(403, 0)(response);
    if (asked === 'GET applications/@me') return say(response, 200, APP);
    if (asked === `PUT applications/${APPLICATION}/commands`) {
      if (!json.every(isCommand)) return refuse(400, 50035)(response);
      registered.push(...json);
      return say(response, 200, json);
    }
    if (asked === 'PATCH applications/@me') {
      const isOurs = await answersPing(fake.daemon, json.interactions_endpoint_url);
      return isOurs ? say(response, 200, APP) : refuse(400, 50035)(response);
    }
    if (asked === 'POST users/@me/channels') {
      if (json.recipient_id !== ADA.id) return refuse(400, 50033)(response);
      return say(response, 200, { id: DIRECT, type: 1 });
    }
    const refusal = refusals.shift();
    if (refusal) return refusal(response);
    if (discordFault(json) !== null) return refuse(400, 50035)(response);
    if (asked === `POST channels/${DIRECT}/messages`) {
      if (((json.flags ?? 0) & EPHEMERAL) !== 0) return refuse(400, 50035)(response);
      messages.push(json);
      return say(response, 200, { id: `11000000000000001${messages.length}`, channel_id: DIRECT });
    }
    if (!asked.includes(` webhooks/${APPLICATION}/${INTERACTION_TOKEN}`)) {
      return refuse(404, 10008)(response);
    }
    later.push({ asked: asked.replace(/ webhooks\/\d+\/\w+/, ' '), body: json });
    say(response, 200, { id: '1200000000000000001' });
  };
  target.answer = (response, nth) => void answer(response, nth);
  return Object.assign(fake, {
    baseUrl: `${target.url}/api/v10`,
    address: target.address,
    messages,
    later,
    registered,
    /** Next replies to messages, one each. */
    refuse: (...next: ((response: ServerResponse) => void)[]) => void refusals.push(...next),
    close: target.close,
  });
};

export type Discord = Awaited<ReturnType<typeof openDiscord>>;

const APP = { id: APPLICATION, name: 'Adjutant', verify_key: PUBLIC_KEY };
const EPHEMERAL = 1 << 6;

const isCommand = (one: { name: string; description: string; options?: object[] }): boolean =>
  /^[-_\p{Ll}\p{N}]{1,32}$/u.test(one.name) &&
  one.description.length >= 1 &&
  one.description.length <= 100 &&
  (one.options ?? []).length <= 25;

/**
 * Discord requires TLS and checks the address at once, with a right and a wrong signature. The test
 * daemon has no certificate, so it is checked at its own address.
 */
const answersPing = async (daemon: string, url: unknown): Promise<boolean> => {
  if (!String(url).startsWith('https://')) return false;
  const at = `${daemon}${new URL(String(url)).pathname}`;
  const statuses: (number | string)[] = [];
  for (const key of [pair.privateKey, OTHER]) {
    const { headers, body } = signed(
      { ...{ id: '1', type: 1 }, application_id: APPLICATION },
      { key },
    );
    const reply = await fetch(at, { method: 'POST', headers, body });
    statuses.push(reply.status, (await reply.text()) === '{"type":1}' ? 'pong' : 'none');
  }
  return statuses.join() === '200,pong,401,none';
};

/** Violation of Discord's rules by a message. `null` if there is none. */
export const discordFault = ({ content, allowed_mentions, components = [] }: DiscordMessage) => {
  if (content.trim() === '') return 'Cannot send an empty message';
  if ([...content].length > 2000) return 'Must be 2000 or fewer in length';
  // Without it, text of a stranger could mention everybody.
  if (allowed_mentions?.parse.length !== 0) return 'It mentions whom it names';
  const buttons = components.flatMap((row) => row.components);
  const ids = buttons.map(({ custom_id }) => custom_id);
  const isFit = buttons.every(
    ({ type, style, label, custom_id }) =>
      type === 2 && style >= 1 && style <= 4 && isWithin(label, 80) && isWithin(custom_id, 100),
  );
  if (!isFit || new Set(ids).size < ids.length) return 'Invalid Form Body';
  return components.length <= 5 &&
    components.every((row) => row.type === 1 && row.components.length <= 5)
    ? null
    : 'Invalid Form Body';
};

const isWithin = (text: string, most: number): boolean => text.length > 0 && text.length <= most;

export const refuse =
  (status: number, code: number, more: object = {}) =>
  (response: ServerResponse): void =>
    say(response, status, { message: 'refused', code, ...more });

export interface Request {
  headers: Record<string, string>;
  body: string;
}

interface Signing {
  /** In milliseconds. */
  at?: number;
  key?: KeyObject;
}

/** Signed request of Discord. */
export const signed = (
  interaction: unknown,
  { at = Date.now(), key = pair.privateKey }: Signing = {},
): Request => {
  const body = JSON.stringify(interaction) ?? '';
  const timestamp = String(Math.floor(at / 1000));
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Discord-Interactions/1.0 (+https://discord.com)',
      'x-signature-timestamp': timestamp,
      'x-signature-ed25519': sign(null, Buffer.from(timestamp + body), key).toString('hex'),
    },
  };
};

let count = 0;

/** Interaction of Ada with the bot, in private or on a server. */
const interaction = (
  type: number,
  data: object,
  { isOnServer = false, ...more }: Record<string, unknown> = {},
) => ({
  ...{ id: `84646263980485627${++count}`, application_id: APPLICATION, token: INTERACTION_TOKEN },
  ...{ type, data, version: 1, channel_id: DIRECT },
  ...(isOnServer
    ? { guild_id: '290926798626357999', member: { user: USER, roles: [] } }
    : { user: USER }),
  ...more,
});

/** Slash command of Ada, with the value of its option. */
export const commanded = (
  name: string,
  value?: string,
  more: Record<string, unknown> = {},
): object =>
  interaction(
    2,
    {
      ...{ id: '771825006014889984', name, type: 1 },
      ...(value !== undefined && { options: [{ name: 'text', type: 3, value }] }),
    },
    more,
  );

/** Ada presses a button of the bot's message. */
export const pressed = (custom_id: string, more: Record<string, unknown> = {}): object =>
  interaction(
    3,
    { custom_id, component_type: 2 },
    { message: { id: '11000000000000001' }, ...more },
  );

export const buttonsOf = (message: DiscordMessage | undefined): DiscordButton[] =>
  (message?.components ?? []).flatMap(({ components }) => components);

const say = (response: ServerResponse, status: number, body: object): void => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
};
