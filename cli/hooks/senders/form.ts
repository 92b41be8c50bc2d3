import type { Hook, PresetName, SenderVerification } from '../../../src/client/index.js';
import { receiverPath } from '../delivery.js';
import { codeSenders, type SenderSettings } from './code.js';
import { workSenders } from './work.js';

const SETTINGS = { ...codeSenders, ...workSenders } satisfies Record<
  PresetName | 'other',
  SenderSettings
>;

export type HookSender = keyof typeof SETTINGS;

/** Every sender, the most common first. */
export const senders: HookSender[] = [
  ...(['github', 'gitlab', 'stripe', 'slack', 'jira', 'shopify', 'linear', 'sentry'] as const),
  ...(['grafana', 'pagerduty', 'gitea', 'bitbucket-cloud', 'bitbucket-server', 'gogs'] as const),
  ...(['circleci', 'buildkite', 'vercel', 'notion', 'discord', 'zoom', 'twilio'] as const),
  ...(['typeform', 'calendly', 'cal-com', 'svix', 'standard-webhooks', 'sns'] as const),
  ...(['microsoft-graph', 'basic', 'other'] as const),
];

export const getSenderSettings = (sender: HookSender): SenderSettings => SETTINGS[sender];

/** Senders that the receiver recognizes by their requests, if a hook has no `verify`. */
const KNOWN_UNNAMED: HookSender[] = ['github', 'gitlab', 'gitea', 'stripe'];

/** The sender of a hook: that of its `verify`, or else a guess from its name. */
export const findHookSender = ({ name, triggerConfig: { verify } }: Hook): HookSender => {
  if (verify !== undefined) {
    const preset = typeof verify === 'string' ? verify : verify.preset;
    return preset ?? 'other';
  }
  return KNOWN_UNNAMED.find((sender) => name.toLowerCase().includes(sender)) ?? 'other';
};

/** The values to enter at the sender, without the secret. */
export interface SenderForm {
  where: string;
  facts: [string, string][];
  notes: string[];
}

interface ReceiverAddresses {
  /** For signed bodies. */
  signed: string;
  /** For senders that send the secret in a header. */
  incoming: string;
}

export const buildReceiverAddresses = (
  url: string,
  { id, triggerConfig }: Hook,
): ReceiverAddresses => ({
  signed: `${url}${receiverPath(triggerConfig.webhookPath ?? '')}`,
  incoming: `${url}/api/hooks/incoming/${id}`,
});

const SHOWN_ONCE = 'the secret of the hook, shown once when it was created';

/** The form to fill in at the sender. `secret` describes where the secret is. */
export const buildSenderForm = (
  sender: HookSender,
  { url, notes }: { url: string; notes: string[] },
  hook: Hook,
  secret = SHOWN_ONCE,
): SenderForm => {
  const { where, facts, theirs, notes: own = [] } = getSenderSettings(sender);
  const described = describedFacts(hook);
  const { signed, incoming } = buildReceiverAddresses(url, hook);
  const isShown = sender === 'gitlab' && hook.triggerConfig.verify === undefined;
  const words: Record<string, string> = {
    '{url}': isShown ? incoming : signed,
    '{incoming}': incoming,
    '{secret}': secret,
    '<hook>': hookArgument(hook),
  };
  const fill = (text: string) => text.replace(/\{\w+\}|<hook>/g, (word) => words[word] ?? word);
  const filled = (input: Record<string, string>): [string, string][] =>
    Object.entries(input).map(([name, value]) => [name, fill(value)]);
  if (sender === 'other' && described) {
    const facts = [
      ...filled({ Address: '{url}' }),
      ...described,
      ...filled({ Secret: '{secret}' }),
    ];
    return { where, facts, notes: [...renderLoopbackNotice(url), ...notes].map(fill) };
  }
  return {
    where,
    facts: filled(facts),
    notes: [...own, ...theirSecret(theirs, hook), ...renderLoopbackNotice(url), ...notes].map(fill),
  };
};

