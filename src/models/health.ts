import { type Clock, iso } from '../kernel/clock.js';
import type { Log } from '../kernel/log.js';
import type { ModelFailure, ModelFailureKind } from '../providers/llm/model.js';
import type { ModelView } from './contract.js';
import type { FindMissingFile } from './missingfiles.js';
import type { RegisteredModel } from './registry.js';

/** Known only from calls. */
export type ModelHealth = ModelView['health'];

interface HealthState extends Pick<ModelHealth, 'latencyMs' | 'lastError' | 'checkedAt'> {
  /** Failures since the last reply. */
  failures: number;
  isCooling: boolean;
  /** Time of the next permitted call. Null while the circuit is closed. */
  openUntil: number | null;
  /** Whether one call currently tests the model. */
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

/** Failures in a row that open the circuit. */
const THRESHOLD = 3;
/** Time that a circuit stays open. Doubles with each further failure. */
const OPEN_MS = 30_000;
const MAX_OPEN_MS = 600_000;
/** Pause if an endpoint requests one without a duration. */
const COOL_MS = 60_000;
/** Maximum pause, whatever an endpoint requests. */
const MAX_COOL_MS = 24 * 3600 * 1000;
/** Caused by the prompt or the caller, not by the model. */
const CALLER_FAILURES: ModelFailureKind[] = ['bad_request', 'context_length', 'aborted'];

interface ModelHealthDeps {
  clock: Clock;
  log: Pick<Log, 'warn'>;
  /** Reason why a model cannot answer regardless of its calls, or null. */
  lost: FindMissingFile;
}

/** A circuit breaker per model. It is in memory only: after a restart, nothing is known. */
export const createHealth = ({ clock, log, lost }: ModelHealthDeps) => {
  const states = new Map<string, HealthState>();
  const of = (name: string): HealthState => states.get(name) ?? FRESH;
  const change = (name: string, by: Partial<HealthState>): void => {
    states.set(name, { ...of(name), ...by });
  };

  /** Reason why the model must not be called now, or null. */
  const refusal = (name: string): string | null => {
    const { openUntil, isTried, isCooling, lastError } = of(name);
    if (openUntil === null) return null;
    const waitMs = openUntil - clock.now();
    if (waitMs <= 0) return isTried ? 'another call tests it after failures' : null;
    const seconds = Math.ceil(waitMs / 1000);
    return `${isCooling ? 'cooling down' : 'not called after failures'}, ${seconds} s left: ${lastError}`;
  };

  return {
    refusal,

    /** If the result is null, one of the next three functions must be called. */
    begin: (name: string): string | null => {
      const because = refusal(name);
      if (because === null && of(name).openUntil !== null) change(name, { isTried: true });
      return because;
    },
    replied: (name: string, latencyMs: number): void =>
      change(name, { ...FRESH, latencyMs, checkedAt: iso(clock.now()) }),
    failed: (name: string, failure: ModelFailure): void => {
      if (CALLER_FAILURES.includes(failure.kind)) {
        change(name, { isTried: false });
        return;
      }
      const failures = of(name).failures + 1;
      const isCooling = failure.kind === 'rate_limited' || failure.retryAfterMs !== undefined;
      const restMs = isCooling ? coolMs(failure, failures) : openMs(failure, failures);
      if (restMs !== null) {
        const detail = { model: name, seconds: Math.ceil(restMs / 1000), because: failure.kind };
        log.warn(
          detail,
          isCooling ? 'model is cooling down' : 'model failed, skipping it temporarily',
        );
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

    /** A local model whose file is missing is down. */
    of: (model: Pick<RegisteredModel, 'name' | 'provider' | 'modelId'>): ModelHealth => {
      const seen = toModelHealth(of(model.name), clock.now());
      const lastError = lost(model);
      return lastError === null ? seen : { ...seen, status: 'down', lastError };
    },
    /** Called when a model was changed. */
    forget: (name: string): void => {
      states.delete(name);
    },
  };
};

export type ModelHealths = ReturnType<typeof createHealth>;

const coolMs = ({ retryAfterMs }: ModelFailure, failures: number): number =>
  retryAfterMs === undefined
    ? Math.min(COOL_MS * 2 ** (failures - 1), MAX_OPEN_MS)
    : Math.min(retryAfterMs, MAX_COOL_MS);

/**
 * Null for no pause. A timeout opens the circuit immediately, because a hanging model costs every
 * caller minutes.
 */
const openMs = ({ kind }: ModelFailure, failures: number): number | null => {
  const further = kind === 'timeout' ? failures - 1 : failures - THRESHOLD;
  return further < 0 ? null : Math.min(OPEN_MS * 2 ** further, MAX_OPEN_MS);
};

const toModelHealth = (state: HealthState, now: number): ModelHealth => {
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
