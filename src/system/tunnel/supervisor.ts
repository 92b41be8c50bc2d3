import { type Clock, iso } from '../../kernel/clock.js';
import {
  startTunnelChild,
  type TunnelLaunch,
  TunnelNotStarted,
} from '../../providers/tunnels/child.js';
import type { TunnelOutput } from '../../providers/tunnels/tunnel.js';
import type { TunnelView } from './contract.js';
import type { ProcessLines } from './lines.js';

export interface ProcessState
  extends Pick<TunnelView, 'status' | 'since' | 'pid' | 'restarts' | 'detail' | 'nextTryAt'> {
  /** The address that the program reported, as an origin. */
  url: string | null;
}

/** Created again for each start, since a token may have been rotated. */
export interface Plan {
  launch: TunnelLaunch;
  hear(line: string): TunnelOutput;
}

export interface SupervisorDeps {
  clock: Clock;
  lines: ProcessLines;
  /** Throws TunnelNotStarted if the program cannot be started now. */
  plan(): Promise<Plan>;
  /** Stores the process ID so that the next daemon finds it; null after its end. */
  keep(pid: number | null): Promise<void>;
  changed(): void;
}

const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;
/** A process that ran for longer restarts with the shortest pause. */
const STEADY_MS = 60_000;
/** A program that is not up after this time is restarted. */
const PATIENCE_MS = 60_000;

const OFF: ProcessState = {
  status: 'off',
  since: null,
  url: null,
  pid: null,
  restarts: 0,
  detail: null,
  nextTryAt: null,
};

/** A random pause between half and all of a value that doubles with each failure. */
export const pauseMs = (failures: number, chance: number): number => {
  const full = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures, 16));
  return Math.round(full * (0.5 + chance / 2));
};

/** Restarts the program whenever it ends, until `stop` is called. */
export const createSupervisor = (deps: SupervisorDeps) => {
  const { clock, lines } = deps;
  let state = OFF;
  let running: { end: AbortController; over: Promise<void> } | null = null;

  const set = (next: Partial<ProcessState>): void => {
    const isMoved = next.status !== undefined && next.status !== state.status;
    state = { ...state, ...next, ...(isMoved && { since: iso(clock.now()) }) };
    deps.changed();
  };

  const take = ({ line, isUp, url }: TunnelOutput): void => {
    if (line !== null) lines.add(line);
    if (url !== undefined && url !== state.url) set({ url });
    if (isUp && state.status !== 'running') set({ status: 'running', detail: null });
  };

  const live = async (signal: AbortSignal): Promise<string> => {
    const plan = await deps.plan();
    const child = await startTunnelChild(plan.launch, (line) => take(plan.hear(line)));
    set({ pid: child.pid });
    const stop = (): void => void child.stop();
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    const cancel = clock.after(PATIENCE_MS, () => {
      if (state.status === 'running') return;
      lines.add('adjutant: not running after 60 s, restarting');
      stop();
    });
    try {
      await deps.keep(child.pid);
      return await child.ended;
    } finally {
      cancel();
      await child.stop();
      signal.removeEventListener('abort', stop);
      await deps.keep(null);
    }
  };

  const supervise = async (signal: AbortSignal): Promise<void> => {
    for (let failures = 0; !signal.aborted; failures++) {
      set({ status: 'starting', nextTryAt: null, url: null });
      const cancel = clock.after(STEADY_MS, () => {
        failures = 0;
      });
      const why = await live(signal).catch(notStartedReason).finally(cancel);
      if (signal.aborted) break;
      const ms = pauseMs(failures, Math.random());
      const last = lines.all().at(-1);
      const detail = last ? `${why}: ${last.line}` : why;
      lines.add(`adjutant: ${why}; next attempt in ${(ms / 1000).toFixed(1)} s`);
      const nextTryAt = iso(clock.now() + ms);
      set({ status: 'restarting', pid: null, detail, nextTryAt, restarts: state.restarts + 1 });
      await clock.wait(ms, signal).catch(() => undefined);
    }
  };

  return {
    state: () => state,
    start: (): void => {
      if (running) return;
      const end = new AbortController();
      running = { end, over: supervise(end.signal) };
    },
    /** Resolves when the program has ended. */
    stop: async (): Promise<void> => {
      if (!running) return;
      const { end, over } = running;
      end.abort();
      await over;
      running = null;
      state = OFF;
      deps.changed();
    },
  };
};

const notStartedReason = (error: unknown): string => {
  if (error instanceof TunnelNotStarted) return error.message;
  throw error;
};