/** What a sender that `verify` describes must send, or null without a description. */
const describedFacts = ({ triggerConfig: { verify } }: Hook): [string, string][] | null => {
  if (verify === undefined || typeof verify === 'string' || verify.preset) return null;
  const {
    header = 'Authorization',
    timestampHeader,
    idFrom,
    bodies = ['json', 'form', 'text'],
  } = verify;
  return [
    ['Body', `${bodies.join(', ')}, by POST`],
    [`Header ${header}`, headerText(verify)],
    ...(timestampHeader ? [[`Header ${timestampHeader}`, 'the time, in seconds since 1970']] : []),
    ...(idFrom?.startsWith('headers.')
      ? [[`Header ${idFrom.slice('headers.'.length)}`, 'an id of the delivery']]
      : []),
  ].map(([name = '', value = '']) => [name, value]);
};

const headerText = (verify: Exclude<SenderVerification, string>): string => {
  const { algorithm = 'sha256', encoding = 'hex', signed = '{body}', prefix = '', parts } = verify;
  if (algorithm === 'token') return `${prefix}<the secret>`;
  if (algorithm === 'basic') return 'Basic <base64 of user:password>';
  const made = algorithm === 'ed25519' ? 'Ed25519 signature' : `HMAC-${algorithm.toUpperCase()}`;
  const value = `${prefix}<${encoding} ${made} of ${signed}>`;
  return parts ? `${parts.timestamp}=<the time>,${parts.signature}=${value}` : value;
};

const theirSecret = (theirs: string | undefined, { triggerConfig }: Hook): string[] =>
  theirs === undefined || triggerConfig.webhookSecretSet
    ? []
    : [
        `The sender generates the secret: ${theirs}. Store it in the hook:`,
        'adjutant hooks update <hook> --secret-file -',
      ];

/** Advice for a sender that also signs its address. */
export const addressRemedy = (hook: Hook): string[] => {
  const { verify } = hook.triggerConfig;
  const signed = typeof verify === 'object' ? verify.signed : undefined;
  const isSigned = findHookSender(hook) === 'twilio' || signed?.includes('{url}') === true;
  return isSigned
    ? [`Compare the address first: adjutant hooks settings ${hookArgument(hook)}`]
    : [];
};

/** Advice if the secret of a hook differs from that of the sender. */
export const secretRemedy = (hook: Hook): string[] => {
  const { theirs, label } = getSenderSettings(findHookSender(hook));
  const give = `adjutant hooks update ${hookArgument(hook)} --secret-file -`;
  if (!hook.triggerConfig.webhookSecretSet) return [`The hook has no secret yet. Set it: ${give}`];
  if (theirs === undefined) {
    return [
      `The secret differs. Create a new one: adjutant hooks rotate-secret ${hookArgument(hook)}`,
    ];
  }
  return [`The secret differs. ${label} uses: ${theirs}.`, `Store it in the hook: ${give}`];
};

/** Lines that fire the hook. They read the secret from a file, so that no process list shows it. */
export const triggerLines = (url: string, hook: Hook): string[] =>
  isSignedByAmazon(hook) ? [] : listSendCommands(url, hook);

/** Whether the hook has no secret, because only Amazon can sign for it. */
export const isSignedByAmazon = (hook: Hook): boolean => findHookSender(hook) === 'sns';

const listSendCommands = (url: string, hook: Hook): string[] => [
  `adjutant hooks send ${hookArgument(hook)} payload.json --secret-file secret.txt`,
  ...(hook.triggerConfig.verify === undefined ? [curlLine(url, hook)] : []),
];

const curlLine = (url: string, hook: Hook): string =>
  [
    `curl --data-binary @payload.json -H 'Content-Type: application/json'`,
    `-H @<(printf 'X-Webhook-Secret: %s' "$(cat secret.txt)")`,
    buildReceiverAddresses(url, hook).incoming,
  ].join(' \\\n         ');

export const hookArgument = ({ name, id }: Hook): string => (/^[\w.-]+$/.test(name) ? name : id);

const LOOPBACK = /^https?:\/\/(127\.|localhost\b|\[::1\])/;
const renderLoopbackNotice = (url: string): string[] =>
  LOOPBACK.test(url)
    ? [
        'This address works only on this machine. Other senders need a public address with TLS:',
      ].concat('adjutant tunnel setup, then: adjutant hooks settings <hook>')
    : [];
