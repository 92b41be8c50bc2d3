import { type Clock, iso } from '../kernel/clock.js';
import type { Log } from '../kernel/log.js';
import type { ModelFailure, ModelFailureKind } from '../providers/llm/model.js';

/** How a model is, as far as calls have shown. */
export interface ModelHealth {
  /** `cooling`: it asked to be left alone; `down`: its last call failed. */
  status: 'up' | 'down' | 'unknown' | 'cooling';
  /** Of the last answer, in milliseconds. */
  latencyMs: number | null;
  lastError: string | null;
  checkedAt: string | null;
  /** `open`: not asked before `retryAt`; `half_open`: the next call alone tries it. */
  circuit: 'closed' | 'open' | 'half_open';
  retryAt: string | null;
}

interface HealthState {
  latencyMs: number | null;
  lastError: string | null;
  checkedAt: string | null;
  /** Failures since the last answer. */
  failures: number;
  isCooling: boolean;
  /** When it may be asked again; null while the circuit is closed. */
  openUntil: number | null;
  /** Somebody tries whether it is well again. */
  isTried: boolean;
}

const FRESH: HealthState = {
  latencyMs: null,
  lastError: null,
  checkedAt: null,
  failures: 0,
  isCooling: false,
  openUntil: null,
  isTried: false,
};

/** Ours: a circuit opens at the third failure in a row. */
const THRESHOLD = 3;
/** Ours: how long it stays open, doubled with each further failure. */
const OPEN_MS = 30_000;
const LONGEST_OPEN_MS = 600_000;
/** Ours: how long a model cools that does not say for how long. */
const COOL_MS = 60_000;
/** Ours: whatever an endpoint asks for. */
const LONGEST_COOL_MS = 24 * 3600 * 1000;
/** They say something of the prompt or the caller, and nothing of the model. */
const NOT_ITS_FAULT: ModelFailureKind[] = ['bad_request', 'context_length', 'aborted'];

/**
 * Which models are well: a model that failed again and again, hangs, or asks to be left alone is
 * not asked for a while; then one call tries it, and all follow if that one is answered. In memory
 * alone: after a restart nothing is known.
 */
export const createHealth = ({ clock, log }: { clock: Clock; log: Pick<Log, 'warn'> }) => {
  const states = new Map<string, HealthState>();
  const of = (name: string): HealthState => states.get(name) ?? FRESH;
  const change = (name: string, by: Partial<HealthState>): void => {
    states.set(name, { ...of(name), ...by });
  };

  /** Why it should not be asked now; null where it may. */
  const refusal = (name: string): string | null => {
    const { openUntil, isTried, isCooling, lastError } = of(name);
    if (openUntil === null) return null;
    const waitMs = openUntil - clock.now();
    if (waitMs <= 0) return isTried ? 'it is being tried again after failures' : null;
    const seconds = Math.ceil(waitMs / 1000);
    return `${isCooling ? 'cooling down' : 'not asked after failures'}, ${seconds} s left: ${lastError}`;
  };

  return {
    refusal,

    /** As `refusal`; where it may be asked, one of these three must follow. */
    begin: (name: string): string | null => {
      const because = refusal(name);
      if (because === null && of(name).openUntil !== null) change(name, { isTried: true });
      return because;
    },
    answered: (name: string, latencyMs: number): void =>
      change(name, { ...FRESH, latencyMs, checkedAt: iso(clock.now()) }),
    failed: (name: string, failure: ModelFailure): void => {
      if (NOT_ITS_FAULT.includes(failure.kind)) {
        change(name, { isTried: false });
        return;
      }
      const failures = of(name).failures + 1;
      const isCooling = failure.kind === 'rate_limited' || failure.retryAfterMs !== undefined;
      const restMs = isCooling ? coolMs(failure, failures) : openMs(failure, failures);
      if (restMs !== null) {
        const said = { model: name, seconds: Math.ceil(restMs / 1000), because: failure.kind };
        log.warn(said, isCooling ? 'a model cools down' : 'a model is left alone for a while');
      }
      change(name, {
        failures,
        isCooling,
        isTried: false,
        openUntil: restMs === null ? null : clock.now() + restMs,
        lastError: failure.message,
        checkedAt: iso(clock.now()),
      });
    },
    released: (name: string): void => change(name, { isTried: false }),

    of: (name: string): ModelHealth => viewOf(of(name), clock.now()),
    /** The model is another now. */
    forget: (name: string): void => {
      states.delete(name);
    },
  };
};

export type ModelHealths = ReturnType<typeof createHealth>;

const coolMs = ({ retryAfterMs }: ModelFailure, failures: number): number =>
  retryAfterMs === undefined
    ? Math.min(COOL_MS * 2 ** (failures - 1), LONGEST_OPEN_MS)
    : Math.min(retryAfterMs, LONGEST_COOL_MS);

/** One that hangs costs everybody minutes: it is left alone at once. */
const openMs = ({ kind }: ModelFailure, failures: number): number | null => {
  const further = kind === 'timeout' ? failures - 1 : failures - THRESHOLD;
  return further < 0 ? null : Math.min(OPEN_MS * 2 ** further, LONGEST_OPEN_MS);
};

const viewOf = (state: HealthState, now: number): ModelHealth => {
  const { latencyMs, lastError, checkedAt, openUntil, isCooling } = state;
  const isOpen = openUntil !== null && openUntil > now;
  return {
    status: isOpen && isCooling ? 'cooling' : lastError ? 'down' : checkedAt ? 'up' : 'unknown',
    latencyMs,
    lastError,
    checkedAt,
    circuit: openUntil === null ? 'closed' : isOpen ? 'open' : 'half_open',
    retryAt: openUntil === null ? null : iso(openUntil),
  };
};
