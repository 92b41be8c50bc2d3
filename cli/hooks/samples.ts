import { readFileSync } from 'node:fs';
import { usageFault } from '../exit.js';
import type { HookSender } from './settings.js';

/** An event as its sender would send it, to try a hook with. */
export interface Sample {
  sender: HookSender;
  /** The event in the sender's own header; Stripe's stands in the payload. */
  event?: string;
  payload: object;
}

/**
 * Sample events by name, cut to what matters. Sources: GitHub and Gitea docs, Webhooks; GitLab docs,
 * Webhook events; Stripe API reference, the Event object. The payloads lie in `cli/hooks/samples/`.
 */
const samples: Record<string, Omit<Sample, 'payload'>> = {
  'github/ping': { sender: 'github', event: 'ping' },
  'github/issues.opened': { sender: 'github', event: 'issues' },
  'github/pull_request.opened': { sender: 'github', event: 'pull_request' },
  'github/push': { sender: 'github', event: 'push' },
  'gitlab/issue': { sender: 'gitlab', event: 'Issue Hook' },
  'gitlab/merge_request': { sender: 'gitlab', event: 'Merge Request Hook' },
  'gitlab/push': { sender: 'gitlab', event: 'Push Hook' },
  'gitea/issues.opened': { sender: 'gitea', event: 'issues' },
  'gitea/push': { sender: 'gitea', event: 'push' },
  'stripe/payment_intent.succeeded': { sender: 'stripe' },
  'stripe/refund.created': { sender: 'stripe' },
};

export const sampleNames = Object.keys(samples);

/** The first sample of a sender; undefined where there is none. */
export const sampleFrom = (sender: HookSender): string | undefined =>
  sampleNames.find((name) => samples[name]?.sender === sender && name !== 'github/ping');

/** Usage: there is no such sample. */
export const hookSample = (name: string): Sample => {
  const sample = samples[name];
  if (sample) return { ...sample, payload: payloadOf(name) };
  throw usageFault(`There is no sample "${name}".`, `There are: ${sampleNames.join(', ')}`);
};

const payloadOf = (name: string): object =>
  JSON.parse(readFileSync(new URL(`./samples/${name}.json`, import.meta.url), 'utf8'));
