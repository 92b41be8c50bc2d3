import type { Tunnel } from './tunnel.js';

interface TunnelFinding {
  status: 'ok' | 'warn';
  detail: string;
}

/**
 * Builds one line for `doctor` and `status`: the state of the tunnel, the result of the last check,
 * and what does not work.
 */
export const sayTunnel = (tunnel: Tunnel): TunnelFinding => {
  const row = tunnel.row();
  if (!row || row.is_on === 0)
    return { status: 'ok', detail: `${row?.provider ?? 'tunnel'} is off` };
  const { status, detail } = tunnel.process();
  const isUp = row.provider === 'proxy' || status === 'running';
  const check = tunnel.lastCheck();
  const said = [
    `${row.provider} ${isUp ? 'up' : `${status}: ${detail ?? 'not up yet'}`}`,
    ...[tunnel.address()].filter((address) => address !== null),
    ...(check ? [sayCheck(check)] : []),
    ...(tunnel.trust()?.header === null
      ? ['it tells no addresses of callers: limits per address are off']
      : []),
  ];
  const reach = tunnel.reach();
  if (isUp && reach === 'unverified') said.push('unverified: adjutant tunnel check');
  const isWell = isUp && reach !== 'unverified' && reach !== 'failed' && check?.ok !== false;
  return { status: isWell ? 'ok' : 'warn', detail: said.join(', ').slice(0, 500) };
};

const sayCheck = ({ ok, failure, stages }: NonNullable<ReturnType<Tunnel['lastCheck']>>): string =>
  ok ? `${stages.length} of ${stages.length} checked` : `check failed at: ${failure?.stage}`;
