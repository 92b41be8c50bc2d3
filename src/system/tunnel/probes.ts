import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import type { ProbeArrival } from '../../hooks/module.js';
import type { Clock } from '../../kernel/clock.js';
import { verifySignature } from '../../kernel/signature.js';

/** The temporary paths of one check, and the requests that arrived on them. */
export interface Probe {
  /** Path that replies to every request with the nonce. */
  open: string;
  /** Path that replies to a signed request, like a hook, after HELD_MS. */
  signed: string;
  nonce: string;
  key: KeyObject;
  arrivedOn(path: string): ProbeArrival | null;
  forget(): void;
  close(): void;
}

/** Delay of the reply to a signed probe, to detect a proxy that cuts off slow replies. */
export const HELD_MS = 1_500;

/**
 * A request to a probe is not a delivery: it is compared in memory and dropped. The paths are random and
 * exist only during one check, so that they never collide with a hook.
 */
export const createProbes = (clock: Clock) => {
  const live = new Set<Probe & { arrivals: Map<string, ProbeArrival> }>();

  return {
    begin: (): Probe => {
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
    /** Null if the path belongs to no probe. */
    receive: (
      path: string,
      arrived: () => ProbeArrival,
    ): Promise<'refused' | { nonce: string }> | null => {
      const probe = [...live].find(({ open, signed }) => path === open || path === signed);
      if (!probe) return null;
      const arrival = arrived();
      probe.arrivals.set(path, arrival);
      const { key, nonce } = probe;
      if (path === probe.open) return Promise.resolve({ nonce });
      const { body, headers } = arrival;
      const isSigned = verifySignature(key, body, headers, clock.now());
      return isSigned ? clock.wait(HELD_MS).then(() => ({ nonce })) : Promise.resolve('refused');
    },
  };
};

export type Probes = ReturnType<typeof createProbes>;

const word = (): string => randomBytes(18).toString('base64url');
