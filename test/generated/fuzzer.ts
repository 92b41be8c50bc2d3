import { Agent, request } from 'node:http';
import type Joi from 'joi';
import type { Endpoint } from '../../src/kernel/contract/endpoint.js';
import { libraryTextIn } from './librarytexts.js';
import { fill, type Route, routes } from './routes.js';

export interface FuzzOptions {
  url: string;
  /** Tokens to ask with; some requests use none. */
  tokens: string[];
  count: number;
  seed: number;
}

export interface FuzzReport {
  /** How often each status came. */
  statuses: Record<string, number>;
  /** Requests that got a 5xx other than 501, no answer, or the text of a library. */
  failures: string[];
}

const AT_ONCE = 20;

/** Sends odd requests to every route, some of them to what earlier ones made. */
export const fuzz = async ({ url, tokens, count, seed }: FuzzOptions): Promise<FuzzReport> => {
  const chance = createChance(seed);
  const report: FuzzReport = { statuses: {}, failures: [] };
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  const made: string[] = [];
  let sent = 0;
  const work = async (): Promise<void> => {
    while (sent < count) {
      sent++;
      const odd = oddRequest(chance, tokens, made);
      const reply = await send(url, agent, odd);
      const { status, text } = reply;
      const { id } = status === 201 ? JSON.parse(text) : {};
      if (id !== undefined) made.push(id);
      report.statuses[status] = (report.statuses[status] ?? 0) + 1;
      const fault = faultOf(reply);
      if (fault !== null) report.failures.push(`${fault} for ${shown(odd)}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  agent.destroy();
  return report;
};

const shown = ({ method, path, headers: { authorization: _, ...headers }, body }: Odd): string =>
  JSON.stringify({ method, path, headers, body }).slice(0, 500);

/** Why a reply is none that may be given, with what it says; null where it may be. */
const faultOf = ({ status, text }: Sent): string | null => {
  if (status === 0) return 'no answer';
  if (status >= 500 && status !== 501) return `${status} ${text.slice(0, 300)}`;
  // The path of Node may be a folder of packages.
  const said = libraryTextIn(text.replaceAll(process.execPath, ''));
  return said === null ? null : `${status} with the text of a library: …${said}…`;
};

interface Chance {
  /** From 0 up to, but not including, that number. */
  below(most: number): number;
  of<T>(values: readonly T[]): T;
}

/** Mulberry32: small, and the same everywhere. */
const createChance = (seed: number): Chance => {
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (most: number): number => Math.floor(next() * most);
  return { below, of: (values) => values[below(values.length)] as (typeof values)[number] };
};

interface Odd {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | undefined;
}

const WORDS = [
  '',
  ' ',
  'x',
  '0',
  '-1',
  'null',
  'true',
  '__proto__',
  'constructor',
  '../../etc/passwd',
  "' OR 1=1 --",
  '%00',
  '\u0000',
  '\ud800',
  'ä😀\u202e',
  '{{webhook.body.x}}',
  '{{constructor.constructor}}',
  '* * * * *',
  '99 99 * * *',
  'http://169.254.169.254/',
  'hook_01jcx2kq7m8f3k2a9v5ztw4e6r',
  '9'.repeat(400),
  'x'.repeat(3000),
] as const;
const NUMBERS = [0, -1, 1.5, 1e21, -1e308, 2 ** 53, 2 ** 31, Number.EPSILON] as const;
const JSON_TYPE = 'application/json';
const TYPES = [JSON_TYPE, `${JSON_TYPE}; charset=x`, 'text/plain', 'a/b;;', ''] as const;
const TRIGGERS = ['webhook', 'schedule', 'agent_completed'] as const;
const ACTIONS = ['spawn_agent', 'notify', 'webhook', 'execute_tool'] as const;
/** It would only make the run long. */
const NOT_SENT = /\/logout$/;

const targets = routes
  .filter(({ name }) => !NOT_SENT.test(name))
  .flatMap((route) => Array<Route>(10).fill(route));

const oddRequest = (chance: Chance, tokens: string[], made: string[]): Odd => {
  const { endpoint }: Route = chance.of(targets);
  const token = chance.below(8) === 0 ? chance.of(WORDS) : chance.of(tokens);
  const method =
    chance.below(20) === 0 ? chance.of(['PATCH', 'PUT', 'HEAD', 'OPTIONS']) : endpoint.method;
  const path = fill(endpoint.path, () => oddId(chance, made));
  const hasBody = !['GET', 'HEAD', 'OPTIONS'].includes(method);
  return {
    method,
    path: path + (chance.below(3) === 0 ? oddQuery(chance) : ''),
    headers: {
      authorization: `Bearer ${headerSafe(token)}`,
      ...(hasBody && { 'content-type': chance.below(6) === 0 ? chance.of(TYPES) : JSON_TYPE }),
      ...(chance.below(5) === 0 && { [chance.of(HEADERS)]: headerSafe(chance.of(WORDS)) }),
    },
    body: hasBody ? oddBody(chance, fieldsOf(endpoint)) : undefined,
  };
};

const oddId = (chance: Chance, made: string[]): string =>
  made.length > 0 && chance.below(2) === 0
    ? chance.of(made.slice(-20))
    : wellFormed(chance.of(WORDS)) || 'x';

const HEADERS = [
  'x-request-id',
  'idempotency-key',
  'x-hub-signature-256',
  'x-github-delivery',
  'x-github-event',
  'stripe-signature',
  'webhook-signature',
  'x-forwarded-for',
  'cookie',
  'origin',
  'content-encoding',
] as const;

interface Field {
  key: string;
  isOptional: boolean;
}

const described = new Map<Endpoint, Field[]>();

const fieldsOf = (endpoint: Endpoint): Field[] => {
  const known = described.get(endpoint);
  if (known) return known;
  const keys = Object.entries<Joi.Description>(endpoint.body?.describe().keys ?? {});
  const fields = keys.map(([key, { flags }]) => ({
    key,
    isOptional: flags !== undefined && 'presence' in flags && flags.presence === 'optional',
  }));
  described.set(endpoint, fields);
  return fields;
};

const wellFormed = (word: string): string => word.replace(/[\ud800-\udfff]/g, '');
const headerSafe = (word: string): string => word.replace(/[^\x20-\x7e]/g, '?');

/** Long polls are asked for as well, but not for long. */
const oddQuery = (chance: Chance): string => {
  const name = chance.of([
    'limit',
    'cursor',
    'after',
    'status',
    'wait',
    'unread',
    'x',
    '__proto__',
  ]);
  const value = name === 'wait' ? chance.of(['0', '-1', 'x', '31']) : wellFormed(chance.of(WORDS));
  return `?${name}=${chance.below(2) === 0 ? encodeURIComponent(value) : encodeURI(value)}`;
};

const oddBody = (chance: Chance, fields: Field[]): string => {
  if (chance.below(12) === 0) return chance.of(NO_OBJECTS);
  const kept = fields.filter(({ isOptional }) => chance.below(20) < (isOptional ? 3 : 19));
  const given = Object.fromEntries(kept.map(({ key }) => [key, valueFor(chance, key)]));
  if (chance.below(12) === 0) given[chance.of(WORDS)] = oddValue(chance, 3);
  return JSON.stringify(given);
};

const NO_OBJECTS = ['', '{', 'null', '[]', '"x"', '\u0000', '{"__proto__":1}'] as const;

/** Often a right one, so that what lies behind the check is reached too. */
const valueFor = (chance: Chance, key: string): unknown => {
  if (chance.below(12) === 0) return oddValue(chance, 3);
  if (key === 'name' || key === 'prompt') return chance.of(['x', ...WORDS]);
  if (key === 'trigger') return chance.of(TRIGGERS);
  if (key === 'action') return chance.of(ACTIONS);
  if (key === 'triggerConfig') {
    return { webhookPath: `p${chance.below(50)}`, cron: chance.of(WORDS), webhookSecret: 's' };
  }
  if (key === 'actionConfig') {
    return {
      agentPrompt: chance.of(WORDS),
      notifyMessage: chance.of(WORDS),
      webhookUrl: 'http://192.0.2.1/',
      toolId: chance.of(['time', 'http', 'x']),
      toolAction: chance.of(['now', 'request', 'x']),
    };
  }
  if (OBJECTS.has(key)) return {};
  if (LISTS.has(key)) return [];
  return NUMERIC.test(key) ? chance.below(2000) : chance.of([true, false, ...WORDS]);
};

const OBJECTS = new Set(['limits', 'payload']);
const LISTS = new Set(['conditions', 'tools']);
const NUMERIC = /Ms$|^max|^concurrency$|Minutes$/;

const oddValue = (chance: Chance, depth: number): unknown => {
  switch (chance.below(depth > 0 ? 7 : 4)) {
    case 0:
      return chance.of(WORDS);
    case 1:
      return chance.of(NUMBERS);
    case 2:
      return chance.of([null, true, false]);
    case 3:
      return 'long '.repeat(chance.below(5000));
    case 4:
      return Array.from({ length: chance.below(5) }, () => oddValue(chance, depth - 1));
    default:
      return Object.fromEntries(
        Array.from({ length: chance.below(4) }, () => [
          chance.of(WORDS),
          oddValue(chance, depth - 1),
        ]),
      );
  }
};

interface Sent {
  /** 0 where no answer came. */
  status: number;
  text: string;
}

const NO_ANSWER: Sent = { status: 0, text: '' };

const send = (url: string, agent: Agent, { method, path, headers, body }: Odd): Promise<Sent> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(url);
    // Node tells no length of a DELETE's body by itself, and the next request would begin with it.
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    const to = {
      hostname,
      port,
      agent,
      method,
      path: asciiOf(path),
      headers: { ...headers, ...length },
    };
    const asked = request(to, (reply) => {
      const { statusCode: status = 0 } = reply;
      let text = '';
      reply.on('data', (chunk) => {
        text += chunk;
      });
      reply.on('end', () => resolve({ status, text }));
      reply.on('error', () => resolve(NO_ANSWER));
    });
    asked.on('error', () => resolve(NO_ANSWER));
    asked.end(body);
  });

const asciiOf = (path: string): string =>
  path.replace(/[^\x21-\x7e]/g, (char) => encodeURIComponent(char));
