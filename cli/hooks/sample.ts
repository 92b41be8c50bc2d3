import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isRecord, type SignatureRecipe } from '../../src/client/index.js';
import { valueAt } from '../columns.js';
import { usageFault } from '../exit.js';
import { plainText } from '../text.js';
import { type HookSender, senders } from './senders/form.js';

/** An event in the form of its sender, to test a hook. */
export interface Sample {
  sender: HookSender;
  /** Event in the header of the sender. Other senders have it in the payload. */
  event?: string;
  payload: object;
}

/** Events of a sender, with the name in its header, if it has one. */
type SampleEvents = Record<string, string | undefined>;

/**
 * Sample events, reduced to the essential fields. Source: the webhook documents of each sender.
 * The payloads are in `cli/hooks/samples/<sender>/<event>.json`.
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

export const findFirstSample = (sender: HookSender): string | undefined =>
  sampleNames.find((name) => name.startsWith(`${sender}/`) && name !== 'github/ping');

export const hookSample = (name: string): Sample => {
  const sample = known.get(name);
  if (sample) return { ...sample, payload: readSamplePayload(name) };
  throw usageFault(`Unknown sample "${name}".`, `Samples: ${sampleNames.join(', ')}`);
};

const readSamplePayload = (name: string): object =>
  JSON.parse(readFileSync(new URL(`./samples/${name}.json`, import.meta.url), 'utf8'));

/** Gives the payload a new id if the sender has one in it, so that it is no duplicate. */
export const freshPayload = (payload: object = {}, { idFrom = '' }: SignatureRecipe): string => {
  const [from, ...path] = idFrom.split('.');
  const name = path.pop();
  const holder = path.reduce<unknown>((value, key) => valueAt(value, key), payload);
  if (from === 'body' && name !== undefined && isRecord(holder)) {
    holder[name] = `${plainText(holder[name])}_${randomUUID().slice(0, 8)}`;
  }
  return JSON.stringify(payload);
};
