import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { ProbeArrival } from '../../hooks/receivers/routes.js';
import type { Clock } from '../../kernel/clock.js';
import { verifySignature } from '../../kernel/signature.js';

/** Paths that are open for one check, and what arrived on them. */
export interface Probe {
  /** Answers whoever asks, with the nonce. */
  open: string;
  /** Answers what the key signed, as a hook would; holds the answer back for HELD_MS. */
  signed: string;
  nonce: string;
  key: KeyObject;
  /** The last one on that path. */
  arrivedOn(path: string): ProbeArrival | null;
  forget(): void;
  close(): void;
}

export interface Probes {
  begin(): Probe;
  /** null: the path is none of a probe. */
  receive(path: string, arrived: () => ProbeArrival): Promise<'refused' | { nonce: string }> | null;
}

/** So long a signed probe waits for its answer: who cuts slow answers off is found out. */
export const HELD_MS = 1_500;

/**
 * Nothing that comes to a probe is a delivery: it is compared in memory and forgotten. Its paths are
 * of chance and last as long as one check, so no hook is ever in their way.
 */
export const createProbes = (clock: Clock): Probes => {
  const live = new Set<Probe & { arrivals: Map<string, ProbeArrival> }>();

  return {
    begin: () => {
      const arrivals = new Map<string, ProbeArrival>();
      const probe = {
        open: `tunnel-check-${word()}`,
        signed: `tunnel-check-${word()}`,
        nonce: word(),
        key: createSecretKey(randomBytes(32)),
        arrivals,
        arrivedOn: (path: string) => arrivals.get(path) ?? null,
        forget: () => arrivals.clear(),
        close: () => void live.delete(probe),
      };
      live.add(probe);
      return probe;
    },
    receive: (path, arrived) => {
      const probe = [...live].find(({ open, signed }) => path === open || path === signed);
      if (!probe) return null;
      const arrival = arrived();
      probe.arrivals.set(path, arrival);
      const { key, nonce } = probe;
      if (path === probe.open) return Promise.resolve({ nonce });
      const { body, headers } = arrival;
      const isSigned = verifySignature(key, body, headers, clock.now());
      return isSigned ? wait(HELD_MS, { nonce }) : Promise.resolve('refused');
    },
  };
};

const word = (): string => randomBytes(18).toString('base64url');
