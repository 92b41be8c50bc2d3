import type { Hook, PresetName, SenderVerification } from '../../../src/client/index.js';
import { receiverOf } from '../delivery.js';
import { codeSenders, type SenderSettings } from './code.js';
import { workSenders } from './work.js';

const SETTINGS = { ...codeSenders, ...workSenders } satisfies Record<
  PresetName | 'other',
  SenderSettings
>;

/** A sender whose form is known, or `other`. */
export type HookSender = keyof typeof SETTINGS;

/** Every sender, the most used first. */
export const senders: HookSender[] = [
  ...(['github', 'gitlab', 'stripe', 'slack', 'jira', 'shopify', 'linear', 'sentry'] as const),
  ...(['grafana', 'pagerduty', 'gitea', 'bitbucket-cloud', 'bitbucket-server', 'gogs'] as const),
  ...(['circleci', 'buildkite', 'vercel', 'notion', 'discord', 'zoom', 'twilio'] as const),
  ...(['typeform', 'calendly', 'cal-com', 'svix', 'standard-webhooks', 'sns'] as const),
  ...(['microsoft-graph', 'basic', 'other'] as const),
];

export const settingsOf = (sender: HookSender): SenderSettings => SETTINGS[sender];

/** The senders that the receiver knows by their requests, if a hook has no `verify`. */
const KNOWN_UNNAMED: HookSender[] = ['github', 'gitlab', 'gitea', 'stripe'];

/** Returns a hook's sender: that of its `verify`, or else a guess from its name. */
export const hookSenderOf = ({ name, triggerConfig: { verify } }: Hook): HookSender => {
  if (verify !== undefined) {
    const preset = typeof verify === 'string' ? verify : verify.preset;
    return preset ?? 'other';
  }
  return KNOWN_UNNAMED.find((sender) => name.toLowerCase().includes(sender)) ?? 'other';
};

/** The lines to enter at the sender; the secret is not among them. */
export interface SenderForm {
  where: string;
  facts: [string, string][];
  /** Further notes for the person. */
  notes: string[];
}

interface ReceiverAddresses {
  /** Signed bodies. */
  signed: string;
  /** Address for senders that show the secret in a header. */
  incoming: string;
}

export const addressesOf = (url: string, { id, triggerConfig }: Hook): ReceiverAddresses => ({
  signed: `${url}${receiverOf(triggerConfig.webhookPath ?? '')}`,
  incoming: `${url}/api/hooks/incoming/${id}`,
});

const SHOWN_ONCE = 'the secret of the hook, shown once when it was made';

/** The form to fill in at the sender; `secret` says in words where that is. */
export const senderFormOf = (
  sender: HookSender,
  { url, notes }: { url: string; notes: string[] },
  hook: Hook,
  secret = SHOWN_ONCE,
): SenderForm => {
  const { where, facts, theirs, notes: own = [] } = settingsOf(sender);
  const described = describedFacts(hook);
  const { signed, incoming } = addressesOf(url, hook);
  const isShown = sender === 'gitlab' && hook.triggerConfig.verify === undefined;
  const words: Record<string, string> = {
    '{url}': isShown ? incoming : signed,
    '{incoming}': incoming,
    '{secret}': secret,
    '<hook>': wordOf(hook),
  };
  const fill = (text: string) => text.replace(/\{\w+\}|<hook>/g, (word) => words[word] ?? word);
  const filled = (given: Record<string, string>): [string, string][] =>
    Object.entries(given).map(([name, value]) => [name, fill(value)]);
  if (sender === 'other' && described) {
    const facts = [
      ...filled({ Address: '{url}' }),
      ...described,
      ...filled({ Secret: '{secret}' }),
    ];
    return { where, facts, notes: [...reachOf(url), ...notes].map(fill) };
  }
  return {
    where,
    facts: filled(facts),
    notes: [...own, ...theirSecret(theirs, hook), ...reachOf(url), ...notes].map(fill),
  };
};

/** Returns what a sender that `verify` describes has to send; null if it describes none. */
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

/** The value of the header that a described sender sends, in words. */
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
        `The secret is made there: ${theirs}. Give it to the hook:`,
        'adjutant hooks update <hook> --secret-file -',
      ];

/** Returns what to compare first where the sender signs its address too. */
export const addressRemedy = (hook: Hook): string[] => {
  const { verify } = hook.triggerConfig;
  const signed = typeof verify === 'object' ? verify.signed : undefined;
  const isSigned = hookSenderOf(hook) === 'twilio' || signed?.includes('{url}') === true;
  return isSigned ? [`Compare the address first: adjutant hooks settings ${wordOf(hook)}`] : [];
};

/** Returns what to do where the secret of a hook is not the sender's. */
export const secretRemedy = (hook: Hook): string[] => {
  const { theirs, label } = settingsOf(hookSenderOf(hook));
  const give = `adjutant hooks update ${wordOf(hook)} --secret-file -`;
  if (!hook.triggerConfig.webhookSecretSet) return [`The hook has no secret yet. Give it: ${give}`];
  if (theirs === undefined) {
    return [`The secret differs. Make a new one: adjutant hooks rotate-secret ${wordOf(hook)}`];
  }
  return [`The secret differs. That of ${label}: ${theirs}.`, `Give it to the hook: ${give}`];
};

/** Lines that fire the hook; each reads the secret from a file, so that no process list shows it. */
export const triggerLines = (url: string, hook: Hook): string[] =>
  isSignedByAmazon(hook) ? [] : linesOf(url, hook);

/** True for a hook that has no secret, since only Amazon can sign for it. */
export const isSignedByAmazon = (hook: Hook): boolean => hookSenderOf(hook) === 'sns';

const linesOf = (url: string, hook: Hook): string[] => [
  `adjutant hooks send ${wordOf(hook)} payload.json --secret-file secret.txt`,
  ...(hook.triggerConfig.verify === undefined ? [curlLine(url, hook)] : []),
];

const curlLine = (url: string, hook: Hook): string =>
  [
    `curl --data-binary @payload.json -H 'Content-Type: application/json'`,
    `-H @<(printf 'X-Webhook-Secret: %s' "$(cat secret.txt)")`,
    addressesOf(url, hook).incoming,
  ].join(' \\\n         ');

/** The word that names the hook on a command line. */
export const wordOf = ({ name, id }: Hook): string => (/^[\w.-]+$/.test(name) ? name : id);

const LOOPBACK = /^https?:\/\/(127\.|localhost\b|\[::1\])/;
const reachOf = (url: string): string[] =>
  LOOPBACK.test(url)
    ? [
        'That address is for this machine alone. Others need a name with TLS in front of it:',
      ].concat('adjutant tunnel setup, then: adjutant hooks settings <hook>')
    : [];
