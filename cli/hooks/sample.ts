import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isRecord, type SignatureRecipe } from '../../src/client/index.js';
import { valueAt } from '../columns.js';
import { usageFault } from '../exit.js';
import { plainText } from '../text.js';
import { type HookSender, senders } from './senders/form.js';

/** An event as its sender would send it, to try a hook with. */
export interface Sample {
  sender: HookSender;
  /** The event in the sender's own header; other senders have it in the payload. */
  event?: string;
  payload: object;
}

/** The events of a sender, each with the name in its header, if it has one. */
type SampleEvents = Record<string, string | undefined>;

/**
 * Sample events, cut to what matters. Sources: the senders' own documents of their webhooks. The
 * payloads lie in `cli/hooks/samples/<sender>/<event>.json`.
 */
const samples: Partial<Record<HookSender, SampleEvents>> = {
  github: {
    ping: 'ping',
    'issues.opened': 'issues',
    'pull_request.opened': 'pull_request',
    push: 'push',
  },
  gitlab: { issue: 'Issue Hook', merge_request: 'Merge Request Hook', push: 'Push Hook' },
  gitea: { 'issues.opened': 'issues', push: 'push' },
  stripe: { 'payment_intent.succeeded': undefined, 'refund.created': undefined },
  slack: { app_mention: undefined, message: undefined },
  jira: { issue_created: undefined, issue_updated: undefined },
  shopify: { 'orders.create': 'orders/create' },
  linear: { 'issue.create': 'Issue' },
  sentry: { 'issue.created': 'issue', event_alert: 'event_alert' },
  grafana: { firing: undefined },
  pagerduty: { 'incident.triggered': undefined },
  'bitbucket-cloud': { push: 'repo:push', 'pullrequest.created': 'pullrequest:created' },
};

const known: Map<string, Omit<Sample, 'payload'>> = new Map();
for (const sender of senders) {
  for (const [name, event] of Object.entries(samples[sender] ?? {})) {
    known.set(`${sender}/${name}`, { sender, event });
  }
}

export const sampleNames = [...known.keys()];

/** The first sample of a sender; undefined where there is none. */
export const sampleFrom = (sender: HookSender): string | undefined =>
  sampleNames.find((name) => name.startsWith(`${sender}/`) && name !== 'github/ping');

/** Usage: there is no such sample. */
export const hookSample = (name: string): Sample => {
  const sample = known.get(name);
  if (sample) return { ...sample, payload: payloadOf(name) };
  throw usageFault(`There is no sample "${name}".`, `There are: ${sampleNames.join(', ')}`);
};

const payloadOf = (name: string): object =>
  JSON.parse(readFileSync(new URL(`./samples/${name}.json`, import.meta.url), 'utf8'));

/** The payload with an id of its own where the sender has one in it: else it is a duplicate. */
export const freshPayload = (payload: object = {}, { idFrom = '' }: SignatureRecipe): string => {
  const [from, ...path] = idFrom.split('.');
  const name = path.pop();
  const holder = path.reduce<unknown>((value, key) => valueAt(value, key), payload);
  if (from === 'body' && name !== undefined && isRecord(holder)) {
    holder[name] = `${plainText(holder[name])}_${randomUUID().slice(0, 8)}`;
  }
  return JSON.stringify(payload);
};
