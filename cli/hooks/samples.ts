import { usageFault } from '../exit.js';
import * as gitea from './gitea.js';
import * as github from './github.js';
import * as gitlab from './gitlab.js';
import type { HookSender } from './settings.js';
import * as stripe from './stripe.js';

/** An event as its sender would send it, to try a hook with. */
export interface Sample {
  sender: HookSender;
  /** In the sender's own header; Stripe's stands in the payload. */
  event?: string;
  payload: object;
}

const samples: Record<string, Sample> = {
  'github/ping': { sender: 'github', event: 'ping', payload: github.ping },
  'github/issues.opened': { sender: 'github', event: 'issues', payload: github.githubIssueOpened },
  'github/pull_request.opened': {
    ...{ sender: 'github', event: 'pull_request', payload: github.pullRequestOpened },
  },
  'github/push': { sender: 'github', event: 'push', payload: github.githubPush },
  'gitlab/issue': { sender: 'gitlab', event: 'Issue Hook', payload: gitlab.gitlabIssueOpened },
  'gitlab/merge_request': {
    ...{ sender: 'gitlab', event: 'Merge Request Hook', payload: gitlab.mergeRequestOpened },
  },
  'gitlab/push': { sender: 'gitlab', event: 'Push Hook', payload: gitlab.gitlabPush },
  'gitea/issues.opened': { sender: 'gitea', event: 'issues', payload: gitea.giteaIssueOpened },
  'gitea/push': { sender: 'gitea', event: 'push', payload: gitea.giteaPush },
  'stripe/payment_intent.succeeded': { sender: 'stripe', payload: stripe.paymentSucceeded },
  'stripe/refund.created': { sender: 'stripe', payload: stripe.refundCreated },
};

export const sampleNames = Object.keys(samples);

/** The first sample of a sender; undefined where there is none. */
export const sampleFrom = (sender: HookSender): string | undefined =>
  sampleNames.find((name) => samples[name]?.sender === sender && name !== 'github/ping');

/** Usage: there is no such sample. */
export const hookSample = (name: string): Sample => {
  const sample = samples[name];
  if (sample) return sample;
  throw usageFault(`There is no sample "${name}".`, `There are: ${sampleNames.join(', ')}`);
};
