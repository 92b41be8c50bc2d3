import type { Base } from '../../base.js';
import { killLeftover } from '../../providers/tunnels/child.js';
import type { Hub } from '../../realtime/module.js';
import type { TransactionStep } from '../../store/engine/protocol.js';
import type { TunnelRow } from '../../store/tables/tunnel.js';
import { createCheck } from './check.js';
import type { TunnelView } from './contract.js';
import { createLines } from './lines.js';
import { createTunnelPlan, type TunnelDeps } from './plan.js';
import { createProbes } from './probes.js';
import { createTunnelState, type TunnelState } from './state.js';
import { createSupervisor, type Plan, type ProcessState } from './supervisor.js';

export const createTunnel = (base: Base, deps: TunnelDeps) => {
  const { clock, home, log } = base;
  const state = createTunnelState(base, deps.config.publicUrl);
  const { row, trust } = state;
  const lines = createLines(clock);
  const probes = createProbes(clock);
  const inOrder = createSerial();
  let port = 0;

  const publishState = (): void =>
    publish(base, deps.hub, { ...supervisor.state(), address: addresses.address() });
  const plan = (): Promise<Plan> =>
    createTunnelPlan(deps, { home, row: row(), publicUrl: state.publicUrl(), port, lines });
  const keep = state.keepProcess;
  const supervisor = createSupervisor({ clock, lines, keep, plan, changed: publishState });
  const addresses = createAddressReaders(state, { process: supervisor.state, port: () => port });
  const checks = createCheck(base, { state, probes, addresses, checked: publishState });

  const follow = async (): Promise<void> => {
    await supervisor.stop();
    const current = row();
    if (current?.is_on === 1 && current.provider !== 'proxy') supervisor.start();
    publishState();
  };

  return {
    probes,
    ...addresses,
    ...checks,
    row,
    trust,
    process: supervisor.state,
    lines: lines.all,
    /** Called before anything listens. */
    load: state.read,
    /** Called when the daemon listens. Ends a process of an earlier daemon first. */
    begin: (at: number): Promise<void> =>
      inOrder(async () => {
        port = at;
        const left = row();
        if (left?.process && (await killLeftover(JSON.parse(left.process)))) {
          log.warn({ provider: left.provider }, 'killed a tunnel process of an earlier start');
        }
        await follow();
      }),
    /** Resolves when no process runs. The tunnel is on again after the next start. */
    end: (): Promise<void> => inOrder(supervisor.stop),
    /** Restarts the program if the tunnel is on. */
    configure: (next: TunnelRow, also: TransactionStep[]): Promise<void> =>
      inOrder(async () => {
        await state.replace(next, also);
        checks.forget();
        await follow();
      }),
    /** Resolves to false if no tunnel is set up. */
    change: (changes: Partial<TunnelRow>, also: TransactionStep[]): Promise<boolean> =>
      inOrder(async () => {
        const isSetUp = await state.change(changes, also);
        if (changes.public_url === null) checks.forget();
        if (isSetUp) await follow();
        return isSetUp;
      }),
  };
};

export type Tunnel = ReturnType<typeof createTunnel>;

const createAddressReaders = (
  { row, publicUrl, ...state }: TunnelState,
  of: { process(): ProcessState; port(): number },
) => {
  const address = (): string | null => publicUrl() ?? of.process().url;
  return {
    publicUrl,
    /** The permanent address, or else the temporary one of the provider. */
    address,
    /** Where a proxy sends requests: the daemon's port, or the port of the forward on the server. */
    upstream: (): string => {
      const current = row();
      const far = current?.provider === 'ssh' ? JSON.parse(current.settings).remotePort : null;
      return `127.0.0.1:${far ?? of.port()}`;
    },
    /** `unverified`: not checked since the address was set, or the tunnel is not running. */
    reach: (): TunnelView['reach'] => {
      const [at, current, checked] = [address(), row(), state.reach()];
      if (at === null) return 'none';
      const isRunning = current?.provider === 'proxy' || of.process().status === 'running';
      const isUp = current?.is_on === 1 && isRunning;
      if (checked?.address !== at || (current !== null && !isUp)) return 'unverified';
      return checked.is_ok === 1 ? 'verified' : 'failed';
    },
  };
};

/** Runs functions one after the other: a concurrent start and stop would leave a process behind. */
const createSerial = () => {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(act: () => Promise<T>): Promise<T> => {
    const done = last.catch(() => undefined).then(act);
    last = done;
    return done;
  };
};

const publish = ({ store, log }: Base, hub: Hub, state: object): void => {
  store.db
    .selectFrom('users')
    .select('id')
    .where('role', '=', 'admin')
    .execute()
    .then((admins) => {
      for (const { id } of admins) hub.publish(id, 'tunnel.status', state);
    })
    .catch((err) => log.warn({ err }, 'the state of the tunnel could not be published'));
};
