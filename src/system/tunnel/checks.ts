import { type Clock, iso } from '../../kernel/clock.js';
import type { Http } from '../../kernel/http.js';
import { addressHeaderOf } from '../../providers/tunnels/providers.js';
import type { TunnelReachRow, TunnelRow } from '../../store/tables/tunnel.js';
import { type CheckResult, checkWay } from './check.js';
import type { Probes } from './probes.js';
import type { ExposedOpening } from './step.js';
import type { Places } from './tunnel.js';

/** The result of the last check. */
export interface Check extends CheckResult {
  address: string;
  checkedAt: string;
}

export interface Checks {
  /**
   * Resolves to null if there is no address yet. Only one check runs at a time: a caller that comes
   * meanwhile gets the same result.
   */
  check(openings: ExposedOpening[]): Promise<Check | null>;
  lastCheck(): Check | null;
  /** Forgets the last check, because the configuration has changed. */
  forget(): void;
}

export const createChecks = (
  { http, clock }: { http: Http; clock: Clock },
  of: {
    row(): TunnelRow | null;
    probes: Probes;
    places: Places;
    keep(reach: Omit<TunnelReachRow, 'id'>): Promise<void>;
    checked(): void;
  },
): Checks => {
  let last: Check | null = null;
  let checking: Promise<Check | null> | null = null;

  const look = async (openings: ExposedOpening[]): Promise<Check | null> => {
    const address = of.places.address();
    if (address === null) return null;
    const provider = of.row()?.provider ?? 'proxy';
    const probe = of.probes.begin();
    const way = { url: new URL(address), provider, upstream: of.places.upstream() };
    const addressHeader = addressHeaderOf(provider);
    try {
      const seen = await checkWay({
        ...{ ...way, http, probe, addressHeader, openings },
        now: clock.now(),
      });
      const checkedAt = iso(clock.now());
      last = { ...seen, address, checkedAt };
      await of.keep({ address, is_ok: seen.ok ? 1 : 0, checked_at: checkedAt });
      return last;
    } finally {
      probe.close();
      of.checked();
    }
  };

  return {
    lastCheck: () => last,
    forget: () => {
      last = null;
    },
    check: (openings) => {
      checking ??= look(openings).finally(() => {
        checking = null;
      });
      return checking;
    },
  };
};
