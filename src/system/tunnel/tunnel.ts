import type { ProxyTrust } from '../../kernel/clientaddress.js';
import type { Clock } from '../../kernel/clock.js';
import type { Http } from '../../kernel/http.js';
import type { Log } from '../../kernel/log.js';
import { killLeftover } from '../../providers/tunnels/child.js';
import { addressHeaderOf } from '../../providers/tunnels/providers.js';
import type { Hub } from '../../realtime/hub.js';
import type { TransactionStep } from '../../store/engine/protocol.js';
import type { Store } from '../../store/store.js';
import type { TunnelRow } from '../../store/tables/tunnel.js';
import type { Vault } from '../../vault/vault.js';
import { type Checks, createChecks } from './checks.js';
import { createKept, type TunnelState } from './lastcheck.js';
import { createLines, type ProcessLine } from './lines.js';
import { planOf } from './plan.js';
import { createProbes, type Probes } from './probes.js';
import { createSupervisor, type ProcessState } from './supervisor.js';

export interface TunnelDeps {
  store: Store;
  clock: Clock;
  log: Log;
  http: Http;
  hub: Hub;
  vault: Pick<Vault, 'newest' | 'used'>;
  unsealToken(id: string, sealed: string): string;
  settings: {
    home: string;
    /** Folders that are searched for programs. */
    cliPath: string[];
    /** The setting publicUrl, which no tunnel changes. */
    publicUrl: string | null;
  };
}

/**
 * The certainty that others reach the address. `unverified`: no check was made since the address
 * was set, or the tunnel is not up now; `failed`: the last check failed.
 */
export type TunnelReach = 'none' | 'unverified' | 'verified' | 'failed';

/** The addresses of the daemon. */
export interface Places {
  /** Returns the permanent address as an origin; null if there is none. */
  publicUrl(): string | null;
  /** Returns the permanent address, or else the temporary one from the provider. */
  address(): string | null;
  /**
   * Returns the address to which a proxy sends requests: the daemon's own, or where the forward
   * listens on the server.
   */
  upstream(): string;
}

/**
 * The way in which others reach this daemon: its configuration, its process and the proxy that is
 * trusted.
 */
export interface Tunnel extends Places, Pick<Checks, 'check' | 'lastCheck'> {
  /** Reads the configuration; called before anything listens. */
  load(): Promise<void>;
  /**
   * Called when the daemon listens. Ends what an earlier daemon left behind, and starts the tunnel
   * if it was on.
   */
  begin(port: number): Promise<void>;
  /**
   * Resolves when none of its processes runs any more. The tunnel is on again after the next start.
   */
  end(): Promise<void>;
  row(): TunnelRow | null;
  /**
   * Replaces the configuration, with the steps in the same transaction. A tunnel that is on
   * restarts.
   */
  configure(row: TunnelRow, also: TransactionStep[]): Promise<void>;
  /** Switches the tunnel on or off. Resolves to false if nothing is set up. */
  turn(isOn: boolean, also: TransactionStep[]): Promise<boolean>;
  /**
   * Switches the tunnel off and forgets its permanent address. Resolves to false if nothing is set
   * up.
   */
  forgetAddress(also: TransactionStep[]): Promise<boolean>;
  reach(): TunnelReach;
  process(): ProcessState;
  lines(): ProcessLine[];
  trust(): ProxyTrust['tunnel'];
  probes: Probes;
}

export const createTunnel = (deps: TunnelDeps): Tunnel => {
  const { clock } = deps;
  const kept = createKept(deps.store, clock);
  const lines = createLines(clock);
  const probes = createProbes(clock);
  const inTurn = createTurns();
  let port = 0;

  const supervisor = createSupervisor({
    ...{ clock, lines, keep: kept.keepProcess },
    plan: () => planOf(deps, { row: kept.row(), port, lines }),
    changed: () => tell(),
  });
  const places = placesOf(deps, { kept, process: supervisor.state, port: () => port });
  const tell = (): void => publish(deps, { ...supervisor.state(), address: places.address() });
  const checks = createChecks(deps, {
    ...{ row: kept.row, probes, places, keep: kept.keepReach, checked: tell },
  });

  /** Starts or stops the process, as the row says. */
  const follow = async (): Promise<void> => {
    await supervisor.stop();
    const row = kept.row();
    if (row?.is_on === 1 && row.provider !== 'proxy') supervisor.start();
    tell();
  };

  return {
    ...{ probes, ...places, ...checks },
    load: kept.read,
    row: kept.row,
    process: supervisor.state,
    lines: lines.all,
    begin: (at) =>
      inTurn(async () => {
        port = at;
        await endLeftover(deps, kept.row());
        await follow();
      }),
    end: () => inTurn(supervisor.stop),
    configure: (next, also) =>
      inTurn(async () => {
        await kept.replace(next, also);
        checks.forget();
        await follow();
      }),
    turn: (isOn, also) =>
      inTurn(async () => {
        const isSetUp = await kept.turn(isOn, also);
        if (isSetUp) await follow();
        return isSetUp;
      }),
    forgetAddress: (also) =>
      inTurn(async () => {
        const isSetUp = await kept.forgetAddress(also);
        checks.forget();
        if (isSetUp) await follow();
        return isSetUp;
      }),
    reach: () => reachOf(places.address(), kept, supervisor.state()),
    trust: () => {
      const row = kept.row();
      return row?.is_on === 1 ? { header: addressHeaderOf(row.provider) } : null;
    },
  };
};

const reachOf = (address: string | null, kept: TunnelState, process: ProcessState): TunnelReach => {
  if (address === null) return 'none';
  const [row, reach] = [kept.row(), kept.reach()];
  const isUp = row?.is_on === 1 && (row.provider === 'proxy' || process.status === 'running');
  if (reach?.address !== address || (row !== null && !isUp)) return 'unverified';
  return reach.is_ok === 1 ? 'verified' : 'failed';
};

/**
 * Runs the given functions one after the other: a start and a stop at the same time would leave a
 * process behind.
 */
const createTurns = () => {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(act: () => Promise<T>): Promise<T> => {
    const done = last.catch(() => undefined).then(act);
    last = done;
    return done;
  };
};

const placesOf = (
  { settings }: TunnelDeps,
  of: { kept: TunnelState; process(): ProcessState; port(): number },
): Places => {
  const publicUrl = (): string | null => settings.publicUrl ?? of.kept.row()?.public_url ?? null;
  return {
    publicUrl,
    address: () => publicUrl() ?? of.process().url,
    upstream: () => {
      const row = of.kept.row();
      const far = row?.provider === 'ssh' ? JSON.parse(row.settings).remotePort : null;
      return `127.0.0.1:${far ?? of.port()}`;
    },
  };
};

/** Ends the process that a killed daemon left behind. */
const endLeftover = async ({ log }: TunnelDeps, row: TunnelRow | null): Promise<void> => {
  if (!row?.process) return;
  const isEnded = await killLeftover(JSON.parse(row.process));
  if (isEnded) log.warn({ provider: row.provider }, 'ended a tunnel of an earlier start');
};

/** Publishes the state to every admin. */
const publish = (
  { store, hub, log }: TunnelDeps,
  state: ProcessState & { address: string | null },
): void => {
  store.db
    .selectFrom('users')
    .select('id')
    .where('role', '=', 'admin')
    .execute()
    .then((admins) => {
      for (const { id } of admins) hub.publish(id, 'tunnel.status', state);
    })
    .catch((err) => log.warn({ err }, 'the state of the tunnel was not told'));
};
