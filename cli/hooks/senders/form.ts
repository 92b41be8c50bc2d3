import type { Hook, PresetName } from '../../../src/client/index.js';
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
  const { signed, incoming } = addressesOf(url, hook);
  const isShown = sender === 'gitlab' && hook.triggerConfig.verify === undefined;
  const words: Record<string, string> = {
    '{url}': isShown ? incoming : signed,
    '{incoming}': incoming,
    '{secret}': secret,
    '<hook>': wordOf(hook),
  };
  const fill = (text: string) => text.replace(/\{\w+\}|<hook>/g, (word) => words[word] ?? word);
  return {
    where,
    facts: Object.entries(facts).map(([name, value]) => [name, fill(value)]),
    notes: [...own, ...theirSecret(theirs, hook), ...reachOf(url), ...notes].map(fill),
  };
};

const theirSecret = (theirs: string | undefined, { triggerConfig }: Hook): string[] =>
  theirs === undefined || triggerConfig.webhookSecretSet
    ? []
    : [
        `The secret is made there: ${theirs}. Give it to the hook:`,
        'adjutant hooks update <hook> --secret-file -',
      ];

/** Lines that fire the hook; each reads the secret from a file, so that no process list shows it. */
export const triggerLines = (url: string, hook: Hook): string[] => [
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
