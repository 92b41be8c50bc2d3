import { createHmac } from 'node:crypto';
import { timersFired } from '../harness/turns.js';

export interface Acknowledged {
  deliveryId: string;
  executions: string[];
}

export interface Senders {
  acknowledged: Acknowledged[];
  /** Answers other than 202, by status: the daemon was there and did not take it. */
  refused: Map<number, number>;
  /** Requests that got a connection and lost it without an answer. */
  reset: number;
  /** Stops after what is under way. */
  stop(): Promise<void>;
}

export interface SendersOptions {
  /** Where the daemon listens now; it changes with every restart. */
  url(): string;
  paths: string[];
  secret: string;
  connections: number;
}

/**
 * Signed deliveries without a pause, each with an id of its own. What the daemon did not answer is
 * forgotten: only what it acknowledged counts.
 */
export const startSenders = ({ url, paths, secret, connections }: SendersOptions): Senders => {
  const senders = {
    acknowledged: [] as Acknowledged[],
    refused: new Map<number, number>(),
    reset: 0,
  };
  const { acknowledged, refused } = senders;
  const run = Date.now().toString(36);
  let sent = 0;
  let isOpen = true;

  const send = async (): Promise<void> => {
    const n = sent++;
    const body = JSON.stringify({ action: 'opened', n, text: 'A page that fails. '.repeat(20) });
    const response = await fetch(`${url()}/api/webhooks/${paths[n % paths.length]}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-github-event': 'issues',
        'x-github-delivery': `${run}-${n}`,
        'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
      },
      body,
    });
    const answer: unknown = await response.json();
    if (response.status === 202 && isAcknowledged(answer)) acknowledged.push(answer);
    else refused.set(response.status, (refused.get(response.status) ?? 0) + 1);
  };

  const work = async (): Promise<void> => {
    while (isOpen) {
      // A daemon that was killed answers nobody; the next delivery is for the one after it.
      await send().catch(async (error) => {
        if (error.cause?.syscall !== 'connect') senders.reset++;
        await timersFired(20);
      });
    }
  };
  const working = Promise.all(Array.from({ length: connections }, work));

  return Object.assign(senders, {
    stop: async () => {
      isOpen = false;
      await working;
    },
  });
};

export const isAcknowledged = (answer: unknown): answer is Acknowledged =>
  typeof answer === 'object' && answer !== null && 'deliveryId' in answer && 'executions' in answer;
